// A time range as the condition of a query.
import { FieldError, range } from "./layout.js";
import { localTime, parseTime, utc, floorMs } from "./times.js";
import { changed, copyButton, el, find, setError, terms } from "./dom.js";
import { current, noLayout } from "./layoutform.js";

const column = /^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62}){0,2}$/;

// time reads a field: undefined if it is wrong, null if it is empty.
function time(id) {
  const field = find(id);
  const text = field.value.trim();
  setError(field, null);
  if (text === "") return null;
  try {
    return parseTime(text, id);
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
  if (!changed("where", layout, find("from").value, find("to").value, find("column").value)) return;
  const result = find("where-result");
  result.replaceChildren();
  const from = time("from");
  const to = time("to");
  const name = find("column").value.trim() || "id";
  setError(find("column"), column.test(name) ? null : "This must be a name of letters, digits and _, optionally after that of its table.");
  if (from === null && to !== null) setError(find("from"), "This must be given.");
  if (from === null || from === undefined || to === undefined || !column.test(name)) return;
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
  const where = `WHERE ${name} >= ${bounds.min}` + (bounds.max === null ? "" : ` AND ${name} < ${bounds.max}`);
  result.replaceChildren(
    el("p", { class: "row" }, el("code", { class: "sql" }, where), copyButton("the condition", () => where)),
    terms([["From", moment(from)].flat(), ["Before", moment(to)].flat()]));
}
