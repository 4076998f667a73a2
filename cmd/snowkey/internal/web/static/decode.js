// IDs decoded: one or many, as they are pasted.
import { FieldError, decode, fields } from "./layout.js";
import { describe, javaScript } from "./describe.js";
import { split } from "./idtext.js";
import { localTime, relativeTime, utc } from "./times.js";
import { changed, copyButton, el, find, grouped, setError, setErrors, terms } from "./dom.js";
import { strip, titles, width } from "./bits.js";
import { relative } from "./relative.js";
import { current, noLayout } from "./layoutform.js";

const maxIDs = 1000; // as in the API
export const maxText = 1 << 16; // characters, as in the API; more would be slow, and too long for a link
const maxCards = 4; // more become a table

function javaScriptNote(layout, id, js) {
  if (js.safe) return el("p", { class: "note good" }, el("strong", {}, "Safe in JavaScript."), " As a number it is exact.");
  const rounded = BigInt(js.value); // the digits that JavaScript writes, even if the number is exact
  let becomes = "";
  try {
    const was = decode(layout, id);
    const is = decode(layout, rounded);
    const differ = ["worker", "datacenter", "sequence"].filter((name) => was[name] !== is[name]).map((name) => `${titles[name]} ${is[name]} instead of ${was[name]}`);
    if (was.time !== is.time) differ.unshift("another time");
    if (differ.length > 0) becomes = ` Its fields are then wrong: ${differ.join(", ")}.`;
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    becomes = " That is not an ID of this layout.";
  }
  const off = rounded - id;
  const text = off === 0n
    ? " It is exact by chance, but its neighbours are not: send IDs as strings."
    : [" JavaScript turns it into ", el("code", {}, js.value), `, off by ${off > 0n ? "+" : "−"}${grouped(off < 0n ? -off : off)}.${becomes} Send IDs as strings.`];
  return el("p", { class: "note bad" }, el("strong", {}, "Not safe as a JavaScript number."), text);
}

const copyable = (name, text) => [name, el("code", {}, text), " ", copyButton(`${name.toLowerCase()}`, () => text)];

function card(layout, d) {
  const id = BigInt(d.id);
  const time = decode(layout, id).time;
  const row = (f) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: `swatch field-${f.name}`, "aria-hidden": "true" }), titles[f.name]),
    el("td", {}, width(f)),
    el("td", {}, el("code", {}, String(decode(layout, id)[f.name === "time" ? "tick" : f.name]))));
  return el("article", { class: "id", "aria-label": `ID ${id}` },
    el("div", { class: "row" }, el("h3", {}, el("code", {}, d.id)), copyButton(`the ID ${id}`, () => d.id)),
    d.input === d.id ? null : el("p", { class: "quiet" }, "read from ", el("code", {}, d.input)),
    terms([
      d.prefix ? ["Prefix", el("code", {}, d.prefix)] : null,
      ["UTC", el("time", { datetime: d.time }, utc(time)), " ", copyButton("the time", () => utc(time))],
      ["Local", localTime(time)],
      ["Relative", relative(time)],
    ]),
    strip(layout, d.bits),
    el("table", { class: "fields" },
      el("caption", { class: "visually-hidden" }, `Fields of ${id}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Field"), el("th", { scope: "col" }, "Width"), el("th", { scope: "col" }, "Value"))),
      el("tbody", {}, fields(layout).filter((f) => f.name !== "unused").map(row))),
    terms([
      layout.datacenterBits > 0 ? ["Worker ID", el("code", {}, String(d.worker_id))] : null,
      d.unsigned ? copyable("Unsigned", d.unsigned) : null,
      ...[["Hex", d.hex], ["Base32", d.base32], ["Base58", d.base58], ["Base62", d.base62], ["Prefixed", d.prefixed]].filter(([, text]) => text).map(([name, text]) => copyable(name, text)),
    ]),
    javaScriptNote(layout, id, d.javascript));
}

function table(layout, described) {
  const all = described.map((d) => ({ id: BigInt(d.id), parts: decode(layout, BigInt(d.id)) }));
  const names = fields(layout).map((f) => f.name).filter((name) => name !== "unused" && name !== "time");
  const head = ["ID", "UTC", "Relative", ...names.map((name) => titles[name]), "JavaScript"];
  const cells = ({ id, parts }) => [String(id), utc(parts.time).replace(" UTC", ""), relativeTime(parts.time), ...names.map((name) => String(parts[name])), javaScript(id).safe ? "safe" : javaScript(id).value];
  const asText = () => [head, ...all.map(cells)].map((line) => line.join("\t")).join("\n");
  return [
    el("p", { class: "row" }, copyButton("table", asText, "Copy table"),
      el("span", { class: "quiet" }, "Columns are separated by tabs. Spreadsheets round IDs, unless the cells are formatted as text first.")),
    el("div", { class: "scroll", role: "region", "aria-label": "Decoded IDs", tabindex: "0" },
      el("table", { class: "many" },
        el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, all.map((one) => el("tr", {}, cells(one).map((c, i) => (i === 0 ? el("th", { scope: "row" }, el("code", {}, c)) : el("td", {}, i === 2 ? relative(one.parts.time) : c)))))))),
  ];
}

const tooLong = (length) => `This text has ${grouped(length)} characters; the limit is ${grouped(maxText)}. The command “snowkey parse” has no limit.`;

// start rejects a paste that is too long, which would block the browser.
export function start() {
  find("ids").addEventListener("paste", (event) => {
    const length = event.clipboardData?.getData("text").length ?? 0;
    if (length <= maxText) return;
    event.preventDefault();
    setError(find("ids"), tooLong(length));
  });
}

// show decodes the IDs in the field.
export function show() {
  const layout = current();
  const area = find("ids");
  const result = find("decode-result");
  const status = find("decode-status");
  if (!changed("decode", layout, area.value, find("format").value)) return;
  setError(area, null);
  result.replaceChildren();
  status.textContent = "";
  if (area.value.length > maxText) {
    setError(area, tooLong(area.value.length));
    return;
  }
  const texts = split(area.value);
  if (texts.length === 0) return;
  if (!layout) {
    result.replaceChildren(noLayout());
    return;
  }
  if (texts.length > maxIDs) {
    setError(area, `These are ${grouped(texts.length)} IDs; the limit is ${grouped(maxIDs)}.`);
    return;
  }
  const good = [];
  const bad = [];
  for (const text of texts) {
    try {
      good.push(describe(layout, text, find("format").value));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      bad.push([text, error.message + (error.ambiguous ? ": choose the format" : "")]);
    }
  }
  setErrors(area, bad, texts.length);
  status.textContent = good.length === 1 ? `Decoded one ID, generated ${relativeTime(decode(layout, BigInt(good[0].id)).time)}.` : `Decoded ${grouped(good.length)} IDs.`;
  result.replaceChildren(...(good.length > maxCards ? table(layout, good) : good.map((d) => card(layout, d))));
}
