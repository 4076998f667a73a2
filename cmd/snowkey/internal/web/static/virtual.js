// A table of any length, of which only the rows that can be seen are in the document.
import { el } from "./dom.js";

const ahead = 8; // rows above and below

const spacer = (columns) => el("tbody", { "aria-hidden": "true" }, el("tr", {}, el("td", { colspan: String(columns) })));
const resize = (body, height) => {
  body.hidden = height <= 0;
  body.firstChild.firstChild.style.height = `${height}px`;
};

// virtualTable shows cells(i) for each i below count. A click on a row picks it, and so do the
// arrow keys within the table.
export function virtualTable({ head, count, cells, pick, label }) {
  const rows = el("tbody", {});
  const [above, below] = [spacer(head.length), spacer(head.length)];
  const box = el("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" },
    el("table", { class: "many", "aria-label": label, "aria-rowcount": String(count + 1) },
      el("thead", {}, el("tr", { "aria-rowindex": "1" }, head.map((h) => el("th", { scope: "col" }, h)))), above, rows, below));
  let picked = -1;
  let height = 32; // of a row, until one is measured
  let [from, to] = [-1, -1];

  const row = (i) => el("tr", { "aria-rowindex": String(i + 2), "data-i": String(i), class: i === picked ? "picked" : null },
    cells(i).map((c, n) => (n > 0 ? el("td", {}, c)
      : el("th", { scope: "row" }, el("button", { type: "button", class: "link", tabindex: i === Math.max(0, picked) ? "0" : "-1", "aria-pressed": String(i === picked) }, c)))));

  function draw(force = false) {
    const first = Math.max(0, Math.floor(box.scrollTop / height) - ahead);
    const last = Math.min(count, first + Math.ceil((box.clientHeight || 480) / height) + 2 * ahead);
    if (!force && first === from && last === to) return;
    [from, to] = [first, last];
    const focused = box.contains(document.activeElement) && document.activeElement !== box;
    rows.replaceChildren(...Array.from({ length: to - from }, (_, n) => row(from + n)));
    resize(above, from * height);
    resize(below, (count - to) * height);
    if (focused) (rows.querySelector("[aria-pressed=true]") ?? box).focus({ preventScroll: true });
  }

  function choose(i, focus) {
    picked = Math.min(count - 1, Math.max(0, i));
    const top = picked * height;
    const room = box.clientHeight - 2 * height; // the head covers a row
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top > box.scrollTop + room) box.scrollTop = top - room;
    draw(true);
    pick(picked);
    if (focus) rows.querySelector("[aria-pressed=true]")?.focus({ preventScroll: true });
  }

  box.addEventListener("scroll", () => draw());
  box.addEventListener("click", (event) => {
    const at = event.target.closest("tr[data-i]");
    if (at) choose(Number(at.dataset.i), event.target.closest("button") !== null);
  });
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / height) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(Math.max(0, picked) + (picked < 0 && step === 1 ? 0 : step), true);
  });
  draw();
  requestAnimationFrame(() => { // the real height follows the reader's font size
    const real = rows.firstChild?.getBoundingClientRect().height;
    if (real) height = real;
    draw(true);
  });
  return box;
}
