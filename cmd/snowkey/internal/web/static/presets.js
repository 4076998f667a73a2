// The presets of package flagval. A test compares them with /api/layouts. The names of fields are
// those of the system that the preset is of.
const ms = { tick: 1n, rollbackBits: 0, datacenterBits: 0, workerBits: 0, sequenceBits: 0, sequenceFirst: false, unsigned: false };
const classic = { ...ms, timeBits: 41, datacenterBits: 5, workerBits: 5, sequenceBits: 12 };

export const presets = [
  { name: "twitter", title: "snowkey default (Twitter)", layout: { ...classic, epoch: 1288834974657n } },
  { name: "discord", title: "Discord", layout: { ...classic, epoch: 1420070400000n }, fields: { datacenter: "Worker", worker: "Process", sequence: "Increment" } },
  { name: "instagram", title: "Instagram", layout: { ...ms, epoch: 1314220021721n, timeBits: 40, workerBits: 13, sequenceBits: 10 }, fields: { worker: "Shard" } },
  { name: "mastodon", title: "Mastodon", layout: { ...ms, epoch: 0n, timeBits: 47, sequenceBits: 16 } },
  { name: "sonyflake", title: "Sonyflake", layout: { ...ms, epoch: 1409529600000n, tick: 10n, timeBits: 39, sequenceBits: 8, workerBits: 16, sequenceFirst: true }, fields: { worker: "Machine" } },
  { name: "tsid", title: "TSID", layout: { ...ms, epoch: 1577836800000n, timeBits: 41, workerBits: 10, sequenceBits: 12 }, fields: { worker: "Node", sequence: "Counter" } },
  { name: "pgedge", title: "pgEdge", layout: { ...ms, epoch: 1672531200000n, timeBits: 41, sequenceBits: 12, workerBits: 10, sequenceFirst: true }, fields: { worker: "Node", sequence: "Count" } },
  { name: "classic2015", title: "Classic of 2015", layout: { ...classic, epoch: 1420041600000n } },
  { name: "seconds", title: "Seconds", layout: { ...ms, epoch: 1577836800000n, tick: 1000n, timeBits: 32, workerBits: 10, sequenceBits: 21 } },
  { name: "many-workers", title: "Many workers", layout: { ...ms, epoch: 1288834974657n, timeBits: 41, workerBits: 16, sequenceBits: 6 } },
  { name: "javascript-safe", title: "Safe for JavaScript", layout: { ...ms, epoch: 1577836800000n, timeBits: 41, workerBits: 6, sequenceBits: 6 } },
  { name: "yitter", title: "yitter", layout: { ...ms, epoch: 1582136402000n, timeBits: 41, workerBits: 6, sequenceBits: 6 } },
  { name: "typeid", title: "TypeID of 64 bits", layout: { ...ms, epoch: 0n, timeBits: 48, sequenceBits: 15 }, fields: { sequence: "Random" } },
  { name: "linkedin", title: "LinkedIn", layout: { ...ms, epoch: 0n, timeBits: 41, sequenceBits: 22 }, fields: { sequence: "Others" } },
  { name: "tiktok", title: "TikTok", layout: { ...ms, epoch: 0n, tick: 1000n, timeBits: 31, sequenceBits: 32 }, fields: { sequence: "Others" } },
  { name: "weibo", title: "Weibo", layout: { ...ms, epoch: 515483463000n, tick: 1000n, timeBits: 31, sequenceBits: 22 }, fields: { sequence: "Others" } },
];

export const same = (a, b) => Object.keys(a).every((key) => a[key] === b[key]);
export const presetOf = (layout) => presets.find((p) => same(p.layout, layout));

const common = { unused: "Unused", time: "Time", rollback: "Rollback", workerID: "Worker ID", datacenter: "Datacenter", worker: "Worker ID", sequence: "Sequence" };

// titlesOf returns the titles of a layout's fields. A worker ID may have two of them.
export const titlesOf = (layout) => ({ ...common, ...(layout.datacenterBits > 0 && { worker: "Machine" }), ...presetOf(layout)?.fields });
