// Ids as text, read and written as package idtext does. The browser test holds both to
// testdata/vectors.json.
import { FieldError, maxInt64 } from "./layout.js";
import { formatTime } from "./times.js";

// The formats without a prefix. A prefix and its underscore, such as ord_, is a format too: for
// that and the digits of base32 in lower case.
export const formats = ["decimal", "hex", "base32", "base58", "base62"];

export const prefixForm = /^[a-z](?:[a-z_]{0,61}[a-z])?_$/;

export const digits = {
  base32: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
  base58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  base62: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
  bwmarrin32: "ybndrfg8ejkmcpqxot1uwisza345h769",
  bwmarrin58: "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
};
const widths = { base32: 13, base58: 11, base62: 11, bwmarrin32: 13, bwmarrin58: 11 }; // bwmarrin's have no zeros in front
const least = { ...widths, hex: 8, bwmarrin32: 11 }; // hex: "bad" is probably not an id
const isBwmarrin = (format) => format.startsWith("bwmarrin");
const maxUint64 = (1n << 64n) - 1n;
const exponent = /^[0-9]+(?:\.[0-9]+)?[eE]\+?[0-9]{1,3}$/; // a spreadsheet turns an id into such a number
const base36 = /^[1-9a-z][0-9a-z]{10,11}$/; // bwmarrin/snowflake writes it too
const word = /^[A-Za-z]{1,13}$/; // today's ids in formats of snowkey begin with a digit
const exponentReading = (n) => "a number with an exponent, whose last digits are lost" + (n >= 2 ** 53 && n < 2 ** 63 ? `: it was near ${n}` : "");

const failure = (text, reason) => new FieldError("id", text, reason);

// write writes an id, or returns undefined if the format has no negative ids.
export function write(id, format) {
  if (format === "decimal") return String(id);
  if (format === "hex") return "0x" + BigInt.asUintN(64, id).toString(16).padStart(16, "0");
  if (id < 0n) return undefined;
  if (format.endsWith("_")) return format + write(id, "base32").toLowerCase();
  const alphabet = digits[format];
  const base = BigInt(alphabet.length);
  let text = "";
  for (let i = 0; i < widths[format]; i++) {
    text = alphabet[Number(id % base)] + text;
    id /= base;
  }
  return text;
}

function fit(text, n, unsigned) {
  const largest = unsigned ? maxUint64 : maxInt64;
  if (n > largest) throw failure(text, `is above the largest id, ${largest}`);
  return BigInt.asIntN(64, n);
}

function readDecimal(text, unsigned) {
  if (!/^(0|-?[1-9][0-9]*)$/.test(text)) throw failure(text, "is not a decimal id");
  const n = BigInt(text.slice(0, 21)); // too large already, and longer ones take time
  if (n >= 0n) return fit(text, n, unsigned);
  if (!unsigned) throw failure(text, "must not be negative");
  if (n < -maxInt64 - 1n) throw failure(text, `is below the smallest id, ${-maxInt64 - 1n}`);
  return n;
}

function readHex(text, unsigned) {
  const found = /^(?:0[xX])?([0-9a-fA-F]+)$/.exec(text);
  if (!found) throw failure(text, "is not hexadecimal");
  return fit(text, BigInt("0x" + found[1]), unsigned);
}

// valuesOf returns the values of a text's digits, or null if it is not of the format.
function valuesOf(text, format) {
  let spelt = text;
  if (format === "base32" && /^[\x21-\x7e]*$/.test(text)) spelt = text.toUpperCase().replace(/[IL]/g, "1").replace(/O/g, "0");
  const values = [...spelt].map((c) => digits[format].indexOf(c));
  const fits = isBwmarrin(format) ? values[0] > 0 || values.length === 1 : values.length === widths[format];
  return fits && !values.includes(-1) ? values.slice(0, 20) : null; // more are too large, and take time
}

const sumOf = (values, format) => values.reduce((sum, v) => sum * BigInt(digits[format].length) + BigInt(v), 0n);

