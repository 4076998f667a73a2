// The readings of IDs under the presets: the one that is used, and the others to choose from.
import { presetOf } from "./presets.js";
import { relativeTime, utc } from "./times.js";
import { alike } from "./recognize.js";
import { el, find } from "./dom.js";
import { choose, isAuto } from "./layoutform.js";

const short = (ms) => utc(ms).slice(0, -8); // to the second
const day = (ms) => el("span", { class: "day" }, utc(ms).slice(0, 10));
const span = (f) => (f.first === f.last ? [short(f.first)] : [day(f.first), " to ", day(f.last)]);
const chooser = ({ name, title }) => el("button", { type: "button", class: "link", onclick: () => { choose(name); find("preset").focus(); } }, title);

function row(found) {
  if (found.first === null) return el("tr", {}, el("th", { scope: "row" }, found.preset.title), el("td", { class: "quiet" }, "too large"));
  return el("tr", {},
    el("th", { scope: "row" }, chooser(found.preset)),
    el("td", {}, ...span(found), el("span", { class: "quiet" }, ` ${relativeTime(found.last)}`)));
}

const table = (name, rows) => el("table", { class: "possible" },
  el("caption", { class: "visually-hidden" }, name),
  el("thead", { class: "visually-hidden" }, el("tr", {}, ["Preset", "Time (UTC)"].map((h) => el("th", { scope: "col" }, h)))),
  el("tbody", {}, rows.map(row)));

// source names the layout of a result, how it came to it, and which presets are as likely.
export function source(layout, ranking) {
  const preset = presetOf(layout);
  const name = el("strong", {}, preset ? preset.title : "Custom layout");
  if (!isAuto()) return el("p", { class: "source" }, name, el("span", { class: "quiet" }, " as chosen"));
  const near = alike(ranking).slice(0, 2).flatMap((f, i) => [i > 0 ? " or " : "; could also be ", chooser(f.preset)]);
  return el("p", { class: "source" }, name, el("span", { class: "quiet" }, " auto-detected", ...near));
}

// doubt warns of a chosen layout under which the time is impossible.
export function doubt(layout, ranking) {
  const own = ranking.find((f) => f.preset === presetOf(layout));
  if (isAuto() || !own || own.plausible > 0 || own.first === null) return null;
  const why = own.why === "in the future" ? "is in the future" : "is before the first IDs of this system";
  return el("p", { class: "note warn" }, `Under ${own.preset.title} the time ${why}. The preset may be another one.`);
}

// others lists the readings beside the one that is used.
export function others(layout, ranking) {
  const preset = layout && presetOf(layout);
  const rest = ranking.filter((f) => f.preset !== preset);
  const plausible = rest.filter((f) => f.plausible > 0);
  const not = rest.filter((f) => f.plausible === 0);
  if (!layout) return [table("The time under every preset", rest)];
  return [el("section", { class: "card", "aria-label": "Other presets" },
    el("h3", {}, plausible.length > 0 ? "Also possible" : "No other preset is plausible"),
    plausible.length > 0 ? table("Also possible", plausible) : null,
    not.length > 0 ? el("details", {}, el("summary", {}, "Not plausible"), el("p", { class: "hint" }, "These times are in the future, or before the system made IDs."), table("Not plausible", not)) : null)];
}
