// How ids are read: the preset that is used, and the other possible ones to choose from.
import { decode } from "./layout.js";
import { presetOf } from "./presets.js";
import { relativeTime, utc } from "./times.js";
import { possible } from "./recognize.js";
import { el, find } from "./dom.js";
import { choose, isAuto } from "./layoutform.js";

const short = (ms) => utc(ms).slice(0, -8); // to the second
const span = (first, last) => (first === last ? short(first) : `${utc(first).slice(0, 10)} to ${utc(last).slice(0, 10)}`);
const chooser = ({ name, title }) => el("button", { type: "button", class: "link", onclick: () => { choose(name); find("preset").focus(); } }, title);

// source names the layout of a result, and how it came to it.
export function source(layout) {
  return el("p", { class: "source" }, el("strong", {}, presetOf(layout)?.title ?? "Custom layout"), el("span", { class: "quiet" }, isAuto() ? " assumed" : " as chosen"));
}

// doubt warns of a preset under which the time is impossible.
export function doubt(layout, ids) {
  const preset = presetOf(layout);
  if (!preset || possible(layout, ids).length > 0) return null;
  return el("p", { class: "note warn" }, `Under ${preset.title} this time is impossible: in the future, or in the first half day. Choose another preset, or `,
    el("a", { href: "#tab=layout", "data-tab": "layout" }, "enter the layout"), ".");
}

// others lists the other possible presets with their times.
export function others(layout, ids, presets) {
  const rows = presets.filter((p) => p !== presetOf(layout)).flatMap((p) => {
    const times = possible(p.layout, ids).map((id) => decode(p.layout, id).time).sort((a, b) => (a < b ? -1 : 1));
    return times.length === 0 ? [] : [el("div", {}, el("dt", {}, chooser(p)), el("dd", { title: relativeTime(times.at(-1)) }, span(times[0], times.at(-1))))];
  });
  return rows.length === 0 ? null : el("section", { class: "others", "aria-label": "Other presets" }, el("p", { class: "quiet" }, "Also possible"), el("dl", {}, rows));
}