function readShort(text, format) {
  const values = valuesOf(text, format);
  if (!values) throw failure(text, isBwmarrin(format) ? `is not ${format.replace("bwmarrin", "base")} of bwmarrin/snowflake` : `is not ${format}, which has ${widths[format]} digits`);
  return fit(text, sumOf(values, format), false);
}

export const lower = (text) => text.replace(/[A-Z]/g, (c) => c.toLowerCase()); // ASCII only

// readPrefixed reads a prefix, its underscore and the digits, in any case.
function readPrefixed(text, want) {
  const end = text.lastIndexOf("_") + 1;
  const found = lower(text.slice(0, end));
  const isWord = want === "auto" && word.test(text.slice(end)); // is_international
  if (want === "auto") {
    if (!prefixForm.test(found)) throw failure(text, "has no valid prefix: want 1 to 63 of a-z and _, first and last a letter, then _ and 13 digits of base32");
    want = found;
  }
  const values = found === want ? valuesOf(text.slice(end), "base32") : null;
  const other = foreign(text.slice(end)); // a TypeID
  if (!values && other) throw failure(text, `is not a Snowflake id, but has the prefix of ${other}`);
  const id = values && fit(text, sumOf(values, "base32"), false);
  if (!values || isWord) throw failure(text, `is not "${want}" and 13 digits of base32`);
  return [id, want];
}

function read(text, format, unsigned) {
  if (format === "decimal") return readDecimal(text, unsigned);
  if (format === "hex") return readHex(text, unsigned);
  return readShort(text, format);
}

// parse reads an id in a format, or detects it with "auto". It returns the id and its
// format, and rejects a text with several readings.
export function parse(text, format, unsigned) {
  text = ungroup(unquote(text));
  if (text === "") throw failure(text, "is empty");
  if (format === "auto") {
    if (/^0x/i.test(text)) format = "hex";
    else if (/^-?(0|[1-9][0-9]*)$/.test(text)) format = "decimal";
    else if (text.includes("_")) return readPrefixed(text, format);
    else return detect(text, unsigned);
  }
  if (format.endsWith("_")) return readPrefixed(text, format);
  return [read(text, format, unsigned), format];
}

function detect(text, unsigned) {
  const found = [];
  for (const format of ["hex", ...Object.keys(digits)]) {
    if (text.length < least[format] || text.length > (widths[format] ?? 16)) continue;
    try {
      found.push([read(text, format, unsigned), format]);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
    }
  }
  const readings = found.map(([id, format]) => `${format} for ${unsigned ? BigInt.asUintN(64, id) : id}`);
  const noID = exponent.test(text) ? exponentReading(Number(text)) : foreign(text);
  if (readings.length > 0 && base36.test(text)) {
    readings.push(`base36 for ${[...text].reduce((sum, c) => sum * 36n + BigInt(parseInt(c, 36)), 0n)}`);
  }
  if (readings.length > 0 && word.test(text)) readings.push("a word");
  if (noID && readings.length === 0) throw failure(text, exponent.test(text) ? `is ${noID}` : `is not a Snowflake id, but ${noID}`);
  if (noID) readings.push(noID);
  else if (readings.length === 1) return found[0];
  if (readings.length === 0) throw failure(text, "is not an id in decimal, hex (0x…), base32, base58, base62 or with a prefix (ord_…)");
  throw Object.assign(failure(text, `may be ${readings.join(" or ")}`), { readings: found.map(([id, format]) => ({ id, format })) });
}

