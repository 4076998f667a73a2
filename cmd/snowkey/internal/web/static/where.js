// A time range as the condition of a query.
import { FieldError, range } from "./layout.js";
import { localTime, parseTime, utc, floorMs } from "./times.js";
import { changed, copyButton, el, find, setError, terms } from "./dom.js";
import { column } from "./sql.js";
import { current, noLayout } from "./layoutform.js";

// time reads a field: undefined if it is wrong, null if it is empty.
function time(id) {
  const field = find(id);
  const text = field.value.trim();
  setError(field, null);
  if (text === "") return null;
  try {
    return parseTime(text, id, BigInt(Date.now()), find("zone").value === "local");
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(field, `This ${error.message}.`);
    return undefined;
  }
}

const moment = (ns) => (ns === null ? "no end" : [utc(floorMs(ns)), " ", el("span", { class: "quiet" }, localTime(floorMs(ns)))]);

// show shows the condition for the fields.
export function show() {
  const layout = current();
  if (!changed("where", layout, find("from").value, find("to").value, find("column").value, find("dialect").value, find("zone").value)) return;
  const result = find("where-result");
  result.replaceChildren();
  const from = time("from");
  const to = time("to");
  const text = find("column").value.trim() || "id";
  const name = column(text, find("dialect").value);
  setError(find("column"), name ? null : "This must be a name of letters, digits, spaces, _, $ or -, optionally after that of its table: orders.id.");
  if (from === null && to !== null) setError(find("from"), "This must be given.");
  if (from === null || from === undefined || to === undefined || !name) return;
  if (!layout) {
    result.replaceChildren(noLayout());
    return;
  }
  let bounds;
  try {
    bounds = range(layout, from, to);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(find(error.field === "to" ? "to" : "from"), `This ${error.message}.`);
    return;
  }
  const conditions = [`WHERE ${name} >= ${bounds.min}`, bounds.max === null ? null : `AND ${name} < ${bounds.max}`].filter(Boolean);
  const where = conditions.join(" ");
  result.replaceChildren(...[
    el("div", { class: "row" }, el("code", { class: "sql" }, conditions.flatMap((c) => [el("span", {}, c), " "])), copyButton("the condition", () => where)),
    name === text || /["`]/.test(text) ? null : el("p", { class: "hint" }, "Names with capitals, spaces or reserved words need the quotation marks."),
    terms([["From", moment(from)].flat(), ["Before", moment(to)].flat()]),
  ].filter(Boolean));
}

const spans = { "last hour": ["-1h", "now"], today: ["today", "tomorrow"], yesterday: ["yesterday", "today"], "last 7 days": ["-7d", "now"] };

// start offers frequent ranges.
export function start() {
  find("spans").append(...Object.entries(spans).map(([name, [from, to]]) => el("button", { type: "button", class: "chip", onclick: () => {
    find("from").value = from;
    find("to").value = to;
    find("from").dispatchEvent(new Event("input", { bubbles: true }));
  } }, name)));
}
