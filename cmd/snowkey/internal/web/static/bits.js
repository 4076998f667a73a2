// The bits of a layout, or of an id, coloured by field.
import { fields } from "./layout.js";
import { titlesOf } from "./presets.js";
import { el } from "./dom.js";

const positions = (f) => (f.bits === 1 ? `bit ${f.shift}` : `bits ${f.shift + f.bits - 1}–${f.shift}`);
export const width = (f) => (f.bits === 1 ? "1 bit" : `${f.bits} bits`);

export const swatch = (name) => el("span", { class: `swatch field-${name}`, "aria-hidden": "true" });

// ruler draws the widths of a layout in proportion.
export function ruler(layout) {
  const titles = titlesOf(layout);
  const parts = fields(layout).map((f) => {
    const bar = el("span", { class: `bar field-${f.name}`, title: `${titles[f.name]}: ${width(f)}` });
    bar.style.flexGrow = f.bits;
    return bar;
  });
  const legend = fields(layout).map((f) => el("li", {}, swatch(f.name), titles[f.name], " ", el("span", { class: "quiet" }, `${width(f)}, ${positions(f)}`)));
  return [el("div", { class: "ruler", "aria-hidden": "true" }, parts), el("ul", { class: "legend", "aria-label": "Fields, from high to low" }, legend)];
}

// strip draws the 64 bits of an id. The fields are also shown as numbers, so screen readers skip
// it.
export function strip(layout, all) {
  const titles = titlesOf(layout);
  return el("div", { class: "strip", "aria-hidden": "true" }, fields(layout).map((f) => {
    const from = 64 - f.shift - f.bits;
    return el("span", { class: `group field-${f.name}`, title: `${titles[f.name]}: ${positions(f)}` }, el("code", {}, all.slice(from, from + f.bits)));
  }));
}
