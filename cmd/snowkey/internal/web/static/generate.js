// Ids generated: in this page, from their fields, or by the server.
import { FieldError, atOnce, compose, end, lowBits, perTick, workers } from "./layout.js";
import { parseTime } from "./times.js";
import { announce, copyButton, el, find, grouped, sentence, setError } from "./dom.js";
import { same } from "./presets.js";
import { current, fix, query as saveLayout } from "./layoutform.js";

const maxIDs = 10_000n; // as in the API

// The cursor of each layout and worker ID, so that this page generates no id twice, however
// the bits of the worker ID are split.
const cursors = new Map();

// number reads a whole number from `min` to `max`.
function number(id, max, min = 0n) {
  const text = find(id).value.trim();
  const right = /^\d{1,19}$/.test(text) && BigInt(text) >= min && BigInt(text) <= max;
  setError(find(id), right ? null : text === "" ? "This must be given." : `This must be a whole number from ${min} to ${grouped(max)}.`);
  return right ? BigInt(text) : null;
}

// readForm reads the form, or returns null if a field is wrong.
function readForm(layout) {
  const want = { id: number("worker", workers(layout) - 1n), count: number("count", maxIDs, 1n), time: null };
  const time = find("time");
  setError(time, null);
  try {
    if (time.value.trim() !== "") {
      want.time = parseTime(time.value);
      compose(layout, { time: want.time });
    }
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    setError(time, `This ${error.message}.`);
    return null;
  }
  if (want.id === null || want.count === null) return null;
  want.datacenter = want.id >> BigInt(layout.workerBits);
  want.worker = want.id - (want.datacenter << BigInt(layout.workerBits));
  const limit = want.time === null ? atOnce(layout, maxIDs) : perTick(layout);
  if (want.count > limit) {
    setError(find("count"), want.time === null ? `A worker of this layout generates at most ${grouped(limit)} in a second.` : `Only ${grouped(limit)} fit in one tick.`);
    return null;
  }
  return want;
}

// inPage composes ids in this page.
function inPage(layout, want) {
  const ids = [];
  const perTickOf = perTick(layout);
  if (want.time !== null) {
    for (let n = 0n; n < want.count; n++) ids.push(compose(layout, { ...want, sequence: n }));
    return ids;
  }
  const first = compose(layout, { ...want, time: layout.epoch * 1_000_000n });
  const key = [layout.epoch, layout.tick, lowBits(layout), layout.sequenceBits, layout.sequenceFirst, first].join();
  const now = (BigInt(Date.now()) - layout.epoch) / layout.tick;
  if (BigInt(Date.now()) < layout.epoch) throw new FieldError("epoch", layout.epoch, "The layout’s epoch is ahead of this computer’s clock");
  let [tick, sequence] = cursors.get(key) ?? [now, 0n];
  if (now > tick) [tick, sequence] = [now, 0n];
  for (let n = 0n; n < want.count; n++) {
    const time = layout.epoch + tick * layout.tick;
    if (time >= end(layout)) throw new FieldError("time", time, "The layout has ended");
    ids.push(compose(layout, { ...want, time: time * 1_000_000n, sequence }));
    if (++sequence === perTickOf) [tick, sequence] = [tick + 1n, 0n];
  }
  cursors.set(key, [tick, sequence]);
  return ids;
}

const timeout = 15; // seconds

// byServer requests ids from the server.
async function byServer(layout, want) {
  const query = new URLSearchParams();
  saveLayout(query);
  query.set("worker", want.id);
  query.set("n", want.count);
  if (want.time !== null) query.set("time", find("time").value.trim());
  const answer = await fetch(`api/ids?${query}`, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(timeout * 1000) });
  const body = await answer.json();
  if (!answer.ok) throw new FieldError("server", answer.status, body.error.fields.map((f) => `${[f.field, f.value].filter(Boolean).join(" ")}: ${f.reason}`).join("; "));
  return body.ids.map(({ id }) => BigInt(id));
}

function show(want, ids, fromServer) {
  const text = ids.join("\n");
  const made = want.time !== null
    ? "Made for the given time: the same ids each time, as bounds and test data."
    : fromServer
      ? "From this server’s generator. It repeats none while it runs; another process with the same worker ID may."
      : "Made in this page, for tests.";
  const area = el("textarea", { id: "generated", readonly: true, rows: Math.min(ids.length, 8), spellcheck: "false", "aria-label": "Generated ids" });
  area.value = text;
  find("generate-result").replaceChildren(
    el("p", {}, el("strong", {}, ids.length === 1 ? "One id." : `${grouped(ids.length)} ids.`), " ", made),
    area,
    el("p", { class: "row actions" }, copyButton(ids.length === 1 ? "the id" : "the ids", () => text),
      el("button", { type: "button", id: "decode-these", onclick: () => {
        find("ids").value = text;
        find("format").value = "auto";
        fix(); // the layout is known, and need not be recognized
        find("ids").dispatchEvent(new Event("input", { bubbles: true }));
        decodeThese();
        find("ids").focus();
      } }, "Decode")));
  announce(ids.length === 1 ? `Generated ${ids[0]}` : `Generated ${ids.length} ids`);
}

let shownLayout = null; // of the ids that are shown
let waiting = false; // for the server

function forget() {
  shownLayout = null;
  find("generate-result").replaceChildren();
}

function wait(yes) {
  waiting = yes;
  find("generate-button").setAttribute("aria-disabled", String(yes)); // keeps the focus
  find("generate-button").textContent = yes ? "Waiting for the server…" : "Generate";
}

async function generate() {
  if (waiting) return;
  const layout = current();
  const failed = find("generate-error");
  forget(); // old ids next to an error would look new
  failed.textContent = layout ? "" : "The layout is not valid yet.";
  if (!layout) return;
  const want = readForm(layout);
  if (!want) {
    find("generate-form").querySelector("[aria-invalid]")?.focus();
    return;
  }
  const fromServer = find("by-server").checked;
  try {
    if (fromServer) wait(true);
    const ids = fromServer ? await byServer(layout, want) : inPage(layout, want);
    if (!current() || !same(layout, current())) {
      failed.textContent = "The layout changed before the server responded.";
      return;
    }
    show(want, ids, fromServer);
    shownLayout = layout;
  } catch (error) {
    if (error instanceof FieldError) failed.textContent = sentence(error.message);
    else if (error.name === "TimeoutError") failed.textContent = `The server did not respond within ${timeout} seconds.`;
    else if (error instanceof TypeError || error instanceof SyntaxError) failed.textContent = "The server does not respond, or not in JSON.";
    else throw error;
  } finally {
    if (fromServer) wait(false);
  }
}

// example generates what the form says, if the page does that and shows nothing yet.
export function example() {
  if (find("by-page").checked && find("generate-result").childElementCount === 0) generate();
}

// adapt shows the fields of the layout and removes ids of another one.
export function adapt() {
  const layout = current();
  if (!layout) return;
  if (shownLayout && !same(shownLayout, layout)) forget();
  const last = workers(layout) - 1n;
  find("worker-hint").textContent = last === 0n ? "This layout has no worker: 0." : `0 to ${grouped(last)}.${find("worker").value.trim() === "0" ? " 0 is for tests." : ""}`;
}

let decodeThese;

// start makes the form work. show opens the tool that decodes.
export function start(show) {
  decodeThese = show;
  find("generate-form").addEventListener("submit", (event) => {
    event.preventDefault();
    generate();
  });
}
