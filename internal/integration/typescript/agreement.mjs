// Reads cases of Go from standard input, and prints how many the module in the argument agrees with, or
// the first that it does not.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const { Keys, compare, decode, format, parse } = await import(pathToFileURL(process.argv[2]));
const cases = JSON.parse(readFileSync(0, "utf8"));
const orders = new Keys("ord");
const plain = new Keys();
const readers = { ord: (text) => orders.id(text), "": (text) => plain.id(text) };
const writers = { ord: (id) => orders.of(id), "": (id) => plain.of(id) };
let n = 0;
for (const { Form, Text, ID } of cases.Texts) {
  const what = `${Form} ${JSON.stringify(Text)}`;
  const read = readers[Form] ?? ((text) => parse(text, Form));
  if (ID === "") {
    assert.throws(() => read(Text), (error) => error instanceof RangeError && error.message.includes("snowkey: "), what);
  } else {
    assert.equal(String(read(Text)), ID, what);
    const written = (writers[Form] ?? ((id) => format(id, Form)))(BigInt(ID));
    assert.equal(read(written), BigInt(ID), what);
    if (Form in readers) assert.equal((Form ? orders : plain).is(Text), written === Text, what);
  }
  n++;
}
for (const { ID, Layout, Parts } of cases.Decoded) {
  if (Parts === null) assert.throws(() => decode(BigInt(ID), Layout), RangeError, ID);
  else {
    const { time, ...rest } = decode(BigInt(ID), Layout);
    assert.deepEqual({ time: time.getTime(), ...rest }, Parts, ID);
  }
  n++;
}
assert.deepEqual(["10", "9", "100"].sort(compare), ["9", "10", "100"]);
assert.throws(() => new Keys("Ord"), /"Ord" is no prefix/);
assert.throws(() => new Keys("k").id("\u212a_1qda147xjq4ad"), /is no key/); // its lower case is k
assert.throws(() => format(-1n), /"-1" is no id/);
assert.equal(decode(1996573624012345677n).time.toISOString(), "2025-12-04T13:33:41.165Z");
console.log(n);
