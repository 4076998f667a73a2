// How far two ids are apart.
import { Fault, decompose } from "./layout.js";
import { read } from "./idtext.js";
import { formatSpan, utc } from "./times.js";
import { complain, copyButton, el, find, fresh, people, sentence, terms } from "./dom.js";
import { current, noLayout } from "./layoutform.js";

function one(layout, id) {
  const field = find(id);
  complain(field, null);
  if (field.value.trim() === "") return null;
  try {
    const value = read(field.value, "auto", layout.unsigned);
    return { value, bits: BigInt.asUintN(64, value), parts: decompose(layout, value) };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    complain(field, sentence(fault.message));
    return null;
  }
}

// difference is how far the second id is from the first, as /api/parse says it.
export function difference(layout, a, b) {
  const ticks = decompose(layout, b).tick - decompose(layout, a).tick;
  return { ids: BigInt.asUintN(64, b) - BigInt.asUintN(64, a), ticks, ms: ticks * layout.tick };
}

const signed = (n) => (n < 0n ? "−" : "") + people(n < 0n ? -n : n);

// show compares what stands in the two fields.
export function show() {
  const layout = current();
  if (!fresh("difference", layout, find("a").value, find("b").value)) return;
  const result = find("difference-result");
  result.replaceChildren();
  if (!layout) {
    for (const id of ["a", "b"]) complain(find(id), null);
    if (find("a").value.trim() && find("b").value.trim()) result.replaceChildren(noLayout());
    return;
  }
  const a = one(layout, "a");
  const b = one(layout, "b");
  if (!a || !b) return;
  const d = difference(layout, a.value, b.value);
  const order = d.ids === 0n ? "They are the same id." : d.ms === 0n ? "They are of one tick." : d.ms > 0n ? "The second is the later one." : "The first is the later one.";
  const span = formatSpan(d.ms < 0n ? -d.ms : d.ms);
  result.replaceChildren(
    el("p", {}, el("strong", { id: "apart-by" }, d.ms === 0n ? "No time" : span), " apart. ", order),
    terms([
      ["Milliseconds", signed(d.ms), " ", copyButton("the milliseconds", () => String(d.ms))],
      ["Ticks", signed(d.ticks)],
      ["Second id minus first", signed(d.ids)],
      ["First", utc(a.parts.time)],
      ["Second", utc(b.parts.time)],
    ]));
}
