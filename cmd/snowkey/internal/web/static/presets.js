// The presets of package core. A test compares them with /api/layouts. The names of fields are
// those of the system that the preset is of.
//
// since is the day of a preset's first IDs, where that is not the day of its epoch:
//   twitter, discord, instagram, classic2015: the epoch. Twitter's is the day on which Snowflake
//     began: status 347721978351616 is of the next day. Discord's API reference says "the first
//     second of 2015", Instagram's article "Sharding & IDs at Instagram" (2011) has its epoch.
//   mastodon: March 2016, when its development began (Wikipedia). Snowflake IDs came in 2017
//     (mastodon/mastodon#4801), but older posts that a server fetches get IDs of their own time
//     (#5260).
//   sonyflake: the first commit of github.com/sony/sonyflake, 2015-06-01. Its epoch is earlier.
//   seconds, javascript-safe: ours. 2026, the year of snowkey's first release. IDs that were
//     backfilled can have earlier times; for them the preset must be chosen.
const ms = { tick: 1n, rollbackBits: 0, datacenterBits: 0, workerBits: 0, sequenceBits: 0, sequenceFirst: false, unsigned: false };
const classic = { ...ms, timeBits: 41, datacenterBits: 5, workerBits: 5, sequenceBits: 12 };

export const presets = [
  { name: "twitter", title: "Twitter", layout: { ...classic, epoch: 1288834974657n } },
  { name: "discord", title: "Discord", layout: { ...classic, epoch: 1420070400000n }, fields: { datacenter: "Worker", worker: "Process", sequence: "Increment" } },
  { name: "instagram", title: "Instagram", layout: { ...ms, epoch: 1314220021721n, timeBits: 40, workerBits: 13, sequenceBits: 10 }, fields: { worker: "Shard" } },
  { name: "mastodon", title: "Mastodon", layout: { ...ms, epoch: 0n, timeBits: 47, sequenceBits: 16 }, since: 1456790400000n },
  { name: "sonyflake", title: "Sonyflake", layout: { ...ms, epoch: 1409529600000n, tick: 10n, timeBits: 39, sequenceBits: 8, workerBits: 16, sequenceFirst: true }, since: 1433116800000n, fields: { worker: "Machine" } },
  { name: "classic2015", title: "Classic of 2015", layout: { ...classic, epoch: 1420041600000n } },
  { name: "seconds", title: "Seconds", layout: { ...ms, epoch: 1577836800000n, tick: 1000n, timeBits: 32, workerBits: 10, sequenceBits: 21 }, since: 1767225600000n },
  { name: "javascript-safe", title: "Safe for JavaScript", layout: { ...ms, epoch: 1577836800000n, timeBits: 41, workerBits: 6, sequenceBits: 6 }, since: 1767225600000n },
];

export const same = (a, b) => Object.keys(a).every((key) => a[key] === b[key]);
export const presetOf = (layout) => presets.find((p) => same(p.layout, layout));

const common = { unused: "Unused", time: "Time", rollback: "Rollback", datacenter: "Datacenter", worker: "Worker", sequence: "Sequence" };

// titlesOf returns the titles of a layout's fields.
export const titlesOf = (layout) => ({ ...common, ...presetOf(layout)?.fields });
