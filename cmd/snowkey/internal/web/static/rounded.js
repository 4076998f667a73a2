// What a number above 2^53 was before it was rounded, as package describe has it.
import { allBits, decode, maxInt64 } from "./layout.js";

const likeliest = 5;

// looksRounded reports whether JavaScript prints the number with these digits.
export const looksRounded = (id) => id >= 1n << 53n && String(Number(id)) === String(id);

// chance is the probability that an id looks so by chance.
export const chance = (id) => (id < 1n << 53n ? 0 : 2 ** (53 - id.toString(2).length));

const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

// rounded returns the ids that a number may have been, or null if it does not look rounded. The best are of
// the worker IDs in use, have a low sequence number, as generators count from 0, and are near.
export function rounded(l, id, inUse) {
  if (!looksRounded(id)) return null;
  const zeros = 10n ** BigInt(String(id).length - 15); // a spreadsheet cuts or rounds to 15 digits
  const sheet = zeros > 10n && id % zeros === 0n;
  let [first, last] = sheet ? [id - zeros / 2n, id + zeros - 1n] : [id, id];
  if (last > maxInt64) last = maxInt64;
  while (!sheet && Number(first - 1n) === Number(id)) first--;
  while (!sheet && last < maxInt64 && Number(last + 1n) === Number(id)) last++;
  const all = [];
  for (let n = first; n <= last && last >> BigInt(allBits(l)) === 0n; n++) {
    const { workerID, sequence } = decode(l, n);
    const rank = l.datacenterBits + l.workerBits > 0 ? sequence : 0n; // without workers it is mostly random
    all.push({ n, workerID, sequence, keys: [inUse.length > 0 && !inUse.includes(workerID) ? 1n : 0n, rank, n > id ? n - id : id - n] });
  }
  all.sort((a, b) => order(a.keys[0], b.keys[0]) || order(a.keys[1], b.keys[1]) || order(a.keys[2], b.keys[2]));
  const likely = all.slice(0, likeliest).map((c) => ({ id: String(c.n), worker_id: Number(c.workerID), sequence: Number(c.sequence) }));
  return { by: sheet ? "spreadsheet" : "javascript", first: String(first), last: String(last), count: Number(last - first) + 1, likely };
}
