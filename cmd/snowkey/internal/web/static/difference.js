// The difference of two IDs.
import { FieldError, decode } from "./layout.js";
import { parse } from "./idtext.js";
import { formatSpan, utc } from "./times.js";
import { changed, copyButton, el, find, grouped, setError, terms } from "./dom.js";
import { current, noLayout } from "./layoutform.js";

function one(layout, id) {
  const field = find(id);
  setError(field, null);
  if (field.value.trim() === "") return null;
  try {
    const [value] = parse(field.value, "auto", layout.unsigned);
    return { value, bits: BigInt.asUintN(64, value), parts: decode(layout, value) };
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(field, `This ${error.message}.`);
    return null;
  }
}

// difference subtracts the first ID from the second, as /api/parse does.
export function difference(layout, a, b) {
  const ticks = decode(layout, b).tick - decode(layout, a).tick;
  return { ids: BigInt.asUintN(64, b) - BigInt.asUintN(64, a), ticks, ms: ticks * layout.tick };
}

const signed = (n) => (n < 0n ? "−" : "") + grouped(n < 0n ? -n : n);

// show compares the IDs in the two fields.
export function show() {
  const layout = current();
  if (!changed("difference", layout, find("a").value, find("b").value)) return;
  const result = find("difference-result");
  result.replaceChildren();
  if (!layout) {
    for (const id of ["a", "b"]) setError(find(id), null);
    if (find("a").value.trim() && find("b").value.trim()) result.replaceChildren(noLayout());
    return;
  }
  const a = one(layout, "a");
  const b = one(layout, "b");
  if (!a || !b) return;
  const d = difference(layout, a.value, b.value);
  const order = d.ids === 0n ? "They are the same ID." : d.ms === 0n ? "They are from the same tick." : d.ms > 0n ? "The second is later." : "The first is later.";
  const span = formatSpan(d.ms < 0n ? -d.ms : d.ms);
  result.replaceChildren(
    el("p", {}, el("strong", { id: "difference-time" }, d.ms === 0n ? "No time" : span), " apart. ", order),
    terms([
      ["Milliseconds", signed(d.ms), " ", copyButton("the milliseconds", () => String(d.ms))],
      ["Ticks", signed(d.ticks)],
      ["Second ID minus first", signed(d.ids)],
      ["First", utc(a.parts.time)],
      ["Second", utc(b.parts.time)],
    ]));
}
