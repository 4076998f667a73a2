// Ids as text, in the forms that the API knows as well.
import { Fault } from "./layout.js";

const digits = {
  base32: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
  base58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  base62: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
};
const widths = { base32: 13, base58: 11, base62: 11 };
const maxInt64 = (1n << 63n) - 1n;
const maxUint64 = (1n << 64n) - 1n;

const no = (text, reason) => new Fault("id", text, reason);

// write gives an id in a form; there are no negative ids in those of sqltype.
export function write(id, form) {
  if (form === "decimal") return String(id);
  if (form === "hex") return BigInt.asUintN(64, id).toString(16).padStart(16, "0");
  if (id < 0n) return null;
  const alphabet = digits[form];
  const base = BigInt(alphabet.length);
  let text = "";
  for (let i = 0; i < widths[form]; i++) {
    text = alphabet[Number(id % base)] + text;
    id /= base;
  }
  return text;
}

function fits(n, unsigned, text) {
  const most = unsigned ? maxUint64 : maxInt64;
  if (n > most) throw no(text, `above the largest id, ${most}`);
  return BigInt.asIntN(64, n);
}

function readDecimal(text, unsigned) {
  if (!/^(0|-?[1-9]\d*)$/.test(text)) throw no(text, "not a decimal id");
  const n = BigInt(text.slice(0, 21)); // which is too much already, and no more is worth the time
  if (n >= 0n) return fits(n, unsigned, text);
  if (!unsigned) throw no(text, "it must not be negative");
  if (n < -maxInt64 - 1n) throw no(text, "not a decimal id");
  return n;
}

function readHex(text, unsigned) {
  const found = /^(?:0x)?([0-9a-f]+)$/i.exec(text);
  if (!found) throw no(text, "not hexadecimal digits");
  const n = BigInt("0x" + found[1]);
  if (n > maxUint64) throw no(text, "has more than 64 bits");
  return fits(n, unsigned, text);
}

function readShort(text, form) {
  let spelt = text;
  if (form === "base32") spelt = text.toUpperCase().replace(/[IL]/g, "1").replace(/O/g, "0");
  const values = [...spelt].map((c) => digits[form].indexOf(c));
  if (values.length !== widths[form] || !/^[\x21-\x7e]*$/.test(text) || values.includes(-1)) {
    throw no(text, `it is no id in ${form}, which has ${widths[form]} digits`);
  }
  const n = values.reduce((sum, v) => sum * BigInt(digits[form].length) + BigInt(v), 0n);
  if (n > maxInt64) throw no(text, `in ${form} it is above ${maxInt64}, the largest id that has this form`);
  return n;
}

function readForm(text, form, unsigned) {
  if (form === "decimal") return readDecimal(text, unsigned);
  if (form === "hex") return readHex(text, unsigned);
  return readShort(text, form);
}

// unquoted takes away white space, and one pair of quotes with a comma behind it.
function unquoted(text) {
  text = text.trim().replace(/,$/, "").trim();
  return /^(["'`]).*\1$/s.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}

// read reads an id in a form, or in "auto" finds out which it is. A text that has two
// meanings is refused.
export function read(text, form, unsigned) {
  const bare = unquoted(text);
  if (form !== "auto") return readForm(bare, form, unsigned);
  if (bare === "") throw no(text, "there is no id in it");
  if (/^0x/i.test(bare)) return readHex(bare, unsigned);
  if (/^(0|-0|-?[1-9]\d*)$/.test(bare)) return readDecimal(bare, unsigned);
  if (/^\d+e\d{1,3}$/i.test(bare)) throw no(text, "it may be hex, or a number with an exponent: say which form it has");
  const meanings = [];
  for (const f of ["hex", "base32", "base58", "base62"]) {
    try {
      meanings.push([f, readForm(bare, f, unsigned)]);
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
    }
  }
  if (meanings.length === 1) return meanings[0][1];
  if (meanings.length === 0) throw no(text, "it is no id in decimal, in hex, in 13 digits of base 32 or 11 of base 58 or 62");
  throw no(text, `it may be ${meanings.map(([f, id]) => `${f} for ${id}`).join(" or ")}: say which form it has`);
}

// split parts a text into what may be ids: lines, columns, a list of JSON or of SQL.
export const split = (text) => text.split(/[\s,;()[\]{}|]+/).filter((part) => part !== "");
