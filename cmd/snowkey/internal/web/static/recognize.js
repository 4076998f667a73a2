// The presets that ids without a layout may be of, as package describe has it: of those under which the
// times of most are possible, the first is assumed. A time is possible if it is not in the first half
// day, where small numbers are, nor more than a day in the future. The order begins with the default,
// which is also that of an id with a prefix.
import { allBits, lowBits } from "./layout.js";
import { presets } from "./presets.js";

const sample = 500; // of a long list
const halfDay = 43_200_000n;

function isPossible(l, id, now) {
  if (id < 0n || id >> BigInt(allBits(l)) !== 0n) return false;
  const since = (id >> BigInt(lowBits(l))) * l.tick;
  return since >= halfDay && l.epoch + since <= now + 2n * halfDay;
}

// possible returns the ids whose time is possible, of a long list some.
export function possible(l, ids, now = BigInt(Date.now())) {
  const step = Math.max(1, Math.ceil(ids.length / sample));
  return Array.from({ length: Math.ceil(ids.length / step) }, (_, i) => ids[i * step]).filter((id) => isPossible(l, id, now));
}

// recognize returns the possible presets, the one to assume first.
export function recognize(ids, prefixed = false, now = BigInt(Date.now())) {
  const counts = presets.map((p) => possible(p.layout, ids, now).length);
  const most = prefixed ? 0 : Math.max(...counts);
  return most === 0 ? presets.slice(0, 1) : presets.filter((_, i) => counts[i] === most);
}
