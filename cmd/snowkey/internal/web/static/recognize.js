// Which presets IDs may be of. The time decides what is plausible: it is not in the future, and
// not before the preset's first day. Several presets can be plausible, so points order them, the
// fewest first: points are -log of how likely the preset is to have made just these IDs (naive
// Bayes). All times since the first day are equally likely, so a preset of few ticks and bits,
// such as Mastodon, is likely where it is possible at all. The fields speak for those systems
// whose known IDs have similar ones.
import { FieldError, decode, fields } from "./layout.js";
import { presets } from "./presets.js";

const sample = 500; // of a long list

// learned says of each field how many known IDs of that system have a value of 0, 1, 2, … bits.
// The IDs are one half of testdata/origins.tsv; a test counts them again, and tries the result on
// the other half.
export const learned = {
  twitter: { datacenter: [0, 14, 0, 5, 33, 0], worker: [1, 6, 8, 14, 8, 15], sequence: [28, 8, 3, 2, 3, 2, 1, 0, 5, 0, 0, 0, 0] },
  discord: { datacenter: [5, 12, 7, 2, 0, 0], worker: [19, 1, 3, 2, 1, 0], sequence: [5, 2, 1, 0, 4, 6, 4, 3, 1, 0, 0, 0, 0] },
  instagram: { worker: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 8, 3, 0], sequence: [0, 0, 0, 0, 0, 0, 0, 1, 2, 5, 7] },
  mastodon: { sequence: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 2, 8] },
};

// prior is how likely a preset is before an ID is seen, beside 1 for the systems of which most
// pasted IDs are. These numbers are chosen, not fitted: IDs of other generators, ours among them,
// seldom leave their program, and those of classic2015 differ from Discord's by 8 hours only.
const prior = { sonyflake: 0.1, classic2015: 0.01, seconds: 0.1, "javascript-safe": 0.1 };

// near is how many times as likely the first preset may be without others being named beside it:
// enough for each ID of the fitting half that is read wrongly.
const near = Math.log(8);

// The first IDs of a preset whose first day is not known better: half a day after the epoch, before
// which are small numbers that are rather counters, or times in milliseconds, than IDs.
const halfDay = 43_200_000n;
const since = (p) => p.since ?? p.layout.epoch + halfDay;

const bitsOf = (value) => (value === 0n ? 0 : value.toString(2).length);

// unlikely returns the points for a field's value. Without known IDs, all values are equally likely;
// only a sequence that begins at 0 in each tick is like that of Twitter, where it does too.
function unlikely(preset, field, value) {
  const counts = learned[preset.name]?.[field.name] ?? (field.name === "sequence" ? learned.twitter.sequence : null);
  if (!counts) return field.bits * Math.LN2;
  const bits = bitsOf(value);
  const all = counts.reduce((sum, n) => sum + n + 1, 0); // 1 more of each: nothing is impossible
  return Math.log(all / ((counts[bits] ?? 0) + 1)) + Math.max(0, bits - 1) * Math.LN2;
}

function attempt(preset, ids, now) {
  const found = { preset, plausible: 0, points: -Math.log(prior[preset.name] ?? 1), first: null, last: null, why: "" };
  const low = fields(preset.layout).filter((f) => f.name !== "unused" && f.name !== "time");
  const ticks = Math.log(Number((now - since(preset)) / preset.layout.tick + 1n));
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
      found.points += low.reduce((sum, f) => sum + unlikely(preset, f, d[f.name]), ticks);
    }
  }
  return found;
}

// alike returns the presets of a ranking that are nearly as likely as the first.
export const alike = ([first, ...rest]) => rest.filter((f) => f.plausible > 0 && f.plausible === first.plausible && f.points - first.points < near);

// recognize orders the presets for IDs of one layout. Each has its number of plausible IDs of
// those looked at, the first and the last time, and why an ID is not plausible.
export function recognize(ids, now = BigInt(Date.now())) {
  const step = Math.max(1, Math.ceil(ids.length / sample));
  const some = Array.from({ length: Math.ceil(ids.length / step) }, (_, i) => ids[i * step]);
  return presets.map((p) => attempt(p, some, now)).sort((a, b) => b.plausible - a.plausible || a.points - b.points);
}
