// How far times are from now, updated while they are shown.
import { el } from "./dom.js";
import { relativeTime } from "./times.js";

export const relative = (ms, look = "") => el("span", { class: `relative ${look}`.trim(), "data-ms": String(ms) }, relativeTime(ms));

setInterval(() => {
  for (const node of document.querySelectorAll(".relative")) {
    const text = relativeTime(BigInt(node.dataset.ms));
    if (node.textContent !== text) node.textContent = text;
  }
}, 1000);
