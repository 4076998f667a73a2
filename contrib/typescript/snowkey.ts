// Ids of snowkey in JavaScript, where they are strings: a number would lose their last digits. For
// browsers, Node 18 and later, Deno and Bun. Every error is a RangeError that quotes the value: also for a
// number that is perhaps rounded, and for what plain JavaScript passes instead of a string or a bigint.

declare const row: unique symbol;

/**
 * The key of a row, as in JSON, with the kind of the row in its type. A customer's key is not assignable
 * to an order's, nor is a plain string or a number. Keys come from the service, or from
 * {@link Keys.parse}.
 */
export type Key<Row extends string> = string & { readonly [row]: Row };

/** A text form of an id. */
export type Form = "decimal" | "base32" | "bitcoin58" | "bwmarrin58" | "base62";

const largest = (1n << 63n) - 1n;
const digits = {
  base32: "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
  bitcoin58: "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  bwmarrin58: "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
  base62: "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
};
const widths = { base32: 13, bitcoin58: 11, bwmarrin58: 0, base62: 11 }; // 0: as many as needed

const wrong = (value: unknown, reason: string): never => {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : Object(value) === value ? `a value of type ${typeof value}` : String(value);
  throw new RangeError(`snowkey: ${shown} ${reason}`);
};

/** The text of what should be one. A number is one only below 2^53, where none is rounded. */
const textOf = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return String(value);
  return wrong(value, typeof value === "number" ? "is perhaps rounded, or no integer: ids are strings" : "is no id");
};

const widthOf = (form: keyof typeof widths): number => (Object.hasOwn(widths, form) ? widths[form] : wrong(form, "is no form"));

/**
 * Reads an id. The default form is decimal. Base 32 may have lower case, I and L for 1, and O for 0. bwmarrin58 is
 * Base58 of bwmarrin/snowflake, and bitcoin58 that of Go's Bitcoin58: most texts are two ids.
 */
export function parse(value: string, form: Form = "decimal"): bigint {
  const text = textOf(value);
  let id = 0n;
  if (form === "decimal") {
    if (!/^(0|[1-9][0-9]{0,18})$/.test(text)) wrong(text, "is no decimal id");
    id = BigInt(text);
  } else {
    const width = widthOf(form);
    const spelt = form === "base32" && /^[!-~]*$/.test(text) ? text.toUpperCase().replace(/[IL]/g, "1").replace(/O/g, "0") : text;
    const fits = width ? spelt.length === width : /^(1|[^1].{0,10})$/.test(spelt);
    for (const c of fits ? spelt : "_") {
      const value = digits[form].indexOf(c);
      if (value < 0) wrong(text, `is no id in ${form}${width && `, which has ${width} digits`}`);
      id = id * BigInt(digits[form].length) + BigInt(value);
    }
  }
  return id <= largest ? id : wrong(text, `is above the largest id, ${largest}`);
}

/** Writes an id, from 0 to 9223372036854775807. */
export function format(id: bigint, form: Form = "decimal"): string {
  let rest = typeof id === "string" ? wrong(id, "is no bigint: use parse") : parse(textOf(id));
  if (form === "decimal") return String(rest);
  const width = widthOf(form);
  let text = "";
  for (const base = BigInt(digits[form].length); text.length < width || (!width && (rest || !text)); rest /= base) text = digits[form][Number(rest % base)] + text;
  return text;
}

/**
 * The keys of one kind of row. The prefix is the one in Go's KeyForm, such as "ord" for
 * "ord_1qda147xjq4ad"; without one, keys are decimal.
 *
 *     const orders = new Keys<"Order">("ord");
 *     const id = orders.parse(location.hash.slice(1));
 */
export class Keys<Row extends string> {
  readonly #start: string;

  constructor(prefix = "") {
    if (typeof prefix !== "string" || !/^([a-z]([a-z_]{0,61}[a-z])?)?$/.test(prefix)) wrong(prefix, "is no prefix: want 1 to 63 of a-z and _, first and last a letter");
    this.#start = prefix && prefix + "_";
  }

  /** The id of a key. */
  id(value: string): bigint {
    const start = this.#start;
    if (!start) return parse(value);
    const key = textOf(value);
    if (key.slice(0, start.length).replace(/[A-Z]/g, (c) => c.toLowerCase()) !== start) wrong(key, `is no key: want ${JSON.stringify(start)} and 13 digits of base32`);
    return parse(key.slice(start.length), "base32");
  }

  /** Reads a key from a text, such as a part of a URL. It returns the key as it is spelt in JSON. */
  parse(text: string): Key<Row> {
    return this.of(this.id(text));
  }

  /** The key of an id. */
  of(id: bigint): Key<Row> {
    return (this.#start ? this.#start + format(id, "base32").toLowerCase() : format(id)) as Key<Row>;
  }

  /** Whether a value is a key, spelt as in JSON. */
  is(value: unknown): value is Key<Row> {
    try {
      return typeof value === "string" && this.parse(value) === value;
    } catch {
      return false;
    }
  }
}

/** Compares two keys of one kind by their ids, and so by time, as for Array.sort. */
export function compare<Row extends string>(a: Key<Row>, b: Key<Row>): number {
  return textOf(a).length - textOf(b).length || (a < b ? -1 : a > b ? 1 : 0);
}

/** How an id is divided; see the layout of the Go program. Widths are in bits; epoch and tick in milliseconds. */
export interface Layout {
  epoch: number;
  tick: number;
  timeBits: number;
  rollbackBits?: number;
  datacenterBits?: number;
  workerBits?: number;
  sequenceBits?: number;
  sequenceFirst?: boolean;
}

/** What an id consists of. The worker ID is the number that is leased; datacenter and machine are its parts. */
export interface Parts {
  time: Date;
  rollback: number;
  workerID: number;
  datacenter: number;
  machine: number;
  sequence: number;
}

/** The default layout. */
export const twitter: Layout = { epoch: 1288834974657, tick: 1, timeBits: 41, datacenterBits: 5, workerBits: 5, sequenceBits: 12 };

/** Decodes an id, or its decimal string: its time, worker ID and the rest. */
export function decode(id: bigint | string, layout: Layout = twitter): Parts {
  const { epoch, tick, timeBits, rollbackBits = 0, datacenterBits = 0, workerBits = 0, sequenceBits = 0, sequenceFirst } = layout;
  let rest = parse(textOf(id));
  const take = (bits: number): number => {
    const value = BigInt.asUintN(bits, rest);
    rest >>= BigInt(bits);
    return Number(value);
  };
  let sequence = sequenceFirst ? 0 : take(sequenceBits);
  const machine = take(workerBits);
  const datacenter = take(datacenterBits);
  if (sequenceFirst) sequence = take(sequenceBits);
  const rollback = take(rollbackBits);
  const time = new Date(epoch + take(timeBits) * tick);
  if (rest || isNaN(+time)) wrong(String(id), "is no id of this layout");
  return { time, rollback, workerID: datacenter * 2 ** workerBits + machine, datacenter, machine, sequence };
}
