// Tokens as package token seals and opens them, with the browser's cryptography. The browser
// test compares both. The key is in no error and nowhere else.
import { FieldError, maxInt64 } from "./layout.js";
import { digits, prefixForm } from "./idtext.js";

const maxUint64 = (1n << 64n) - 1n;

// parseName reads the name of a type, or a prefix.
export function parseName(text) {
  if (!prefixForm.test(`${text}_`)) throw new FieldError("name", text, "must be 1 to 63 of a-z and _, first and last a letter");
  return text;
}

// parseKey reads a line of a key file, a secret.
export function parseKey(text) {
  const secret = bytesOf(text.replace(/#.*/, "").trim());
  if (!secret) throw new FieldError("key", "", "must be 64 hexadecimal digits");
  if (secret.every((b) => b === secret[0]) || secret.every((b) => b >= 0x20 && b <= 0x7e)) throw new FieldError("key", "", "must be 32 random bytes");
  return secret;
}

// bytesOf reads 32 bytes in hexadecimal digits or base 64.
function bytesOf(text) {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const standard = text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (!/^[A-Za-z0-9+/]{43}$/.test(standard)) return null;
  const raw = atob(standard);
  return btoa(raw).replace("=", "") === standard ? Uint8Array.from(raw, (c) => c.charCodeAt(0)) : null;
}

const bytes = (n, width) => Uint8Array.from({ length: width }, (_, i) => Number((n >> BigInt(8 * (width - 1 - i))) & 255n));
const number = (data) => data.reduce((sum, b) => (sum << 8n) | BigInt(b), 0n);
const joined = (...parts) => Uint8Array.from(parts.flatMap((p) => [...p]));

async function derive(secret, purpose, width) {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const info = new TextEncoder().encode(`snowkey token ${purpose}`);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info }, key, width * 8));
}

// newCipher returns AES-256, which browsers have in modes of operation only, with a derived key.
async function newCipher(secret) {
  const key = await crypto.subtle.importKey("raw", await derive(secret, "long key", 32), "AES-CBC", false, ["encrypt", "decrypt"]);
  const zero = new Uint8Array(16);
  const cbc = async (iv, data) => new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv }, key, data));
  return {
    // The block after the first is padding.
    encrypt: async (block) => (await cbc(zero, block)).slice(0, 16),
    // What encrypts nothing after the block is the padding that must follow it.
    decrypt: async (block) => new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv: zero }, key, joined(block, await cbc(block, new Uint8Array())))),
  };
}

// newSealer returns the functions seal and open of a secret and a type's name. Both return promises.
export async function newSealer(secret, type) {
  const all = digits.base62;
  const base = BigInt(all.length);
  const write = (n) => [10n, 9n, 8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n].map((i) => all[Number((n / base ** i) % base)]).join("");
  const read = (text) => [...text].reduce((sum, c) => sum * base + BigInt(all.indexOf(c)), 0n);
  const refuse = (text, why) => new FieldError("token", text, `is not a token of type "${type}"${why}`);
  const cipher = await newCipher(secret);
  const tag = number(await derive(secret, `long type ${type}`, 8));
  return {
    async seal(id) {
      const block = await cipher.encrypt(joined(bytes(id, 8), bytes(tag, 8)));
      return write(number(block.slice(0, 8))) + write(number(block.slice(8)));
    },
    async open(text) {
      if ([...text].length !== 22) throw refuse(text, `: it has ${[...text].length} characters, not 22`);
      if ([...text].some((c) => !all.includes(c))) throw refuse(text, ": it has other characters than digits of base62");
      const halves = [read(text.slice(0, 11)), read(text.slice(11))];
      if (halves.some((n) => n > maxUint64)) throw refuse(text, "");
      const block = await cipher.decrypt(joined(...halves.map((n) => bytes(n, 8))));
      const id = number(block.slice(0, 8));
      if (number(block.slice(8)) !== tag || id > maxInt64) throw refuse(text, " and of this key");
      return id;
    },
  };
}
