// The arithmetic of layouts, as in package core: pure, exact, in BigInt.
//
// A layout is { epoch, tick, timeBits, rollbackBits, datacenterBits, workerBits,
// sequenceBits, sequenceFirst, unsigned }, its epoch and tick BigInts of milliseconds.
// Ids are signed BigInts of 64 bits, as in a database. Times that are read are BigInts of
// nanoseconds since 1970, those of ids of milliseconds.

export const maxInt64 = (1n << 63n) - 1n;
const nsPerMs = 1_000_000n;

// A FieldError reports a wrong value under the name that the API has for it.
export class FieldError extends Error {
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

// The starts of the years 1 and 10000, between which an epoch must be.
const yearOne = -62135596800000n;
const yearTenThousand = 253402300800000n;

// validate lists all errors in a layout.
export function validate(l) {
  const all = [];
  if (l.epoch <= yearOne || l.epoch >= yearTenThousand) {
    all.push(new FieldError("epoch", l.epoch, "must be in the years 1 to 9999"));
  }
  if (l.tick < 1n || l.tick > maxInt64 / nsPerMs) {
    all.push(new FieldError("tick", l.tick, "must be a whole number of milliseconds, at least 1ms"));
  }
  widthNames.forEach((name, i) => {
    if (!Number.isInteger(l[name]) || l[name] < 0 || l[name] > 64) {
      all.push(new FieldError(apiWidths[i], l[name], "must be a whole number from 0 to 64"));
    }
  });
  if (all.length > 0) return all;
  if (l.timeBits === 0) all.push(new FieldError("time_bits", 0, "must be at least 1"));
  const limit = l.unsigned ? 64 : 63;
  const sum = allBits(l);
  if (sum > limit) {
    const widths = widthNames.map((name) => l[name]).join("+");
    all.push(new FieldError(apiWidths.join("+"), `${widths} = ${sum}`, `must be at most ${limit}`));
  } else if (l.timeBits > 0 && (greatest(l.timeBits) * l.tick) / 1000n >= 1n << 60n) {
    all.push(new FieldError("time_bits", l.timeBits, `must be lower: ${l.timeBits} bits of ${l.tick}ms reach farther than any time`));
  }
  if (l.timeBits === 1 && l.sequenceBits === 63) {
    all.push(new FieldError("sequence_bits", 63, "must be at most 62, with one bit of time"));
  }
  return all;
}

// fields lists the fields with a width, from high to low, and their lowest bit.
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

const shapes = new WeakMap(); // of layouts, whose fields are read for each id
function shapeOf(l) {
  if (!shapes.has(l)) {
    const known = fields(l).filter((f) => f.name !== "unused").map((f) => [f.name === "time" ? "tick" : f.name, BigInt(f.shift), f.max]);
    shapes.set(l, { bits: BigInt(allBits(l)), workerBits: BigInt(l.workerBits), known });
  }
  return shapes.get(l);
}

const shiftOf = (l, name) => BigInt(fields(l).find((f) => f.name === name)?.shift ?? 0);

export const end = (l) => l.epoch + (1n << BigInt(l.timeBits)) * l.tick;

// decode decodes an id: its fields, and the worker ID, which is its datacenter and its worker within. One that does not fit the layout is a FieldError.
export function decode(l, id) {
  if (id < 0n && !l.unsigned) throw new FieldError("id", id, "is not an id of this layout: must not be negative");
  const bits = BigInt.asUintN(64, id);
  const shape = shapeOf(l);
  if (bits >> shape.bits !== 0n) {
    throw new FieldError("id", id, `is not an id of this layout: only the lowest ${allBits(l)} bits are used`);
  }
  const parts = { rollback: 0n, datacenter: 0n, worker: 0n, sequence: 0n, tick: 0n };
  for (const [name, shift, max] of shape.known) parts[name] = (bits >> shift) & max;
  parts.workerID = (parts.datacenter << shape.workerBits) | parts.worker;
  parts.time = l.epoch + parts.tick * l.tick;
  return parts;
}

function checkTime(l, field, ns) {
  if (ns < l.epoch * nsPerMs || ns >= end(l) * nsPerMs) {
    throw new FieldError(field, ns, "is outside the layout's time, from its epoch to before its end");
  }
}

const tickOf = (l, ns) => (floorDiv(ns, nsPerMs) - l.epoch) / l.tick;

// compose composes an id. parts.time is in nanoseconds; missing fields are 0.
export function compose(l, parts) {
  checkTime(l, "time", parts.time);
  let bits = tickOf(l, parts.time) << shiftOf(l, "time");
  for (const name of ["rollback", "datacenter", "worker", "sequence"]) {
    const value = parts[name] ?? 0n;
    const max = greatest(l[name + "Bits"]);
    if (value < 0n || value > max) throw new FieldError(name, value, `0 to ${max} fit`);
    bits |= value << shiftOf(l, name);
  }
  return BigInt.asIntN(64, bits);
}

// firstAt returns the smallest id whose time is ns or later.
export function firstAt(l, ns, field = "from") {
  checkTime(l, field, ns);
  let tick = tickOf(l, ns);
  if ((l.epoch + tick * l.tick) * nsPerMs < ns) tick++;
  if (tick > greatest(l.timeBits)) throw new FieldError(field, ns, "is after the layout's last tick");
  return BigInt.asIntN(64, tick << shiftOf(l, "time"));
}

// range returns the bounds for WHERE id >= min AND id < max. Without `to`, max is null.
export function range(l, from, to) {
  if (to === null) {
    const min = firstAt(l, from);
    if (l.unsigned && allBits(l) === 64 && min >= 0n) {
      throw new FieldError("to", "", "must be given: later ids of this layout are negative");
    }
    return { min, max: null };
  }
  if (to < from) throw new FieldError("from", from, "is after the other end");
  const min = firstAt(l, from);
  const max = firstAt(l, to, "to");
  if (min >= 0n && max < 0n) {
    throw new FieldError("to", to, `exceeds ${maxInt64}, after which ids are negative: split the range there`);
  }
  return { min, max };
}

const atMost = (n) => (n > maxInt64 ? maxInt64 : n);

export const workers = (l) => atMost(1n << BigInt(l.datacenterBits + l.workerBits));
export const perTick = (l) => atMost(1n << BigInt(l.sequenceBits));

// perSecond is a decimal, truncated to six places.
function perSecond(n, tick) {
  const millionths = (n * 1_000_000_000n) / tick;
  const part = String(1_000_000n + (millionths % 1_000_000n)).slice(1).replace(/0+$/, "");
  return String(millionths / 1_000_000n) + (part && "." + part);
}

// figures is the capacity of a layout.
export function figures(l) {
  const low = lowBits(l);
  let unsafe = null; // the first tick whose largest id exceeds 2^53-1
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

// atOnce is the number of ids that a worker generates in about a second, up to a limit.
export function atOnce(l, limit = 10_000n) {
  const ticks = 1000n / l.tick || 1n;
  const n = perTick(l) * ticks;
  return n < limit ? n : limit;
}