// Ids of other kinds that hold their time: the digits that the pattern captures, without the lowest bits,
// count microseconds times a unit from an epoch in milliseconds.
const crockford = digits.base32.toLowerCase();
const timed = [
  ["a UUID of version 7", /^([0-9a-f]{8}-?[0-9a-f]{4})-?7[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/, crockford.slice(0, 16), 0n, 1000n, 0n],
  ["a ULID or a TypeID", /^([0-7][0-9a-hjkmnp-tv-z]{9})[0-9a-hjkmnp-tv-z]{16}$/, crockford, 0n, 1000n, 0n],
  ["an ObjectId", /^([0-9a-f]{8})[0-9a-f]{16}$/, crockford.slice(0, 16), 0n, 1_000_000n, 0n],
  ["a KSUID", /^([0-9A-Za-z]{27})$/, digits.base62, 128n, 1_000_000n, 1_400_000_000_000n],
  ["a TID of AT Protocol", /^(3[2-7a-z]{12})$/, "234567abcdefghijklmnopqrstuvwxyz", 10n, 1n, 0n],
];

// foreign names an id of another kind, and its time.
function foreign(text) {
  for (const [name, pattern, alphabet, low, unit, epoch] of timed) {
    const found = pattern.exec(low === 0n ? lower(text) : text)?.[1].replace("-", "");
    const n = [...(found ?? "")].reduce((sum, c) => sum * BigInt(alphabet.length) + BigInt(alphabet.indexOf(c)), 0n);
    if (found) return `${name}, made ${formatTime(((n >> low) * unit) / 1000n + epoch)}`;
  }
  return "";
}

const separators = /[\s,;()[\]{}|]+/;
const tableEnd = /^\s*(?:\(\d+ rows?\)|\d+ rows? in set\b)/; // psql and mysql print it below a table
const isObject = (line) => line.startsWith("{") && line.includes(":");

// split returns the texts in a list that may be ids: the items of JSON, SQL, CSV or a
// table, or on each line an object of JSON, whose "id" counts. Of a URL, such as that of a tweet, the
// numbers of 15 to 19 digits count.
export function split(text) {
  return text.split("\n").flatMap((line) => {
    line = line.trim();
    if (isObject(line)) return [ofObject(line)];
    if (tableEnd.test(line)) return [];
    return ungroup(line).split(separators).map(unquote)
      .flatMap((item) => (item.includes("://") && item.match(/\b\d{15,19}\b/g)) || [item]).filter((item) => item !== "");
  });
}

// parts cuts a text so that each part can be split by itself: into lines, and a line that is longer
// than most characters after separators. No part but a line begins with one, so none is taken for
// an object.
export function parts(text, most = 512) {
  const all = [];
  const separator = new RegExp(separators, "g");
  for (let line of text.split("\n")) {
    let begin = 0;
    if (line.length > most && !isObject(line.trim()) && !tableEnd.test(line)) {
      line = ungroup(line);
      for (separator.lastIndex = most; separator.exec(line); separator.lastIndex = begin + most) {
        all.push(line.slice(begin, separator.lastIndex));
        begin = separator.lastIndex;
      }
    }
    all.push(line.slice(begin));
  }
  return all;
}

function ofObject(line) {
  let raw = "";
  try { // a number is taken as it is written, because it would be rounded; old browsers cannot
    const object = JSON.parse(line, (key, value, context) => (typeof value === "number" ? { digits: context?.source ?? line } : value));
    if (!Object.hasOwn(object, "id")) return line;
    raw = object.id?.digits ?? (typeof object.id === "string" ? object.id : JSON.stringify(object.id));
  } catch {
    return line;
  }
  return unquote(raw);
}

// ungroup removes the separators from numbers of 13 to 21 digits, such as 1,996,573,624,012,345,677.
const ungroup = (text) => text.replace(/\b[1-9]\d{0,2}(?:([,.'’_ \u00a0\u202f])\d{3})(?:\1\d{3}){3,}\b/g, (found) => {
  const digits = found.replace(/\D/g, "");
  return digits.length <= 21 ? digits : found;
});

// unquote removes white space, one comma at the end, and one pair of quotes.
function unquote(text) {
  text = text.trim().replace(/,$/, "").trim();
  return text.length > 1 && text[0] === text.at(-1) && "\"'`".includes(text[0]) ? text.slice(1, -1).trim() : text;
}

// numbersIn returns the long numbers in a text that is more than ids, such as a link, a mention or a
// log: of 15 to 19 digits.
export function numbersIn(text) {
  const numbers = new Set(ungroup(text).match(/(?<![\d.,])\d{15,19}(?!\d)/g));
  return [...numbers].filter((number) => BigInt(number) <= maxInt64);
}
