// The layout of all tools of the page: none is chosen at first (auto-detect), then a preset or
// custom fields. While none is chosen, ids are decoded by the preset that is recognized, and
// generated with the first preset. The browser remembers the choice, if it may.
import { FieldError, figures, validate, widthNames } from "./layout.js";
import { presetOf, presets } from "./presets.js";
import { formatTime, parseFixed, utc } from "./times.js";
import { el, find, grouped, setError, terms } from "./dom.js";
import { relative } from "./relative.js";
import { ruler } from "./bits.js";

const inputs = {
  timeBits: "time_bits", rollbackBits: "rollback_bits", datacenterBits: "datacenter_bits", workerBits: "worker_bits", sequenceBits: "sequence_bits",
};
const flags = { sequenceFirst: "sequence_first", unsigned: "unsigned" };
const all = ["epoch", "tick", ...Object.values(inputs), ...Object.values(flags)];
const selects = ["preset", "layout-preset"]; // in the tools that decode and show the layout

let layout = presets[0].layout;
let auto = true;

// isAuto reports whether no layout is chosen.
export const isAuto = () => auto;

// current returns the layout to generate with, or null while the fields are invalid.
export const current = () => layout;

// chosen returns the chosen layout, or null if there is none or its fields are invalid.
export const chosen = () => (auto ? null : layout);

// noLayout replaces results while there is no layout.
export const noLayout = () => el("p", { class: "quiet" }, "The layout is not valid yet.");

function show(l) {
  find("epoch").value = formatTime(l.epoch);
  find("tick").value = String(l.tick);
  for (const [name, id] of Object.entries(inputs)) find(id).value = String(l[name]);
  for (const [name, id] of Object.entries(flags)) find(id).checked = l[name];
}

// whole reads a whole number, or null.
const whole = (id) => (/^\d{1,19}$/.test(find(id).value.trim()) ? find(id).value.trim() : null);

function readFields() {
  const found = [];
  const l = {};
  try {
    const ns = parseFixed(find("epoch").value, "epoch");
    if (ns % 1_000_000n !== 0n) throw new FieldError("epoch", find("epoch").value, "must be a whole millisecond");
    l.epoch = ns / 1_000_000n;
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    found.push(error);
    l.epoch = 0n;
  }
  l.tick = BigInt(whole("tick") ?? 0);
  for (const name of widthNames) l[name] = Number(whole(inputs[name]) ?? NaN);
  for (const [name, id] of Object.entries(flags)) l[name] = find(id).checked;
  return [l, [...found, ...validate(l)]];
}

// update reads the fields and shows the layout.
function update() {
  const [l, found] = readFields();
  for (const id of ["epoch", "tick", ...Object.values(inputs)]) {
    const wrong = found.find((f) => f.field === id);
    setError(find(id), wrong && `This ${wrong.message}.`);
  }
  const sum = found.find((f) => f.field.includes("+"));
  find("widths-error").textContent = sum ? `The widths ${sum.value}; they ${sum.message}.` : "";
  layout = found.length === 0 ? l : null;
  const preset = layout && presetOf(layout);
  for (const id of selects) find(id).value = auto ? "auto" : preset ? preset.name : "custom";
  for (const node of document.querySelectorAll(".using strong")) node.textContent = !layout ? "not valid yet" : preset ? preset.title : "custom";
  find("capacity").hidden = !layout;
  if (!layout) {
    find("ruler").replaceChildren(el("p", { class: "error" }, "The layout is not valid yet."));
    return;
  }
  find("ruler").replaceChildren(...ruler(layout));
  find("capacity").replaceChildren(capacity(layout));
}

function capacity(l) {
  const f = figures(l);
  const expired = f.end <= BigInt(Date.now());
  return terms([
    ["Worker IDs", grouped(f.workers)],
    ["Ids per tick, each worker", grouped(f.perTick)],
    ["Ids per second, each worker", grouped(f.perSecond)],
    ["Ids per second, all workers", grouped(f.allPerSecond)],
    ["Starts", utc(l.epoch)],
    ["Ends", el("span", { class: expired ? "bad" : undefined }, utc(f.end)), " ", relative(f.end, "quiet")],
    ["Safe in JavaScript", f.unsafe === null ? "always: at most 53 bits" : [`until ${utc(f.unsafe)} `, relative(f.unsafe, "quiet")]].flat(),
  ]);
}

let changed;

function remember() {
  if (!layout) return;
  const choice = new URLSearchParams();
  save(choice);
  try {
    localStorage.setItem("layout", choice);
  } catch {
    // it may be forbidden, or full
  }
}

// recall adds the remembered choice to a state that has none, and reports whether it did.
export function recall(state) {
  if (["preset", ...all].some((name) => state.has(name))) return false;
  let choice = "";
  try {
    choice = localStorage.getItem("layout") ?? "";
  } catch {
    // as above
  }
  for (const [name, value] of new URLSearchParams(choice)) state.set(name, value);
  return choice !== "";
}

// choose chooses a preset, or none with "auto".
export function choose(name) {
  auto = name === "auto";
  show((presets.find((p) => p.name === name) ?? presets[0]).layout);
  for (const id of selects) setError(find(id), null);
  update();
  remember();
  changed();
}

// fix chooses the layout that is used to generate.
export function fix() {
  auto = false;
  update();
}

// start fills the lists of presets, and calls back when the layout changes, or when it is to be
// entered.
export function start(onChange, enter) {
  changed = onChange;
  for (const select of selects.map(find)) {
    select.append(el("option", { value: "auto" }, "auto-detect"), ...presets.map((p) => el("option", { value: p.name }, p.title)), el("option", { value: "custom" }, "Custom…"));
    select.addEventListener("change", () => {
      if (select.value !== "custom") {
        choose(select.value);
        return;
      }
      update(); // the layout has not changed yet
      enter();
      find("time_bits").focus();
    });
  }
  for (const id of all) {
    find(id).addEventListener("input", () => {
      auto = false;
      for (const each of selects) setError(find(each), null);
      update();
      remember();
      changed();
    });
  }
}

// save writes the choice to a state: nothing, a preset, or the fields, also if they are invalid.
export function save(state) {
  if (auto) return;
  const preset = layout && presetOf(layout);
  if (preset) state.set("preset", preset.name);
  else if (layout) query(state);
  else for (const id of all) state.set(id, find(id).type === "checkbox" ? String(find(id).checked) : find(id).value.trim().slice(0, 100));
}

// query writes a valid layout as parameters of the API.
export function query(state) {
  state.set("epoch", formatTime(layout.epoch));
  state.set("tick", `${layout.tick}ms`);
  for (const [name, id] of Object.entries(inputs)) if (layout[name] > 0) state.set(id, layout[name]);
  for (const [name, id] of Object.entries(flags)) if (layout[name]) state.set(id, "true");
}

// load shows the layout of a state, with the errors that typing it would show.
export function load(state) {
  const name = state.get("preset");
  const preset = presets.find((p) => p.name === name?.toLowerCase());
  const own = all.filter((id) => state.has(id));
  auto = !preset && own.length === 0;
  show((preset ?? presets[0]).layout);
  for (const id of selects) setError(find(id), name === null || name === "auto" || preset ? null : `The link names “${name.slice(0, 60)}”, which is not a preset.`);
  if (!preset && own.some((id) => id.endsWith("_bits"))) for (const id of Object.values(inputs)) find(id).value = state.get(id) ?? "0";
  for (const id of own) {
    const value = state.get(id);
    if (find(id).type === "checkbox") find(id).checked = value === "true";
    else find(id).value = id === "tick" ? value.replace(/ms$/, "") : value;
  }
  update();
}
