// The presets that ids without a layout may be of, as package describe has it: of those under which the
// times of most are possible, first those under which they are not in the first 60 days either, where few
// ids are. A time is possible if it is not in the first half day, where small numbers are, nor before 2000,
// nor more than a day in the future. The default is the first if none is, or for an id with a prefix.
// Another preset under which all ids have the times of the default, many-workers, is not assumed.
import { allBits, lowBits } from "./layout.js";
import { presets } from "./presets.js";

const candidates = presets.filter((p) => p.name !== "many-workers");
const sample = 500; // of a long list
const day = 86_400_000n;
const year2000 = 946_684_800_000n;

export const isPossible = (l, time, now = BigInt(Date.now())) => time - l.epoch >= day / 2n && time >= year2000 && time <= now + day;

const timeOf = (l, id) => l.epoch + (id >> BigInt(lowBits(l))) * l.tick;

const some = (ids) => {
  const step = Math.max(1, Math.ceil(ids.length / sample));
  return Array.from({ length: Math.ceil(ids.length / step) }, (_, i) => ids[i * step]);
};

// possible returns the ids whose time is possible, of a long list some.
export function possible(l, ids, now = BigInt(Date.now())) {
  return some(ids).filter((id) => id >= 0n && id >> BigInt(allBits(l)) === 0n && isPossible(l, timeOf(l, id), now));
}

// recognize returns the possible presets, the one to assume first.
export function recognize(ids, prefixed = false, now = BigInt(Date.now())) {
  const found = candidates.map((p) => possible(p.layout, ids, now));
  const settled = candidates.map((p, i) => found[i].filter((id) => timeOf(p.layout, id) - p.layout.epoch >= 60n * day));
  const most = (all) => candidates.filter((_, i) => all[i].length === Math.max(1, ...all.map((of) => of.length)));
  const first = prefixed || found.every((of) => of.length === 0) ? candidates.slice(0, 1) : [];
  return [...new Set([...first, ...most(settled), ...most(found)])];
}
