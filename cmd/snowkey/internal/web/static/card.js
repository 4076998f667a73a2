// The card of one id: its time first, then its fields, its bits, and how else it is written.
import { FieldError, decode, fields } from "./layout.js";
import { localTime, relativeTime, utc } from "./times.js";
import { copyButton, el, grouped, terms } from "./dom.js";
import { strip, swatch } from "./bits.js";
import { titlesOf } from "./presets.js";
import { relative } from "./relative.js";

function javaScriptNote(layout, id, js) {
  if (js.safe) return el("p", { class: "note good" }, el("strong", {}, "Safe in JavaScript."), " As a number it is exact.");
  const rounded = BigInt(js.value); // the digits that JavaScript writes, even if the number is exact
  const titles = titlesOf(layout);
  let becomes = "";
  try {
    const was = decode(layout, id);
    const is = decode(layout, rounded);
    const differ = ["worker", "datacenter", "sequence"].filter((name) => was[name] !== is[name]).map((name) => `${titles[name].toLowerCase()} ${is[name]} instead of ${was[name]}`);
    if (was.time !== is.time) differ.unshift("another time");
    if (differ.length > 0) becomes = ` Its fields are then wrong: ${differ.join(", ")}.`;
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    becomes = " That is not an id of this layout.";
  }
  const off = rounded - id;
  const text = off === 0n
    ? " It is exact by chance, but its neighbours are not: send ids as strings."
    : [" JavaScript turns it into ", el("code", {}, js.value), `, off by ${off > 0n ? "+" : "−"}${grouped(off < 0n ? -off : off)}.${becomes} Send ids as strings.`];
  return el("p", { class: "note bad" }, el("strong", {}, "Not safe as a JavaScript number."), text);
}

const copyable = (name, text) => [name, el("code", {}, text), " ", copyButton(name, () => text)];

// when shows a time large, and in the ways in which it is written elsewhere.
function when(d, ms, beside) {
  const [date, clock] = utc(ms).split(/ (.*)/);
  return el("div", { class: "when" },
    el("div", {}, el("p", { class: "big" }, el("time", { datetime: d.time }, `${date} `, el("span", { class: "clock" }, clock)), copyButton("the time", () => utc(ms))),
    el("p", {}, relative(ms), el("span", { class: "quiet" }, ` · local time ${localTime(ms)}`))), beside);
}

function tiles(layout, parts) {
  const titles = titlesOf(layout);
  const shown = fields(layout).filter((f) => !["unused", "time"].includes(f.name));
  return el("dl", { class: "tiles", "aria-label": "Fields" }, shown.map((f) => el("div", { class: `tile field-${f.name}` },
    el("dt", {}, titles[f.name]), el("dd", {}, String(parts[f.name])))));
}

// card shows a described id. The source says whose layout it is, and beside the time are the other ones.
export function card(layout, d, source = null, beside = null) {
  const id = BigInt(d.id);
  const parts = decode(layout, id);
  const ms = parts.time;
  const others = [["Hex", d.hex], ["Base32", d.base32], ["Base58", d.base58], ["Base62", d.base62], ["Prefixed", d.prefixed]];
  return el("article", { class: "card id", "aria-label": `Id ${id}` },
    el("div", { class: "row" }, el("h3", {}, el("code", {}, d.id)), copyButton(`the id ${id}`, () => d.id), source),
    d.input === d.id ? null : el("p", { class: "quiet" }, `Read as ${d.format.endsWith("_") ? "a prefixed id" : d.format} from `, el("code", {}, d.input)),
    when(d, ms, beside),
    tiles(layout, parts),
    el("div", { class: "bits" }, strip(layout, d.bits), el("p", { class: "hint" }, swatch("time"), "Time ", el("span", { class: "visually-hidden" }, "field: "), grouped(parts.tick), layout.tick === 1n ? " ms after " : ` ticks of ${layout.tick} ms after `, utc(layout.epoch))),
    javaScriptNote(layout, id, d.javascript),
    terms([
      copyable("Unix seconds", String(ms / 1000n - (ms % 1000n < 0n ? 1n : 0n))),
      copyable("Unix milliseconds", String(ms)),
      d.prefix ? ["Prefix", el("code", {}, d.prefix)] : null,
      d.unsigned ? copyable("Unsigned", d.unsigned) : null,
      ...others.filter(([, text]) => text).map(([name, text]) => copyable(name, text)),
      layout.datacenterBits > 0 ? ["Worker ID", el("code", {}, String(d.worker_id)), el("span", { class: "quiet" }, ` ${titlesOf(layout).datacenter.toLowerCase()} and ${titlesOf(layout).worker.toLowerCase()} as one number`)] : null,
    ]));
}

// spoken is what a screen reader announces of a new card.
export const spoken = (layout, d) => `Decoded one id, generated ${relativeTime(decode(layout, BigInt(d.id)).time)}.`;
