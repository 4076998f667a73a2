// Ids decoded: one or many, as they are pasted.
import { FieldError, decode } from "./layout.js";
import { looksRounded } from "./rounded.js";
import { describe } from "./describe.js";
import { numbersIn, parse, parts, split } from "./idtext.js";
import { recognize } from "./recognize.js";
import { inSlices } from "./slices.js";
import { changed, el, find, grouped, setError } from "./dom.js";
import { Problems, choices, show as showProblems } from "./problems.js";
import { card, spoken } from "./card.js";
import { presets } from "./presets.js";
import { doubt, others, source } from "./possible.js";
import { list } from "./list.js";
import { longest } from "./link.js";
import { chosen, isAuto, noLayout } from "./layoutform.js";

const maxText = 8 << 20; // characters: about 400,000 ids
const maxShown = 1 << 16; // characters, which a browser breaks into lines at once
const maxSearch = 1 << 18; // characters, searched for numbers in one go
const maxIDs = 500_000; // a longer table is too high for a browser

const tooLong = (length) => `This text has ${grouped(length)} characters; the limit is ${grouped(maxText)}. The command “snowkey parse” has no limit.`;

// A longer text that was pasted, and what the field shows of it.
const pasted = { text: "", shown: null };

// text returns what is to be decoded.
export const text = () => (find("ids").value === pasted.shown ? pasted.text : find("ids").value);

const example = "1996573624012345677";

let latest = 0; // what an earlier input becomes is dropped

// read parses the texts, and returns the ids and what is wrong with the others.
async function read(text, format, unsigned, work) {
  const found = { ids: [], texts: [], total: 0, prefixed: false, problems: new Problems() };
  const all = parts(text);
  const whole = await inSlices(all.length, (i) => {
    for (const item of split(all[i])) {
      found.total++;
      try {
        const [id, of] = parse(item, format, unsigned);
        found.ids.push(id);
        found.texts.push(item);
        found.prefixed ||= of.endsWith("_");
      } catch (error) {
        if (!(error instanceof FieldError)) throw error;
        found.problems.add(item, error);
      }
    }
  }, work);
  return whole ? found : null;
}

// fitting drops ids that are not of the layout, and adds them to the problems.
async function fitting(layout, found, work) {
  const ids = [];
  const texts = [];
  const whole = await inSlices(found.ids.length, (i) => {
    try {
      decode(layout, found.ids[i]);
      ids.push(found.ids[i]);
      texts.push(found.texts[i]);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      found.problems.add(found.texts[i], error);
    }
  }, work);
  return whole ? { ...found, ids, texts } : null;
}

function progress(text) {
  const bar = find("decode-progress");
  bar.hidden = false;
  return (done, all) => {
    bar.querySelector("progress").value = done / all;
    bar.querySelector("span").textContent = `${text} ${grouped(done)} of ${grouped(all)}`;
  };
}

// results makes what is shown below the field, or returns null if it is no longer wanted.
const workersInUse = () => (find("workers").value.match(/\d{1,19}/g) ?? []).map(BigInt);

async function results(whole, format, wanted) {
  const fixed = isAuto() ? null : chosen();
  let found = await read(whole, format, fixed?.unsigned ?? false, { wanted, progress: progress("Reading part") });
  if (!found || found.total === 0 || found.total > maxIDs) return found && { found, nodes: [] };
  if (!isAuto() && !fixed) return { found, nodes: [noLayout()] };
  const presets = recognize(found.ids, found.prefixed);
  const layout = fixed ?? presets[0].layout;
  const all = found.ids;
  found = await fitting(layout, found, { wanted, progress: progress("Decoding id") });
  if (!found || all.length === 0) return found && { found, nodes: [] };
  const beside = others(layout, all, presets);
  if (found.ids.length === 0) return { found, nodes: beside ? [el("div", { class: "card" }, beside)] : [] };
  const one = (i) => describe(layout, found.texts[i], format, workersInUse());
  const unknown = find("preset-error").textContent; // of a link
  const before = [unknown && el("p", { class: "note warn" }, `${unknown} The layout is assumed.`), doubt(layout, found.ids)].filter(Boolean);
  if (found.ids.length === 1) return { found, nodes: [...before, card(layout, one(0), source(layout), beside)], said: spoken(layout, one(0)) };
  const nodes = await list({ layout, ids: found.ids, texts: found.texts, one, source: source(layout), beside, linked: whole.length <= longest }, { wanted, progress: progress("Counting id") });
  return nodes && { found, nodes: [...before, ...nodes], said: `Decoded ${grouped(found.ids.length)} ids.` };
}

