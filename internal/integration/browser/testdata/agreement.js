// Runs in the page. It calls the API and the page's own modules.
const [L, T, I, P, J] = await Promise.all(["layout", "times", "idtext", "presets", "describe"].map((name) => import(`./${name}.js`)));

// mulberry32: the same seed, the same questions.
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

async function compare(seed, layouts, idsEach) {
  const r = random(seed);
  const below = (n) => Math.floor(r() * n);
  const big = (bits) => {
    let n = 0n;
    for (let i = 0; i < bits; i += 16) n = (n << 16n) | BigInt(below(65536));
    return n & ((1n << BigInt(bits)) - 1n);
  };
  const result = { Asked: 0, Ids: 0, Refused: 0, Differ: [] };
  const text = (v) => JSON.stringify(v, (_, x) => (typeof x === "bigint" ? String(x) : x));
  const differ = (what, ours, theirs) => {
    if (ours !== theirs) result.Differ.push(`${what}: the page says ${ours}, the API ${theirs}`);
  };
  async function ask(path, query, ids = []) {
    result.Asked++;
    const answer = await fetch(`api/${path}?${new URLSearchParams([...new URLSearchParams(query), ...ids.map((id) => ["id", id])])}`);
    if (answer.status === 400) result.Refused++;
    else if (!answer.ok) throw new Error(`${path}?${query}: ${answer.status}`);
    return [answer.ok, await answer.json()];
  }
  // attempt returns a value, or null for what the page rejects.
  function attempt(compute) {
    try {
      return compute();
    } catch (error) {
      if (!(error instanceof L.FieldError)) throw error;
      return null;
    }
  }

  // described is an id of the API without its preset, and what depends on the time of day.
  const described = ({ relative, preset, others, ...d }) => d;

  // The presets.
  const [, all] = await ask("layouts", "");
  differ("presets", P.presets.map((p) => p.name).join(), all.layouts.map((l) => l.preset).join());

  // The edges of what an id can be, and of what is exact in JavaScript.
  for (const [query, l] of [["preset=twitter", P.presets[0].layout], ["epoch=0&tick=1ms&time_bits=42&sequence_bits=22&unsigned=true", { ...P.presets[3].layout, timeBits: 42, sequenceBits: 22, unsigned: true }]]) {
    for (const edge of [0n, 1n, 2n ** 53n, 2n ** 62n, 2n ** 63n, 2n ** 64n].flatMap((n) => [n - 1n, n, n + 1n, -n])) {
      const ours = attempt(() => text(J.describe(l, String(edge), "auto")));
      const [ok, answer] = await ask("parse", `${query}&id=${edge}`);
      differ(`${query} ${edge}`, ours ?? "refused", ok ? text(described(answer.ids[0])) : "refused");
    }
  }

  // Numbers that look rounded, with and without worker IDs in use.
  for (const id of ["2124686841461342200", "2124686841461340000", "1996573624012345600", "304645189412683800", "9007199254740992"]) {
    for (const workers of ["0", "1023,1"]) {
      const ours = text(J.describe(P.presets[0].layout, id, "auto", workers.split(",").map(BigInt)));
      const [, answer] = await ask("parse", `preset=twitter&workers=${workers}&id=${id}`);
      differ(`${id} with ${workers}`, ours, text(described(answer.ids[0])));
    }
  }

  // With a prefix.
  for (const id of ["ord_1qda147xjq4ad", "ORDER_LINE_1QDA147XJQ4AD", "ord_7"]) {
    const ours = attempt(() => text(J.describe(P.presets[0].layout, id, "auto")));
    const [ok, answer] = await ask("parse", `id=${id}`);
    differ(id, ours ?? "refused", ok ? text(described(answer.ids[0])) : "refused");
  }

  for (let round = 0; round < layouts; round++) {
    const most = [63, 63, 20, 14, 14, 30][below(6)];
    const l = below(4) === 0 ? P.presets[below(P.presets.length)].layout : {
      epoch: below(10) === 0 ? -big(45) : big(41), tick: below(3) === 0 ? 1n + big(below(24)) : 1n,
      timeBits: 1 + below(Math.min(64, most + 40)), rollbackBits: below(4) === 0 ? below(6) : 0, datacenterBits: below(most), workerBits: below(most), sequenceBits: below(most),
      sequenceFirst: below(2) === 0, unsigned: below(3) === 0,
    };
    const query = new URLSearchParams({
      epoch: T.formatTime(l.epoch), tick: `${l.tick}ms`, time_bits: l.timeBits, rollback_bits: l.rollbackBits, datacenter_bits: l.datacenterBits,
      worker_bits: l.workerBits, sequence_bits: l.sequenceBits, sequence_first: l.sequenceFirst, unsigned: l.unsigned,
    });
    const name = String(query);
    const faults = L.validate(l);
    const [valid, capacity] = await ask("layouts", query);
    differ(`${name}: faults`, faults.map((f) => f.field).join(" "), valid ? "" : capacity.error.fields.map((f) => f.field).join(" "));
    if (!valid || faults.length > 0) continue;
    const f = L.figures(l);
    const theirs = capacity.layouts[0];
    differ(`${name}: figures`,
      text([f.bits, f.workers, f.perTick, f.perSecond, f.allPerSecond, T.formatTime(f.end), f.unsafe === null ? null : T.formatTime(f.unsafe), T.formatTime(l.epoch)]),
      text([theirs.bits, theirs.worker_ids, theirs.ids_per_tick, theirs.ids_per_second, theirs.all_ids_per_second, theirs.end, theirs.javascript_unsafe_from, theirs.epoch]));

    // Ids decoded, in all bits of the layout.
    const ids = [];
    for (let i = 0; i < idsEach; i++) ids.push(BigInt.asIntN(64, big(L.allBits(l))));
    const [parsed, body] = await ask("parse", query, ids);
    if (!parsed) {
      result.Differ.push(`${name}: the API refuses ${text(body)}`);
      continue;
    }
    ids.forEach((id, i) => {
      result.Ids++;
      const parts = L.decode(l, id);
      differ(`${name}: ${id}`, text(J.describe(l, String(id), "auto")), text(described(body.ids[i])));
      differ(`${name}: ${id} composed again`, String(L.compose(l, { ...parts, time: parts.time * 1_000_000n })), String(id));
    });

    // Two ids in any format, and texts that may be none.
    const spell = () => {
      const id = BigInt.asIntN(64, big(64 - below(8)));
      const forms = ["decimal", "hex", "base32", "base58", "base62"];
      const spelt = I.write(id, forms[below(5)]) ?? String(id);
      return [spelt, `0x${spelt}`, `"${spelt}",`, spelt.slice(1), spelt + below(10), spelt.toLowerCase(), `ord_${spelt}`, `${"oO1_"[below(4)]}_${I.write(id, "base32") ?? spelt}`][below(8)];
    };
    for (let i = 0; i < 2; i++) {
      const texts = [spell(), spell()];
      const ours = attempt(() => texts.map((t) => {
        const [id] = I.parse(t, "auto", l.unsigned);
        L.decode(l, id);
        return id;
      }));
      const [ok, answer] = await ask("parse", query, texts);
      differ(`${name}: ${text(texts)}`, text(ours), ok ? text(answer.ids.map((a) => a.id)) : "null");
    }

    // Spans of time around the layout's own.
    const instants = [0, 0].map(() => {
      const span = (1n << BigInt(l.timeBits)) * l.tick;
      const ms = l.epoch + (span * BigInt(below(1100) - 50)) / 1000n + BigInt(below(3000));
      const year = T.formatTime(ms).split("-").length === 3 && /^\d{4}-/.test(T.formatTime(ms));
      if (!year) return String(253402300799999n);
      return below(2) === 0 && ms > -(10n ** 15n) && ms < 10n ** 15n ? String(ms) : T.formatTime(ms).replace("Z", `${String(below(1_000_000)).padStart(6, "0")}Z`);
    });
    const span = new URLSearchParams(query);
    span.set("from", instants[0]);
    if (below(5) > 0) span.set("to", instants[1]);
    const ours = attempt(() => L.range(l, T.parseTime(instants[0]), span.has("to") ? T.parseTime(instants[1]) : null));
    const [ok, answer] = await ask("range", span);
    differ(`${name}: from ${instants}`, ours ? text([ours.min, ours.max]) : "refused", ok ? text([answer.min, answer.before ?? null]) : "refused");
  }

  // Texts that are times, and those that only look it.
  const parts = ["2026", "2024", "1900", "0000", "9999", "-", "02", "29", "30", "31", "12", "13", "T", " ", ":", "00", "23", "24", "59", "60", ".", "5", "999999999", "Z", "+01:00", "-23:59", "+24:00"];
  for (let i = 0; i < 200; i++) {
    const p = () => parts[below(parts.length)];
    const time = below(3) === 0 ? [p(), p(), p(), p()].join("") : `${["2026", "2024", "1900", "0000"][below(4)]}-${["01", "02", "11", "13"][below(4)]}-${["01", "28", "29", "30", "31"][below(5)]}${["", "T12:30", " 23:59:59", "T24:00:00Z", "t00:00:00.123456789z", "T05:06:07+14:00", "T05:06:07-00:30", "T05:06"][below(8)]}`;
    const query = new URLSearchParams({ epoch: "-62135596799999", tick: "1ms", time_bits: 50, from: time });
    const ours = attempt(() => L.range({ ...P.presets[0].layout, epoch: -62135596799999n, timeBits: 50, datacenterBits: 0, workerBits: 0, sequenceBits: 0 }, T.parseTime(time), null));
    const [ok, answer] = await ask("range", query);
    differ(`time ${time}`, ours ? String(ours.min) : "refused", ok ? answer.min : "refused");
  }
  return result;
}
