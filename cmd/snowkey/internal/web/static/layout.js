// The arithmetic of layouts, as package core does it: pure, exact, in BigInt.
//
// A layout is { epoch, tick, timeBits, rollbackBits, datacenterBits, workerBits,
// sequenceBits, sequenceFirst, unsigned }, its epoch and tick BigInts of milliseconds.
// Ids are BigInts of 64 bits with a sign, as a database has them. Instants that somebody
// gives are BigInts of nanoseconds since 1970, those of ids of milliseconds.

const maxInt64 = (1n << 63n) - 1n;
const nsPerMs = 1_000_000n;

// What is wrong with a value or a layout, named as the API names it.
export class Fault extends Error {
  constructor(field, value, reason) {
    super(reason);
    this.field = field;
    this.value = String(value);
  }
}

export const widthNames = ["timeBits", "rollbackBits", "datacenterBits", "workerBits", "sequenceBits"];
const apiWidths = ["time_bits", "rollback_bits", "datacenter_bits", "worker_bits", "sequence_bits"];

export const floorDiv = (a, b) => (a < 0n && a % b !== 0n ? a / b - 1n : a / b);
const greatest = (bits) => (1n << BigInt(bits)) - 1n;

export const lowBits = (l) => l.rollbackBits + l.datacenterBits + l.workerBits + l.sequenceBits;
export const allBits = (l) => l.timeBits + lowBits(l);

// The instants at which the years 1 and 10000 begin: an epoch lies after and before.
const yearOne = -62135596800000n;
const yearTenThousand = 253402300800000n;

// faults lists all that is wrong with a layout.
export function faults(l) {
  const all = [];
  if (l.epoch <= yearOne || l.epoch >= yearTenThousand) {
    all.push(new Fault("epoch", l.epoch, "must lie in the years 1 to 9999"));
  }
  if (l.tick < 1n || l.tick > maxInt64 / nsPerMs) {
    all.push(new Fault("tick", l.tick, "must be a whole number of milliseconds, at least 1ms"));
  }
  widthNames.forEach((name, i) => {
    if (!Number.isInteger(l[name]) || l[name] < 0 || l[name] > 64) {
      all.push(new Fault(apiWidths[i], l[name], "must be a whole number from 0 to 64"));
    }
  });
  if (all.length > 0) return all;
  if (l.timeBits === 0) all.push(new Fault("time_bits", 0, "must be at least 1"));
  const limit = l.unsigned ? 64 : 63;
  const sum = allBits(l);
  if (sum > limit) {
    const widths = widthNames.map((name) => l[name]).join("+");
    all.push(new Fault(apiWidths.join("+"), `${widths} = ${sum}`, `must be at most ${limit}`));
  } else if (l.timeBits > 0 && (greatest(l.timeBits) * l.tick) / 1000n >= 1n << 60n) {
    all.push(new Fault("time_bits", l.timeBits, `of ${l.tick}ms ticks reach farther than a time can say`));
  }
  if (l.timeBits === 1 && l.sequenceBits === 63) {
    all.push(new Fault("sequence_bits", 63, "must be at most 62 beside one bit of time"));
  }
  return all;
}

// fields lists the fields that have a width, from high to low, with their lowest bit.
export function fields(l) {
  const rollback = ["rollback", l.rollbackBits];
  const workers = [["datacenter", l.datacenterBits], ["worker", l.workerBits]];
  const sequence = ["sequence", l.sequenceBits];
  const low = l.sequenceFirst ? [rollback, sequence, ...workers] : [rollback, ...workers, sequence];
  const all = [["unused", 64 - allBits(l)], ["time", l.timeBits], ...low];
  let shift = 64;
  return all
    .map(([name, bits]) => ({ name, bits, shift: (shift -= bits), max: greatest(bits) }))
    .filter((f) => f.bits > 0);
}

const shiftOf = (l, name) => BigInt(fields(l).find((f) => f.name === name)?.shift ?? 0);

export const end = (l) => l.epoch + (1n << BigInt(l.timeBits)) * l.tick;

