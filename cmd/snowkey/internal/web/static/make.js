// Ids made: here, put together from their fields, or by the server's generator.
import { Fault, atOnce, compose, end, lowBits, perTick } from "./layout.js";
import { parseTime, formatTime } from "./times.js";
import { complain, copyButton, el, find, people, sentence, tell } from "./dom.js";
import { same } from "./presets.js";
import { current, limits, put } from "./layoutform.js";

const most = 10_000n; // as many as the API makes at once

// How far each layout and worker number has come in this page: it makes no id twice,
// however the bits of the number are parted.
const reached = new Map();

// number reads a field that must hold a whole number from 0 or `least` to `max`.
function number(id, max, least = 0n) {
  const text = find(id).value.trim();
  const right = /^\d{1,19}$/.test(text) && BigInt(text) >= least && BigInt(text) <= max;
  complain(find(id), right ? null : text === "" ? "This must be given." : `This must be a whole number from ${least} to ${people(max)}.`);
  return right ? BigInt(text) : null;
}

// wanted reads the form; null if something in it is wrong.
function wanted(layout) {
  const { worker, datacenter } = limits();
  const want = { worker: number("worker", worker), datacenter: datacenter > 0n ? number("datacenter", datacenter) : 0n, count: number("count", most, 1n), time: null };
  if (datacenter === 0n) complain(find("datacenter"), null);
  const time = find("time");
  complain(time, null);
  try {
    if (time.value.trim() !== "") {
      want.time = parseTime(time.value.trim());
      compose(layout, { time: want.time });
    }
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    complain(time, `This ${fault.message}.`);
    return null;
  }
  if (want.worker === null || want.datacenter === null || want.count === null) return null;
  const limit = want.time === null ? atOnce(layout, most) : perTick(layout);
  if (want.count > limit) {
    complain(find("count"), want.time === null ? `A worker of this layout makes at most ${people(limit)} in a second.` : `Only ${people(limit)} fit one tick.`);
    return null;
  }
  return want;
}

// here puts ids together in this page.
function here(layout, want) {
  const ids = [];
  const perTickOf = perTick(layout);
  if (want.time !== null) {
    for (let n = 0n; n < want.count; n++) ids.push(compose(layout, { ...want, sequence: n }));
    return ids;
  }
  const first = compose(layout, { ...want, time: layout.epoch * 1_000_000n });
  const key = [layout.epoch, layout.tick, lowBits(layout), layout.sequenceBits, layout.sequenceFirst, first].join();
  const now = (BigInt(Date.now()) - layout.epoch) / layout.tick;
  if (BigInt(Date.now()) < layout.epoch) throw new Fault("epoch", layout.epoch, "The layout’s epoch lies ahead of this computer’s clock");
  let [tick, sequence] = reached.get(key) ?? [now, 0n];
  if (now > tick) [tick, sequence] = [now, 0n];
  for (let n = 0n; n < want.count; n++) {
    const time = layout.epoch + tick * layout.tick;
    if (time >= end(layout)) throw new Fault("time", time, "The layout’s time is used up");
    ids.push(compose(layout, { ...want, time: time * 1_000_000n, sequence }));
    if (++sequence === perTickOf) [tick, sequence] = [tick + 1n, 0n];
  }
  reached.set(key, [tick, sequence]);
  return ids;
}

const patience = 15; // seconds that the server has

// byServer asks the server for them.
async function byServer(layout, want) {
  const query = new URLSearchParams();
  put(query);
  query.set("worker", want.worker);
  if (layout.datacenterBits > 0) query.set("datacenter", want.datacenter);
  query.set("n", want.count);
  if (want.time !== null) query.set("time", find("time").value.trim());
  const answer = await fetch(`api/ids?${query}`, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(patience * 1000) });
  const body = await answer.json();
  if (!answer.ok) throw new Fault("server", answer.status, body.error.faults.map((f) => `${[f.field, f.value].filter(Boolean).join(" ")}: ${f.reason}`).join("; "));
  return body.ids.map((id) => BigInt(id));
}

