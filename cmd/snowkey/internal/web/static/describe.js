// An id as JSON, with the names and types of package describe.
import { decode } from "./layout.js";
import { formats, parse, write } from "./idtext.js";
import { formatTime } from "./times.js";

// describe parses an id and describes it.
export function describe(l, text, format) {
  const [id, found] = parse(text, format, l.unsigned);
  const parts = decode(l, id);
  const d = { id: String(id) };
  if (id < 0n) d.unsigned = String(BigInt.asUintN(64, id));
  for (const f of formats) if (f !== "decimal" && write(id, f) !== undefined) d[f] = write(id, f);
  const prefix = found.endsWith("_") ? found.slice(0, -1) : null;
  if (prefix) d.prefixed = write(id, found);
  return {
    ...d,
    input: text,
    format: found,
    ...(prefix && { prefix }),
    time: formatTime(parts.time),
    unix_ms: Number(parts.time),
    tick: String(parts.tick),
    rollback: Number(parts.rollback),
    datacenter: Number(parts.datacenter),
    worker: Number(parts.worker),
    worker_id: Number((parts.datacenter << BigInt(l.workerBits)) | parts.worker),
    sequence: Number(parts.sequence),
    javascript: javaScript(id),
    bits: BigInt.asUintN(64, id).toString(2).padStart(64, "0"),
  };
}

// javaScript is what JSON.parse makes of an id that is written as a number.
export function javaScript(id) {
  const number = Number(id);
  return { safe: Number.isSafeInteger(number), exact: BigInt(number) === id, value: number === 0 ? "0" : String(number) };
}
