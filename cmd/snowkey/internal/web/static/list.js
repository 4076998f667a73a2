// Many ids: what they have in common, when and by which workers they were made, and a table.
import { decode, fields } from "./layout.js";
import { formatSpan, relativeTime, utc } from "./times.js";
import { announce, copyButton, el, grouped } from "./dom.js";
import { titlesOf } from "./presets.js";
import { chance, looksRounded } from "./rounded.js";
import { inSlices } from "./slices.js";
import { byWorker, overTime } from "./histogram.js";
import { virtualTable } from "./virtual.js";
import { downloads, tabbed } from "./download.js";
import { card } from "./card.js";

// count looks at each id once.
async function count(layout, ids, work) {
  const c = { times: new Float64Array(ids.length), workers: new Map(), unsafe: 0, rounded: 0, chance: 0, repeated: 0, first: null, last: null };
  const seen = new Set();
  const whole = await inSlices(ids.length, (i) => {
    const d = decode(layout, ids[i]);
    c.times[i] = Number(d.time);
    if (c.first === null || d.time < c.first) c.first = d.time;
    if (c.last === null || d.time > c.last) c.last = d.time;
    const worker = String(d.workerID);
    c.workers.set(worker, (c.workers.get(worker) ?? 0) + 1);
    c.chance += chance(ids[i]);
    if (looksRounded(ids[i])) c.rounded++;
    if (!Number.isSafeInteger(Number(ids[i]))) c.unsafe++;
    if (seen.has(ids[i])) c.repeated++;
    seen.add(ids[i]);
  }, work);
  return whole ? c : null;
}

const fact = (name, value, more = "") => el("div", {}, el("dt", {}, name), el("dd", {}, value, more && el("small", {}, more)));

function summary(ids, c) {
  const span = c.last - c.first;
  const rate = span > 0n ? (ids.length / Number(span)) * 1000 : 0;
  return el("dl", { class: "facts" }, [
    fact("First", utc(c.first).slice(0, 19), relativeTime(c.first)),
    fact("Last", utc(c.last).slice(0, 19), relativeTime(c.last)),
    fact("Time between", span === 0n ? "none" : formatSpan(span < 60_000n ? span : (span / 1000n) * 1000n), rate >= 0.01 ? `${grouped(rate.toFixed(2))} ids a second` : ""),
    c.repeated > 0 ? fact("Repeated", grouped(c.repeated), "also earlier in the list") : null,
    fact("Unsafe in JavaScript", c.unsafe === ids.length ? "all" : c.unsafe === 0 ? "none" : grouped(c.unsafe), c.unsafe > 0 ? "send ids as strings" : ""),
  ]);
}

// list returns the nodes for many ids, or null if they are no longer wanted.
export async function list({ layout, ids, texts, one, source, beside, linked }, work) {
  const c = await count(layout, ids, work);
  if (!c) return null;
  const titles = titlesOf(layout);
  const names = fields(layout).map((f) => f.name).filter((name) => name !== "unused" && name !== "time");
  if (layout.datacenterBits > 0) names.unshift("workerID");
  const head = ["Id", "Time (UTC)", ...names.map((name) => titles[name])];
  const cells = (i) => {
    const d = decode(layout, ids[i]);
    return [String(ids[i]), utc(d.time).replace(" UTC", ""), ...names.map((name) => String(d[name]))];
  };
  const details = el("div", { class: "result", id: "picked", role: "region", "aria-label": "The selected id" });
  const pick = (i) => {
    details.replaceChildren(card(layout, one(i)));
    announce(`${ids[i]}, ${relativeTime(decode(layout, ids[i]).time)}`);
  };
  const workers = names.includes("worker") && c.workers.size > 1;
  return [
    el("section", { class: "card", "aria-label": "Summary" },
      el("div", { class: "row" }, el("h3", {}, `${grouped(ids.length)} ids`), source),
      beside,
      summary(ids, c),
      c.rounded > 3 * c.chance + 1 && el("p", { class: "note warn" }, el("strong", {}, `${grouped(c.rounded)} of these numbers look rounded by JavaScript or a spreadsheet.`), ` By chance, about ${Math.ceil(c.chance)} would. Select one to see what it may have been.`),
      c.last > c.first ? overTime(c.times, c.first, c.last) : null,
      workers ? byWorker(c.workers) : null),
    el("section", { class: "card", "aria-label": "Table" },
      el("div", { class: "row actions" }, downloads(layout, ids, texts), copyButton("table", () => tabbed(head, cells, ids.length), "Copy table")),
      el("p", { class: "hint" }, "Click a row to see all of an id. Spreadsheets round ids, unless the cells are formatted as text first.", linked ? "" : " The list is too long for a link."),
      virtualTable({ head, count: ids.length, cells, pick, label: "Decoded ids" })),
    details,
  ];
}
