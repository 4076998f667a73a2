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
assert.equal(decode(1996573624012345677n).time.toISOString(), "2025-12-04T13:33:41.165Z");
assert.deepEqual(decode("2126123456789012345"), decode(2126123456789012345n)); // as our API writes it
assert.deepEqual([parse("7"), plain.parse(7), plain.of(7n), plain.is(7)], [7n, "7", "7", false]);

// In plain JavaScript, any value may come. All that is not an id is a RangeError, and no number was rounded.
const rounded = JSON.parse("1996573624012345677");
const others = [rounded, 2 ** 53, 1.5, -7, NaN, Infinity, null, undefined, true, "", "x", "-7", "1.5", {}, [], ["7"], Object.create(null), Symbol("7"), () => 7, new Date(), -1n, 1n << 63n];
const calls = {
  parse, base32: (v) => parse(v, "base32"), bitcoin58: (v) => parse(v, "bitcoin58"), bwmarrin58: (v) => parse(v, "bwmarrin58"), format,
  base62: (v) => format(v, "base62"), id: (v) => orders.id(v), orderOf: (v) => orders.of(v), of: (v) => plain.of(v), read: (v) => plain.parse(v), decode,
};
for (const [name, call] of Object.entries(calls)) {
  for (const value of name === "bwmarrin58" ? others.filter((v) => v !== "x") : others) {
    assert.throws(() => call(value), (error) => error instanceof RangeError && error.message.startsWith("snowkey: "), `${name} of ${typeof value}`);
  }
}
for (const value of others) assert.equal(orders.is(value) || plain.is(value), false);
for (const form of ["base58", "toString", "__proto__", null, 7]) {
  assert.throws(() => parse("7", form), RangeError);
  assert.throws(() => format(7n, form), RangeError);
}
assert.throws(() => compare(null, "7"), RangeError);
assert.throws(() => new Keys(null), RangeError);
console.log(n);
