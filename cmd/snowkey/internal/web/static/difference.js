// The difference of two ids.
import { FieldError, decode } from "./layout.js";
import { parse } from "./idtext.js";
import { formatSpan, utc } from "./times.js";
import { changed, copyButton, el, find, grouped, setError, terms } from "./dom.js";
import { recognize } from "./recognize.js";
import { presetOf } from "./presets.js";
import { current, isAuto, noLayout } from "./layoutform.js";

// attempt calls a function with the text of a field, and shows what is wrong with it below.
function attempt(id, read) {
  const field = find(id);
  setError(field, null);
  if (field.value.trim() === "") return null;
  try {
    return read(field.value);
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(field, error.readings ? `This ${error.message}: write decimal or 0x.` : `This ${error.message}.`);
    return null;
  }
}

// difference subtracts the first id from the second.
export function difference(layout, a, b) {
  const ticks = decode(layout, b).tick - decode(layout, a).tick;
  return { ids: BigInt.asUintN(64, b) - BigInt.asUintN(64, a), ticks, ms: ticks * layout.tick };
}

const signed = (n) => (n < 0n ? "−" : "") + grouped(n < 0n ? -n : n);

// layoutFor is the chosen layout, or the assumed one.
function layoutFor(ids) {
  if (!isAuto()) return current();
  return recognize(ids)[0].layout;
}

// show compares the ids in the two fields.
export function show() {
  const fixed = current();
  if (!changed("difference", fixed, isAuto(), find("a").value, find("b").value)) return;
  const result = find("difference-result");
  result.replaceChildren();
  const name = find("compare-layout");
  name.textContent = isAuto() ? "auto-detect" : name.textContent;
  if (!fixed) {
    for (const id of ["a", "b"]) setError(find(id), null);
    if (find("a").value.trim() && find("b").value.trim()) result.replaceChildren(noLayout());
    return;
  }
  const texts = ["a", "b"].map((id) => attempt(id, (text) => parse(text, "auto", fixed.unsigned)[0]));
  const given = texts.filter((id) => id !== null);
  if (given.length === 0) return;
  const layout = layoutFor(given);
  if (isAuto()) name.textContent = `${presetOf(layout).title}, assumed`;
  const [first, second] = ["a", "b"].map((id, i) => (texts[i] === null ? null : attempt(id, () => decode(layout, texts[i]))));
  if (!first || !second) return;
  const d = difference(layout, ...texts);
  const order = d.ids === 0n ? "They are the same id." : d.ms === 0n ? "They are from the same tick." : d.ms > 0n ? "The second is later." : "The first is later.";
  const span = formatSpan(d.ms < 0n ? -d.ms : d.ms);
  result.replaceChildren(
    el("p", { class: "big" }, el("span", {}, el("strong", { id: "difference-time" }, d.ms === 0n ? "No time" : span), " apart.")),
    el("p", {}, order),
    terms([
      ["Milliseconds", signed(d.ms), " ", copyButton("the milliseconds", () => String(d.ms))],
      ["Ticks", signed(d.ticks)],
      ["Second id minus first", signed(d.ids)],
      ["First", utc(first.time)],
      ["Second", utc(second.time)],
    ]));
}
