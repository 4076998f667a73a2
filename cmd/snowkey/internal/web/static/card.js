// The card of one id: its time first, then its fields, its bits, and how else it is written.
import { FieldError, decode, fields, workers } from "./layout.js";
import { localTime, relativeTime, utc } from "./times.js";
import { copyButton, el, grouped, terms } from "./dom.js";
import { strip, swatch } from "./bits.js";
import { titlesOf } from "./presets.js";
import { relative } from "./relative.js";

function javaScriptNote(layout, id, js) {
  const note = (safe, strong, ...text) => el("p", { class: `note ${safe ? "good" : "bad"}` }, el("strong", {}, strong), ...text);
  if (js.safe) return note(true, "Safe in JavaScript.", " As a number it is exact.");
  const off = BigInt(js.value) - id; // of the digits that JavaScript writes, even if the number is exact
  const text = [js.exact ? " This one is exact by chance, but its neighbours are not." : " JavaScript also reads its neighbours as this number."];
  if (off !== 0n) {
    let becomes = "That is not an id of this layout.";
    try {
      const [was, is] = [decode(layout, id), decode(layout, BigInt(js.value))];
      const differ = [["workerID", "worker ID"], ["sequence", "sequence"]].filter(([of]) => was[of] !== is[of]).map(([of, name]) => `${name} ${is[of]} instead of ${was[of]}`);
      becomes = `Its fields are then wrong: ${[was.time === is.time ? [] : "another time", differ].flat().join(", ")}.`;
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
    }
    text.splice(0, 1, " JavaScript writes it as ", el("code", {}, js.value), `, off by ${off > 0n ? "+" : "−"}${grouped(off < 0n ? -off : off)}. ${becomes}`);
  }
  return note(false, "Not safe as a JavaScript number.", ...text, " Send ids as strings.");
}

// roundedNote shows what a number was, if it was rounded.
function roundedNote(layout, r) {
  const link = (id) => {
    const state = new URLSearchParams(location.hash.slice(1));
    state.set("ids", id);
    return el("a", { href: `#${state}` }, el("code", {}, id));
  };
  const between = `id BETWEEN ${r.first} AND ${r.last}`;
  const fields = (c) => `${workers(layout) > 1n ? `worker ID ${c.worker_id}, ` : ""}sequence ${c.sequence}`;
  return el("section", { class: "note warn", "aria-label": "Perhaps rounded" },
    el("p", {}, el("strong", {}, `This may have been rounded by ${r.by === "javascript" ? "JavaScript" : "a spreadsheet"}.`), ` The id was one of ${grouped(r.count)}. The likeliest:`),
    el("ul", {}, r.likely.map((c) => el("li", {}, link(c.id), ` ${fields(c)}`))),
    el("p", {}, "Look it up in the table: ", el("code", {}, between), " ", copyButton("the condition", () => between)));
}

const copyable = (name, text) => [name, el("span", { class: "copied" }, el("code", {}, text), copyButton(name, () => text))];

// when shows a time large, and in the ways in which it is written elsewhere.
function when(d, ms, beside) {
  const [date, clock] = utc(ms).split(/ (.*)/);
  return el("div", { class: "when" },
    el("div", {}, el("p", { class: "big" }, el("time", { datetime: d.time }, `${date} `, el("span", { class: "clock" }, clock)), copyButton("the time", () => utc(ms))),
    el("p", {}, relative(ms), el("span", { class: "quiet" }, ` · local time ${localTime(ms)}`))), beside);
}

function tiles(layout, parts) {
  const titles = titlesOf(layout);
  const names = fields(layout).map((f) => f.name).filter((name) => !["unused", "time"].includes(name));
  const tile = (name, of = name) => el("div", { class: `tile field-${of}` }, el("dt", {}, titles[name]), el("dd", {}, String(parts[name])));
  return el("dl", { class: "tiles", "aria-label": "Fields" }, layout.datacenterBits > 0 && tile("workerID", "unused"), names.map((name) => tile(name)));
}

// card shows a described id. The source says whose layout it is, and next to the time are the other ones.
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
    d.rounded && roundedNote(layout, d.rounded),
    javaScriptNote(layout, id, d.javascript),
    terms([
      copyable("Unix seconds", String(ms / 1000n - (ms % 1000n < 0n ? 1n : 0n))),
      copyable("Unix milliseconds", String(ms)),
      d.prefix ? ["Prefix", el("code", {}, d.prefix)] : null,
      d.unsigned ? copyable("Unsigned", d.unsigned) : null,
      ...others.filter(([, text]) => text).map(([name, text]) => copyable(name, text)),
    ]));
}

// spoken is what a screen reader announces of a new card.
export const spoken = (layout, d) => `Decoded one id, generated ${relativeTime(decode(layout, BigInt(d.id)).time)}.`;
