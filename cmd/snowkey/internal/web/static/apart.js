// Ids taken apart: one or many, as they are pasted.
import { Fault, decompose, fields, javaScript } from "./layout.js";
import { read, split, write } from "./idtext.js";
import { formatTime, localTime, relativeTime, utc } from "./times.js";
import { complain, copyButton, el, find, fresh, people, terms } from "./dom.js";
import { strip, titles, width } from "./bits.js";
import { relative } from "./relative.js";
import { current, noLayout } from "./layoutform.js";

const most = 1000; // as many as the API takes at once
export const longest = 1 << 16; // characters, as the API; more would take its time, and make no link
const inFull = 4; // more than that become a table

function javaScriptNote(layout, id) {
  const js = javaScript(id);
  if (js.safe) return el("p", { class: "note good" }, el("strong", {}, "Safe in JavaScript."), " As a number it stays what it is.");
  const rounded = BigInt(String(js.value)); // what is written is sent and asked for, be the number itself exact or not
  let becomes = "";
  try {
    const was = decompose(layout, id);
    const is = decompose(layout, rounded);
    const changed = ["worker", "datacenter", "sequence"].filter((name) => was[name] !== is[name]).map((name) => `${titles[name]} ${is[name]} for ${was[name]}`);
    if (was.time !== is.time) changed.unshift("another time");
    if (changed.length > 0) becomes = ` Taken apart, that is ${changed.join(", ")}.`;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    becomes = " That is no id of this layout any more.";
  }
  const off = rounded - id;
  const text = off === 0n
    ? " It happens to stay as it is, but its neighbours do not: send ids as strings."
    : [" JavaScript makes ", el("code", {}, String(rounded)), ` of it, off by ${off > 0n ? "+" : "−"}${people(off < 0n ? -off : off)}.${becomes} Send ids as strings.`];
  return el("p", { class: "note bad" }, el("strong", {}, "Not safe as a JavaScript number."), text);
}

const copyable = (name, text) => [name, el("code", {}, text), " ", copyButton(`${name.toLowerCase()}`, () => text)];

function card(layout, { text, id, parts }) {
  const row = (f) => el("tr", {},
    el("th", { scope: "row" }, el("span", { class: `swatch field-${f.name}`, "aria-hidden": "true" }), titles[f.name]),
    el("td", {}, width(f)),
    el("td", {}, el("code", {}, f.name === "time" ? String(parts.tick) : String(parts[f.name]))));
  const shorts = ["base32", "base58", "base62"].map((form) => [form.replace("base", "Base "), write(id, form)]).filter(([, t]) => t !== null);
  return el("article", { class: "id", "aria-label": `Id ${id}` },
    el("div", { class: "row" }, el("h3", {}, el("code", {}, String(id))), copyButton(`the id ${id}`, () => String(id))),
    text === String(id) ? null : el("p", { class: "quiet" }, "read from ", el("code", {}, text)),
    terms([
      ["UTC", el("time", { datetime: formatTime(parts.time) }, utc(parts.time)), " ", copyButton("the time", () => utc(parts.time))],
      ["Local", localTime(parts.time)],
      ["Relative", relative(parts.time)],
    ]),
    strip(layout, id),
    el("table", { class: "fields" },
      el("caption", { class: "visually-hidden" }, `Fields of ${id}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Field"), el("th", { scope: "col" }, "Width"), el("th", { scope: "col" }, "Value"))),
      el("tbody", {}, fields(layout).filter((f) => f.name !== "unused").map(row))),
    terms([
      id < 0n ? copyable("Unsigned", String(BigInt.asUintN(64, id))) : null,
      copyable("Hex", "0x" + write(id, "hex")),
      ...shorts.map(([name, t]) => copyable(name, t)),
    ]),
    javaScriptNote(layout, id));
}

function table(layout, all) {
  const names = fields(layout).map((f) => f.name).filter((name) => name !== "unused" && name !== "time");
  const head = ["Id", "UTC", "Relative", ...names.map((name) => titles[name]), "JavaScript"];
  const cells = ({ id, parts }) => [String(id), utc(parts.time).replace(" UTC", ""), relativeTime(parts.time), ...names.map((name) => String(parts[name])), javaScript(id).safe ? "safe" : String(javaScript(id).value)];
  const asText = () => [head, ...all.map(cells)].map((line) => line.join("\t")).join("\n");
  return [
    el("p", { class: "row" }, copyButton("table", asText, "Copy table"),
      el("span", { class: "quiet" }, "Its columns have tabs between. A spreadsheet rounds ids, unless their cells are formatted as text before.")),
    el("div", { class: "scroll", role: "region", "aria-label": "Ids taken apart", tabindex: "0" },
      el("table", { class: "many" },
        el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
        el("tbody", {}, all.map((one) => el("tr", {}, cells(one).map((c, i) => (i === 0 ? el("th", { scope: "row" }, el("code", {}, c)) : el("td", {}, i === 2 ? relative(one.parts.time) : c)))))))),
  ];
}

const tooLong = (length) => `This is a text of ${people(length)} characters; ${people(longest)} at once are the most. The command “snowkey parse” has no such limit.`;

// start keeps back a paste that is too long: the browser would be busy with it for a while.
export function start() {
  find("ids").addEventListener("paste", (event) => {
    const length = event.clipboardData?.getData("text").length ?? 0;
    if (length <= longest) return;
    event.preventDefault();
    complain(find("ids"), tooLong(length));
  });
}

// show takes apart what stands in the field.
export function show() {
  const layout = current();
  const area = find("ids");
  const result = find("apart-result");
  const status = find("apart-status");
  if (!fresh("apart", layout, area.value, find("form").value)) return;
  complain(area, null);
  result.replaceChildren();
  status.textContent = "";
  if (area.value.length > longest) {
    complain(area, tooLong(area.value.length));
    return;
  }
  const texts = split(area.value);
  if (texts.length === 0) return;
  if (!layout) {
    result.replaceChildren(noLayout());
    return;
  }
  if (texts.length > most) {
    complain(area, `These are ${people(texts.length)} ids; ${people(most)} at once are the most.`);
    return;
  }
  const good = [];
  const bad = [];
  for (const text of texts) {
    try {
      const id = read(text, find("form").value, layout.unsigned);
      good.push({ text, id, parts: decompose(layout, id) });
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      bad.push(`“${text.length > 60 ? text.slice(0, 60) + "…" : text}”: ${fault.message}.`);
    }
  }
  if (bad.length > 0) complain(area, bad.length === 1 ? bad[0] : `${bad.length} of ${texts.length} could not be read. ${bad.slice(0, 5).join(" ")}${bad.length > 5 ? " …" : ""}`);
  status.textContent = good.length === 1 ? `Read one id, made ${relativeTime(good[0].parts.time)}.` : `Read ${people(good.length)} ids.`;
  result.replaceChildren(...(good.length > inFull ? table(layout, good) : good.map((one) => card(layout, one))));
}
