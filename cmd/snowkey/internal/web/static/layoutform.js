// The layout that all tools of the page use: a preset, or fields of one's own.
import { Fault, faults, figures, fields, widthNames } from "./layout.js";
import { presetOf, presets } from "./presets.js";
import { formatTime, parseTime, utc } from "./times.js";
import { complain, el, find, people, terms } from "./dom.js";
import { relative } from "./relative.js";
import { ruler } from "./bits.js";

const inputs = {
  timeBits: "time_bits", rollbackBits: "rollback_bits", datacenterBits: "datacenter_bits", workerBits: "worker_bits", sequenceBits: "sequence_bits",
};
const flags = { sequenceFirst: "sequence_first", unsigned: "unsigned" };
const all = ["epoch", "tick", ...Object.values(inputs), ...Object.values(flags)];

let layout = presets[0].layout;

// current is the layout, or null while what stands in the fields is none.
export const current = () => layout;

// noLayout stands where something is asked for that no layout can answer.
export const noLayout = () => el("p", { class: "quiet" }, "The layout’s fields make no layout yet.");

function show(l) {
  find("epoch").value = formatTime(l.epoch);
  find("tick").value = String(l.tick);
  for (const [name, id] of Object.entries(inputs)) find(id).value = String(l[name]);
  for (const [name, id] of Object.entries(flags)) find(id).checked = l[name];
}

// whole is what stands in a field that holds a whole number; null if it holds none.
const whole = (id) => (/^\d{1,19}$/.test(find(id).value.trim()) ? find(id).value.trim() : null);

function readFields() {
  const found = [];
  const l = {};
  try {
    const ns = parseTime(find("epoch").value.trim(), "epoch");
    if (ns % 1_000_000n !== 0n) throw new Fault("epoch", find("epoch").value, "must be a whole millisecond");
    l.epoch = ns / 1_000_000n;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    found.push(fault);
    l.epoch = 0n;
  }
  l.tick = BigInt(whole("tick") ?? 0);
  for (const name of widthNames) l[name] = Number(whole(inputs[name]) ?? NaN);
  for (const [name, id] of Object.entries(flags)) l[name] = find(id).checked;
  return [l, [...found, ...faults(l)]];
}

// settle reads the fields and shows what follows from them.
function settle() {
  const [l, found] = readFields();
  for (const id of ["epoch", "tick", ...Object.values(inputs)]) {
    complain(find(id), found.find((f) => f.field === id)?.message);
  }
  const sum = found.find((f) => f.field.includes("+"));
  find("widths-error").textContent = sum ? `The widths ${sum.value}; they ${sum.message}.` : "";
  layout = found.length === 0 ? l : null;
  const preset = layout && presetOf(layout);
  find("preset").value = preset ? preset.name : "custom";
  find("more").hidden = !layout;
  if (!layout) {
    find("ruler").replaceChildren(el("p", { class: "error" }, "These fields make no layout yet: see above."));
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
    ["Worker numbers", people(f.workers)],
    ["Ids per tick and worker", people(f.perTick)],
    ["Ids per second and worker", people(f.perSecond)],
    ["Ids per second in all", people(f.allPerSecond)],
    ["Begins", utc(l.epoch)],
    ["Ends", el("span", { class: expired ? "bad" : undefined }, utc(f.end)), " ", relative(f.end, "quiet")],
    ["Exact in JavaScript", f.unsafe === null ? "always: at most 53 bits" : [`until ${utc(f.unsafe)} `, relative(f.unsafe, "quiet")]].flat(),
  ]);
}

// start fills the list of presets, and calls back whenever the layout has changed.
export function start(changed) {
  find("preset").append(...presets.map((p) => el("option", { value: p.name }, p.title)), el("option", { value: "custom" }, "Your own"));
  find("more").open = matchMedia("(min-width: 56rem)").matches; // on a small screen the tools come first
  find("preset").addEventListener("change", () => {
    complain(find("preset"), null);
    const preset = presets.find((p) => p.name === find("preset").value);
    if (preset) show(preset.layout);
    else {
      find("custom").open = true;
      find("time_bits").focus();
      return;
    }
    settle();
    changed();
  });
  for (const id of all) {
    find(id).addEventListener("input", () => {
      complain(find("preset"), null);
      settle();
      changed();
    });
  }
}

// put writes the layout into a state, as the API's parameters; or what stands in the
// fields, if that is none yet.
export function put(state) {
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

// take shows the layout of a state. What is wrong in it is shown as it would be if
// somebody had typed it.
export function take(state) {
  const name = state.get("preset");
  const preset = presets.find((p) => p.name === name);
  show((preset ?? presets[0]).layout);
  complain(find("preset"), name === null || preset ? null : `The link names “${name.slice(0, 60)}”, which is none of these. What is shown is ${presets[0].title}’s.`);
  const own = all.filter((id) => state.has(id));
  if (!preset && own.some((id) => id.endsWith("_bits"))) for (const id of Object.values(inputs)) find(id).value = state.get(id) ?? "0";
  for (const id of own) {
    const value = state.get(id);
    if (find(id).type === "checkbox") find(id).checked = value === "true";
    else find(id).value = id === "tick" ? value.replace(/ms$/, "") : value;
  }
  settle();
  find("custom").open = !layout || own.length > 0;
}

// limits says which numbers the fields take that depend on the layout.
export function limits() {
  const of = (name) => fields(layout).find((f) => f.name === name)?.max ?? 0n;
  return { worker: of("worker"), datacenter: of("datacenter"), sequence: of("sequence") };
}