// decompose takes an id apart; one that the layout cannot have made is a Fault.
export function decompose(l, id) {
  if (id < 0n && !l.unsigned) throw new Fault("id", id, "is not of this layout: it must not be negative");
  const bits = BigInt.asUintN(64, id);
  if (bits >> BigInt(allBits(l)) !== 0n) {
    throw new Fault("id", id, `is not of this layout: only its lowest ${allBits(l)} bits are in use`);
  }
  const parts = { rollback: 0n, datacenter: 0n, worker: 0n, sequence: 0n, tick: 0n };
  for (const f of fields(l)) {
    if (f.name === "unused") continue;
    parts[f.name === "time" ? "tick" : f.name] = (bits >> BigInt(f.shift)) & f.max;
  }
  parts.time = l.epoch + parts.tick * l.tick;
  return parts;
}

function checkTime(l, field, ns) {
  if (ns < l.epoch * nsPerMs || ns >= end(l) * nsPerMs) {
    throw new Fault(field, ns, "lies outside the layout's time, from its epoch to before its end");
  }
}

const tickOf = (l, ns) => (floorDiv(ns, nsPerMs) - l.epoch) / l.tick;

// compose puts an id together. parts.time is in nanoseconds; fields left out are 0.
export function compose(l, parts) {
  checkTime(l, "time", parts.time);
  let bits = tickOf(l, parts.time) << shiftOf(l, "time");
  for (const name of ["rollback", "datacenter", "worker", "sequence"]) {
    const value = parts[name] ?? 0n;
    const max = greatest(l[name + "Bits"]);
    if (value < 0n || value > max) throw new Fault(name, value, `0 to ${max} fit`);
    bits |= value << shiftOf(l, name);
  }
  return BigInt.asIntN(64, bits);
}

// firstAt is the least id whose time is ns or later.
export function firstAt(l, ns, field = "from") {
  checkTime(l, field, ns);
  let tick = tickOf(l, ns);
  if ((l.epoch + tick * l.tick) * nsPerMs < ns) tick++;
  if (tick > greatest(l.timeBits)) throw new Fault(field, ns, "lies behind the layout's last tick");
  return BigInt.asIntN(64, tick << shiftOf(l, "time"));
}

// range gives the bounds for WHERE id >= min AND id < max. Without `to`, max is null.
export function range(l, from, to) {
  if (to === null) {
    const min = firstAt(l, from);
    if (l.unsigned && allBits(l) === 64 && min >= 0n) {
      throw new Fault("to", "", "must be given: the later ids of this layout are negative");
    }
    return { min, max: null };
  }
  if (to < from) throw new Fault("from", from, "lies after the other end");
  const min = firstAt(l, from);
  const max = firstAt(l, to, "to");
  if (min >= 0n && max < 0n) {
    throw new Fault("to", to, `its ids pass ${maxInt64} and turn negative, split the range there`);
  }
  return { min, max };
}

const atMost = (n) => (n > maxInt64 ? maxInt64 : n);

export const workers = (l) => atMost(1n << BigInt(l.datacenterBits + l.workerBits));
export const perTick = (l) => atMost(1n << BigInt(l.sequenceBits));

// perSecond is a decimal with at most six places, the rest cut off.
function perSecond(n, tick) {
  const millionths = (n * 1_000_000_000n) / tick;
  const part = String(1_000_000n + (millionths % 1_000_000n)).slice(1).replace(/0+$/, "");
  return String(millionths / 1_000_000n) + (part && "." + part);
}

// figures is what follows from a layout.
export function figures(l) {
  const low = lowBits(l);
  let unsafe = null; // the first tick whose greatest id is above 2^53-1
  if (allBits(l) > 53) unsafe = l.epoch + (low > 53 ? 0n : (1n << BigInt(53 - low)) * l.tick);
  return {
    bits: allBits(l),
    workers: workers(l),
    perTick: perTick(l),
    perSecond: perSecond(perTick(l), l.tick),
    allPerSecond: perSecond(perTick(l) * workers(l), l.tick),
    end: end(l),
    unsafe,
  };
}

// javaScript is what becomes of an id that JSON.parse reads as a number.
export function javaScript(id) {
  const number = Number(id);
  return { safe: Number.isSafeInteger(number) && BigInt(number) === id, exact: BigInt(number) === id, value: number };
}

// atOnce is how many ids a worker makes in about a second, but no more than `most`.
export function atOnce(l, most = 10_000n) {
  const ticks = 1000n / l.tick || 1n;
  const n = perTick(l) * ticks;
  return n < most ? n : most;
}
