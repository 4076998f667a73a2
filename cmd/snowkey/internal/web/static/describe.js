// An id as JSON, with the names and types of package describe.
import { decode } from "./layout.js";
import { formats, parse, write } from "./idtext.js";
import { isPossible } from "./recognize.js";
import { rounded } from "./rounded.js";
import { formatTime } from "./times.js";

// describe parses an id and describes it. Of what a rounded id may have been, those of the worker IDs in
// use come first.
export function describe(l, text, format, inUse = []) {
  const [id, found] = parse(text, format, l.unsigned);
  const parts = decode(l, id);
  const d = { id: String(id) };
  if (id < 0n) d.unsigned = String(BigInt.asUintN(64, id));
  for (const f of formats) if (f !== "decimal" && write(id, f) !== undefined) d[f] = write(id, f);
  const was = found === "decimal" && rounded(l, id, inUse);
  const prefix = found.endsWith("_") ? found.slice(0, -1) : null;
  if (prefix) d.prefixed = write(id, found);
  return {
    ...d,
    input: text,
    format: found,
    ...(prefix && { prefix }),
    time: formatTime(parts.time),
    possible: isPossible(l, parts.time),
    unix_ms: Number(parts.time),
    tick: String(parts.tick),
    rollback: Number(parts.rollback),
    worker_id: Number(parts.workerID),
    datacenter: Number(parts.datacenter),
    machine: Number(parts.worker),
    sequence: Number(parts.sequence),
    javascript: javaScript(id),
    ...(was && { rounded: was }),
    bits: BigInt.asUintN(64, id).toString(2).padStart(64, "0"),
  };
}

// javaScript is what JSON.parse makes of an id that is written as a number.
export function javaScript(id) {
  const number = Number(id);
  return { safe: Number.isSafeInteger(number), exact: BigInt(number) === id, value: number === 0 ? "0" : String(number) };
}
