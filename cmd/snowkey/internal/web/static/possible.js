// The readings of IDs under the presets: the one that is used, and the others to choose from.
import { presetOf } from "./presets.js";
import { relativeTime, utc } from "./times.js";
import { el, find } from "./dom.js";
import { choose, isAuto } from "./layoutform.js";

const short = (ms) => utc(ms).slice(0, -8); // to the second
const span = (f) => (f.first === f.last ? short(f.first) : `${utc(f.first).slice(0, 10)} to ${utc(f.last).slice(0, 10)}`);

function row(found) {
  const { name, title } = found.preset;
  if (found.first === null) return el("tr", {}, el("th", { scope: "row" }, title), el("td", { class: "quiet" }, "too large"));
  return el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => { choose(name); find("preset").focus(); } }, title)),
    el("td", {}, span(found), el("span", { class: "quiet" }, ` ${relativeTime(found.last)}`)));
}

const table = (name, rows) => el("table", { class: "possible" },
  el("caption", { class: "visually-hidden" }, name),
  el("thead", { class: "visually-hidden" }, el("tr", {}, ["Preset", "Time (UTC)"].map((h) => el("th", { scope: "col" }, h)))),
  el("tbody", {}, rows.map(row)));

// source names the layout of a result, and how it came to it.
export function source(layout) {
  const preset = presetOf(layout);
  return el("p", { class: "source" }, el("strong", {}, preset ? preset.title : "Custom layout"), el("span", { class: "quiet" }, isAuto() ? " auto-detected" : " as chosen"));
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