function show(want, ids, byTheServer) {
  const text = ids.join("\n");
  const made = want.time !== null
    ? "Of the time that was given: bounds and test data, the same each time."
    : byTheServer
      ? "From this server’s generator of that number: never twice while it runs. Unique, if nobody else makes ids under the number."
      : "Put together in this page: for tests, unless the worker number is yours alone.";
  const area = el("textarea", { id: "made", readonly: true, rows: Math.min(ids.length, 8), spellcheck: "false", "aria-label": "Ids made" });
  area.value = text;
  find("make-result").replaceChildren(
    el("p", {}, el("strong", {}, ids.length === 1 ? "One id." : `${people(ids.length)} ids.`), " ", made),
    area,
    el("p", { class: "row actions" }, copyButton(ids.length === 1 ? "the id" : "the ids", () => text),
      el("button", { type: "button", id: "take-apart", onclick: () => {
        find("ids").value = ids.slice(0, 1000).join("\n");
        find("form").value = "decimal";
        find("ids").dispatchEvent(new Event("input", { bubbles: true }));
        find("apart").scrollIntoView();
        find("ids").focus({ preventScroll: true });
      } }, "Take apart")));
  tell(ids.length === 1 ? `Made ${ids[0]}` : `Made ${ids.length} ids`);
}

let madeOf = null; // the layout of the ids that are shown
let waiting = false; // for the server

function forget() {
  madeOf = null;
  find("make-result").replaceChildren();
}

function wait(yes) {
  waiting = yes;
  find("make-button").setAttribute("aria-disabled", String(yes)); // it keeps the focus
  find("make-button").textContent = yes ? "Asking the server…" : "Make";
}

async function make() {
  if (waiting) return;
  const layout = current();
  const failed = find("make-error");
  forget(); // whoever sees old ids beside a fault takes them for new ones
  failed.textContent = layout ? "" : "The layout’s fields make no layout yet.";
  if (!layout) return;
  const want = wanted(layout);
  if (!want) {
    find("make-form").querySelector("[aria-invalid]")?.focus();
    return;
  }
  const byTheServer = find("by-server").checked;
  try {
    if (byTheServer) wait(true);
    const ids = byTheServer ? await byServer(layout, want) : here(layout, want);
    if (!current() || !same(layout, current())) {
      failed.textContent = "The layout has changed before the server answered.";
      return;
    }
    show(want, ids, byTheServer);
    madeOf = layout;
  } catch (fault) {
    if (fault instanceof Fault) failed.textContent = sentence(fault.message);
    else if (fault.name === "TimeoutError") failed.textContent = `The server has not answered within ${patience} seconds.`;
    else if (fault instanceof TypeError || fault instanceof SyntaxError) failed.textContent = "The server does not answer, or not in JSON.";
    else throw fault;
  } finally {
    if (byTheServer) wait(false);
  }
}

// adapt shows the fields that the layout has, and forgets ids of another one.
export function adapt() {
  const layout = current();
  if (!layout) return;
  if (madeOf && !same(madeOf, layout)) forget();
  const { worker, datacenter } = limits();
  find("datacenter-field").hidden = datacenter === 0n;
  find("datacenter").disabled = datacenter === 0n;
  find("worker-hint").textContent = worker === 0n ? "The layout has no worker field: 0." : `0 to ${people(worker)}. Yours alone, or ids will repeat.`;
  find("datacenter-hint").textContent = `0 to ${people(datacenter)}`;
}

export function start() {
  find("make-form").addEventListener("submit", (event) => {
    event.preventDefault();
    make();
  });
  find("now").addEventListener("click", () => {
    find("time").value = formatTime(BigInt(Date.now()));
    find("time").dispatchEvent(new Event("input", { bubbles: true }));
  });
}
