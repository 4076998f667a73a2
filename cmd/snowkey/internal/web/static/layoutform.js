// The layout of all tools of the page: a preset, or custom fields.
import { FieldError, fields, figures, validate, widthNames } from "./layout.js";
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

let layout = presets[0].layout;

// current returns the layout, or null while the fields are invalid.
export const current = () => layout;

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
  find("preset").value = preset ? preset.name : "custom";
  find("more").hidden = !layout;
  if (!layout) {
    find("ruler").replaceChildren(el("p", { class: "error" }, "The layout is not valid yet: see above."));
    find("custom").open = true;
    return;
  }
  const [bars, legend] = ruler(layout);
  find("ruler").replaceChildren(bars);
  find("capacity").replaceChildren(legend, capacity(layout));
}

function capacity(l) {
  const f = figures(l);
  const expired = f.end <= BigInt(Date.now());
  return terms([
    ["Worker IDs", grouped(f.workers)],
    ["IDs per tick and worker", grouped(f.perTick)],
    ["IDs per second and worker", grouped(f.perSecond)],
    ["IDs per second in total", grouped(f.allPerSecond)],
    ["Starts", utc(l.epoch)],
    ["Ends", el("span", { class: expired ? "bad" : undefined }, utc(f.end)), " ", relative(f.end, "quiet")],
    ["Exact in JavaScript", f.unsafe === null ? "always: at most 53 bits" : [`until ${utc(f.unsafe)} `, relative(f.unsafe, "quiet")]].flat(),
  ]);
}

// start fills the list of presets, and calls back when the layout changes.
export function start(changed) {
  find("preset").append(...presets.map((p) => el("option", { value: p.name }, p.title)), el("option", { value: "custom" }, "Custom"));
  find("more").open = matchMedia("(min-width: 56rem)").matches; // small screens show the tools first
  find("preset").addEventListener("change", () => {
    setError(find("preset"), null);
    const preset = presets.find((p) => p.name === find("preset").value);
    if (preset) show(preset.layout);
    else {
      find("custom").open = true;
      find("time_bits").focus();
      return;
    }
    update();
    changed();
  });
  for (const id of all) {
    find(id).addEventListener("input", () => {
      setError(find("preset"), null);
      update();
      changed();
    });
  }
}

// save writes the layout to a state as parameters of the API, or the fields if they are
// invalid.
export function save(state) {
  if (!layout) {
    for (const id of all) state.set(id, find(id).type === "checkbox" ? String(find(id).checked) : find(id).value.trim().slice(0, 100));
    return;
  }
  const preset = presetOf(layout);
  if (preset) {
    if (preset !== presets[0]) state.set("preset", preset.name);
    return;
  }
  state.set("epoch", formatTime(layout.epoch));
  state.set("tick", `${layout.tick}ms`);
  for (const [name, id] of Object.entries(inputs)) if (layout[name] > 0) state.set(id, layout[name]);
  for (const [name, id] of Object.entries(flags)) if (layout[name]) state.set(id, "true");
}

// load shows the layout of a state, with the errors that typing it would show.
export function load(state) {
  const name = state.get("preset");
  const preset = presets.find((p) => p.name === name?.toLowerCase());
  show((preset ?? presets[0]).layout);
  setError(find("preset"), name === null || preset ? null : `The link names “${name.slice(0, 60)}”, which is not a preset. ${presets[0].title}’s is shown.`);
  const own = all.filter((id) => state.has(id));
  if (!preset && own.some((id) => id.endsWith("_bits"))) for (const id of Object.values(inputs)) find(id).value = state.get(id) ?? "0";
  for (const id of own) {
    const value = state.get(id);
    if (find(id).type === "checkbox") find(id).checked = value === "true";
    else find(id).value = id === "tick" ? value.replace(/ms$/, "") : value;
  }
  update();
  find("custom").open = !layout || own.length > 0;
}

// limits returns the largest values of the fields of an ID.
export function limits() {
  const of = (name) => fields(layout).find((f) => f.name === name)?.max ?? 0n;
  return { worker: of("worker"), datacenter: of("datacenter"), sequence: of("sequence") };
}
