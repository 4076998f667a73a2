// Which presets IDs may be of. The time decides what is plausible: it is not in the future, and
// not before the preset's first day. Several presets can be plausible, so points order them, the
// fewest first: the age in years, and how unlikely the fields are.
import { FieldError, decode } from "./layout.js";
import { presets } from "./presets.js";

const year = 31_557_600_000;
const day = 86_400_000n;
const sample = 500; // of a long list

// used is the part of a field's bits that a value uses: small numbers are likely in some fields.
const bitsOf = (value) => (value === 0n ? 0 : value.toString(2).length);
const used = (value, bits) => bitsOf(value) / bits;

// The points for fields. A sequence that begins again in each tick is mostly 0, so up to 24 for
// how much of it is used; Discord's worker and process are small numbers. The constants are for
// systems whose IDs are seldom pasted, and for those whose sequence may be any number.
const unlikely = {
  twitter: (d) => 24 * used(d.sequence, 12),
  discord: (d) => bitsOf(d.datacenter) + bitsOf(d.worker),
  instagram: () => 14,
  mastodon: () => 5,
  sonyflake: (d) => 4 + 24 * used(d.sequence, 8),
  classic2015: (d) => 6 + 24 * used(d.sequence, 12),
  seconds: (d) => 6 + 24 * used(d.sequence, 21),
  "javascript-safe": (d) => 6 + 24 * used(d.sequence, 6),
};

// since is the beginning of the first day after which an ID's time is plausible. In the first day
// after the epoch are small numbers, which are rather counters than IDs.
const since = (p) => p.since ?? p.layout.epoch + day;

function attempt(preset, ids, now) {
  const found = { preset, plausible: 0, points: 0, first: null, last: null, why: "" };
  for (const id of ids) {
    let d;
    try {
      d = decode(preset.layout, id);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      found.why ||= "too large";
      continue;
    }
    if (found.first === null || d.time < found.first) found.first = d.time;
    if (found.last === null || d.time > found.last) found.last = d.time;
    if (d.time > now) found.why ||= "in the future";
    else if (d.time < since(preset)) found.why ||= "too early";
    else {
      found.plausible++;
      found.points += Number(now - d.time) / year + unlikely[preset.name](d);
    }
  }
  found.points = found.plausible > 0 ? found.points / found.plausible : Infinity;
  return found;
}

// recognize orders the presets for IDs of one layout. Each has its number of plausible IDs of
// those looked at, the first and the last time, and why an ID is not plausible.
export function recognize(ids, now = BigInt(Date.now())) {
  const step = Math.max(1, Math.ceil(ids.length / sample));
  const some = Array.from({ length: Math.ceil(ids.length / step) }, (_, i) => ids[i * step]);
  return presets.map((p) => attempt(p, some, now)).sort((a, b) => b.plausible - a.plausible || a.points - b.points);
}