// show decodes the ids in the field. It returns when the result is there, or is no longer wanted.
export async function show() {
  const area = find("ids");
  const format = find("format").value;
  const whole = text();
  if (!changed("decode", chosen(), isAuto(), whole, format, find("workers").value)) return;
  const run = ++latest;
  const wanted = () => run === latest;
  const end = (nodes, said = "") => {
    find("decode-progress").hidden = true;
    find("decode-intro").hidden = nodes.length > 0 || whole !== "";
    find("decode-result").replaceChildren(...nodes);
    find("decode-status").textContent = said;
  };
  setError(area, null);
  find("ids-choices").replaceChildren();
  if (whole.length > maxText) {
    setError(area, tooLong(whole.length));
    end([]);
    return;
  }
  const hint = setTimeout(() => wanted() && find("decode-result").replaceChildren(), 300); // an old result next to a progress bar misleads
  const made = await results(whole, format, wanted);
  clearTimeout(hint);
  if (!made || !wanted()) return;
  if (made.found.total > maxIDs) setError(area, `These are ${grouped(made.found.total)} ids; the limit is ${grouped(maxIDs)}. The command “snowkey parse” has no limit.`);
  else showProblems(area, made.found.problems, made.found.total);
  choices("ids-choices", made.found.problems.formats(), (choice) => setFormat(choice));
  if (made.found.problems.any && whole.length <= maxSearch) offer(whole);
  const first = made.found.ids.slice(0, 20);
  find("workers-field").hidden = first.filter(looksRounded).length * 2 <= first.length; // some are so by chance
  end(made.nodes, made.said);
}

// offer offers to decode only the long numbers of a text of which something cannot be read.
function offer(text) {
  const numbers = numbersIn(text);
  if (numbers.length === 0) return;
  const name = numbers.length === 1 ? numbers[0] : `the ${grouped(numbers.length)} long numbers`;
  find("ids-choices").append(el("button", { type: "button", class: "chip", onclick: () => put(numbers.join("\n")) }, `Decode only ${name}`));
}

function setFormat(format) {
  find("format").value = format;
  find("format").dispatchEvent(new Event("input", { bubbles: true }));
  find("format").focus();
}

const put = (text) => {
  find("format").value = "auto";
  find("ids").value = text;
  find("ids").dispatchEvent(new Event("input", { bubbles: true }));
  find("ids").focus();
};

// paste keeps a long text out of the field, which would block the browser for seconds, and rejects one
// that is too long.
function paste(event) {
  const area = find("ids");
  const all = event.clipboardData?.getData("text").replaceAll("\r\n", "\n") ?? "";
  if (all.length <= maxShown) return;
  event.preventDefault();
  if (all.length > maxText) {
    setError(area, tooLong(all.length));
    return;
  }
  pasted.text = all;
  pasted.shown = `${all.slice(0, 1000)}\n… ${grouped(all.length - 1000)} more characters`;
  area.value = pasted.shown;
  area.setSelectionRange(0, 0);
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

// start fills in examples.
export function start() {
  find("ids").addEventListener("paste", paste);
  find("ids").placeholder = example;
  find("decode-intro").append(card(presets[0].layout, describe(presets[0].layout, example, "auto"), source(presets[0].layout)));
  find("example").addEventListener("click", () => put(example));
  find("example-many").addEventListener("click", () => put(many().join("\n")));
}

// many makes 1,000 ids of Twitter's layout: three workers, more by day than by night.
function many() {
  const ids = [];
  const now = BigInt(Date.now()) - 1288834974657n;
  for (let i = 0; i < 1000; i++) {
    const hours = (i / 1000) * 48 + Math.sin((i / 1000) * 4 * Math.PI) * 3;
    const ms = now - 48n * 3_600_000n + BigInt(Math.round(hours * 3_600_000)) - 3_600_000n;
    ids.push((ms << 22n) | (BigInt([1, 1, 2, 3][i % 4]) << 12n));
  }
  return ids;
}
