// The page's tools are links; one tool is shown at a time.
import { find } from "./dom.js";

const names = ["decode", "generate", "range", "compare", "layout", "tokens"];
const title = document.title;

let shown = names[0];

// current returns the name of the tool that is shown.
export const current = () => shown;

// show shows a tool; the first one for a name that is none.
export function show(name) {
  shown = names.includes(name) ? name : names[0];
  for (const each of names) {
    const link = find(`to-${each}`);
    find(`tab-${each}`).hidden = each !== shown;
    if (each === shown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (each === shown) document.title = each === names[0] ? title : `${link.textContent} – snowkey`;
  }
}

// start calls back when a link of class "tab" is followed. Opened in a new window it is a link.
export function start(opened) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-tab]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    show(link.dataset.tab);
    scrollTo(0, 0);
    opened();
  });
}

// link makes the links those of a state.
export function link(state) {
  for (const a of document.querySelectorAll("a[data-tab]")) {
    const there = new URLSearchParams(state);
    there.delete("tab");
    if (a.dataset.tab !== names[0]) there.set("tab", a.dataset.tab);
    a.href = `#${there}`;
  }
}
