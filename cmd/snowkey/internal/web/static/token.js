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

// parseKey reads a line of a key file: a secret, or "short", a number and a secret. The number
// is null for the first.
export function parseKey(text) {
  const line = /^(?:short\s+([0-9]{1,2})\s+)?(\S+)$/.exec(text.replace(/#.*/, "").trim());
  const secret = line && bytesOf(line[2]);
  if (!secret || Number(line[1] ?? 0) > 57) throw new FieldError("key", "", "must be 64 hexadecimal digits, after “short” and a number from 0 to 57 if it is a key of short tokens");
  if (secret.every((b) => b === secret[0]) || secret.every((b) => b >= 0x20 && b <= 0x7e)) throw new FieldError("key", "", "must be 32 random bytes");
  return { secret, number: line[1] === undefined ? null : Number(line[1]) };
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
async function newCipher(secret, purpose) {
  const key = await crypto.subtle.importKey("raw", await derive(secret, purpose, 32), "AES-CBC", false, ["encrypt", "decrypt"]);
  const zero = new Uint8Array(16);
  const encrypt = async (iv, data) => new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv }, key, data));
  return {
    // mac returns the CBC-MAC of whole blocks, which is AES for one. The block after it is padding.
    mac: async (data) => (await encrypt(zero, data)).slice(data.length - 16, data.length),
    // decrypt is the inverse of mac for one block. What encrypts nothing after the block is the
    // padding that must follow it.
    decrypt: async (block) => new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv: zero }, key, joined(block, await encrypt(block, new Uint8Array())))),
  };
}

// ff1 is FF1 of NIST SP 800-38G for 11 digits of a radix up to 62, or its inverse.
async function ff1(mac, radix, tweak, n, inverse) {
  const mods = [radix ** 5n, radix ** 6n];
  const width = 5; // bytes of a half
  const p = joined([1, 2, 1, 0, 0, Number(radix), 10, 5], bytes(11n, 4), bytes(BigInt(tweak.length), 4));
  const zeros = new Uint8Array((32 * 16 - tweak.length - 1 - width) % 16);
  const round = async (i, half) => number((await mac(joined(p, tweak, zeros, [i], bytes(half, width)))).slice(0, 12));
  let [a, b] = [n / mods[1], n % mods[1]];
  for (let k = 0; k < 10; k++) {
    const i = inverse ? 9 - k : k;
    const mod = mods[i % 2];
    if (inverse) [a, b] = [(((b - await round(i, a)) % mod) + mod) % mod, a];
    else [a, b] = [b, (a + await round(i, b)) % mod];
  }
  return a * mods[1] + b;
}

// newSealer returns the functions seal and open of a key, a type's name and an alphabet, base62 or
// base58. Both return promises.
export async function newSealer({ secret, number: ofKey }, type, alphabet) {
  const all = digits[alphabet];
  const base = BigInt(all.length);
  const write = (n) => [10n, 9n, 8n, 7n, 6n, 5n, 4n, 3n, 2n, 1n, 0n].map((i) => all[Number((n / base ** i) % base)]).join("");
  const read = (text) => [...text].reduce((sum, c) => sum * base + BigInt(all.indexOf(c)), 0n);
  const width = ofKey === null ? 22 : 12;
  const refuse = (text, why) => new FieldError("token", text, `is not a token of type "${type}"${why}`);
  const check = (text) => {
    if ([...text].length !== width) throw refuse(text, `: it has ${[...text].length} characters, not ${width}`);
    if ([...text].some((c) => !all.includes(c))) throw refuse(text, `: it has other characters than digits of ${alphabet}`);
  };
  if (ofKey === null) {
    const cipher = await newCipher(secret, "long key");
    const tag = number(await derive(secret, `long type ${type}`, 8));
    return {
      async seal(id) {
        const block = await cipher.mac(joined(bytes(id, 8), bytes(tag, 8)));
        return write(number(block.slice(0, 8))) + write(number(block.slice(8)));
      },
      async open(text) {
        check(text);
        const halves = [read(text.slice(0, 11)), read(text.slice(11))];
        if (halves.some((n) => n > maxUint64)) throw refuse(text, "");
        const block = await cipher.decrypt(joined(...halves.map((n) => bytes(n, 8))));
        const id = number(block.slice(0, 8));
        if (number(block.slice(8)) !== tag || id > maxInt64) throw refuse(text, " and of this key");
        return id;
      },
    };
  }
  const cipher = await newCipher(secret, "short key");
  const tweak = new TextEncoder().encode(type);
  return {
    seal: async (id) => all[ofKey] + write(await ff1(cipher.mac, base, tweak, id, false)),
    async open(text) {
      check(text);
      if (all.indexOf(text[0]) !== ofKey) throw refuse(text, `: its key has the number ${all.indexOf(text[0])}`);
      const id = await ff1(cipher.mac, base, tweak, read(text.slice(1)), true);
      if (id > maxInt64) throw refuse(text, " and of this key");
      return id;
    },
  };
}
