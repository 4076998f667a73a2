// Times as text, read as package timetext does; the browser test holds both to
// testdata/vectors.json. Times that are read are BigInts of nanoseconds, those that are
// written BigInts of milliseconds: a layout can exceed the range of Date.
import { FieldError, floorDiv, maxInt64 } from "./layout.js";

const formError = "must be a time: 2006-01-02, 2006-01-02T15:04:05Z, now, today, yesterday, tomorrow, now-24h, +7d, @UNIXSECONDS or UNIXMILLISECONDS";
const fixedError = "must be a fixed time: 2006-01-02, 2006-01-02T15:04:05Z or UNIXMILLISECONDS";
const dateForm = /^(\d{4})-(\d{2})(?:-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?)?$/;
const nsPerMs = 1_000_000n;
const day = 86_400_000n;

// Days since 1970 of a date of the Gregorian calendar, and back, for any year.
// The year starts in March here, so that the leap day is its last.
function daysOf(year, month, date) {
  const y = BigInt(month <= 2 ? year - 1 : year);
  const era = floorDiv(y, 400n);
  const ofEra = y - era * 400n;
  const ofYear = (153n * BigInt((month + 9) % 12) + 2n) / 5n + BigInt(date) - 1n;
  return era * 146097n + ofEra * 365n + ofEra / 4n - ofEra / 100n + ofYear - 719468n;
}

function dateOf(days) {
  const z = days + 719468n;
  const era = floorDiv(z, 146097n);
  const ofEra = z - era * 146097n;
  const year = (ofEra - ofEra / 1460n + ofEra / 36524n - ofEra / 146096n) / 365n;
  const ofYear = ofEra - (365n * year + year / 4n - year / 100n);
  const m = (5n * ofYear + 2n) / 153n;
  const month = m < 10n ? m + 3n : m - 9n;
  return [era * 400n + year + (month <= 2n ? 1n : 0n), month, ofYear - (153n * m + 2n) / 5n + 1n];
}

const leap = (y) => y % 4 === 0 && (y % 100 !== 0 || y % 400 === 0);
const lengthOf = (y, m) => (m === 2 ? (leap(y) ? 29 : 28) : [4, 6, 9, 11].includes(m) ? 30 : 31);

// inZone returns the milliseconds since 1970 of a date and the time within it, on the clocks of UTC or of
// this computer.
function inZone(year, month, date, ms, isLocal) {
  if (!isLocal) return daysOf(year, month, date) * day + ms;
  const midnight = new Date(2000, 0, 1);
  midnight.setFullYear(year, month - 1, date);
  return BigInt(midnight.setMilliseconds(Number(ms)));
}

// parseTime reads a time. If it names no zone, it is in UTC, or in this computer's. now is in milliseconds.
export function parseTime(text, field = "time", now = BigInt(Date.now()), isLocal = false) {
  text = text.trim();
  const days = { today: 0, yesterday: -1, tomorrow: 1 }[text.toLowerCase()];
  if (days !== undefined) {
    const clock = new Date(Number(now));
    if (isLocal) return inZone(clock.getFullYear(), clock.getMonth() + 1, clock.getDate() + days, 0n, true) * nsPerMs;
    return (floorDiv(now, day) + BigInt(days)) * day * nsPerMs;
  }
  if (text.toLowerCase() === "now") return now * nsPerMs;
  if (/^(?:[Nn][Oo][Ww])?[+-](?:\d+(?:w|d|h|ms|m|s))+$/.test(text)) return now * nsPerMs + parseSpan(text, field);
  return readFixed(text, field, formError, isLocal);
}

// parseFixed reads a time that does not depend on the clock.
export const parseFixed = (text, field) => readFixed(text.trim(), field, fixedError);

function readFixed(text, field, wrong, isLocal = false) {
  const unix = /^@(-?)(\d{1,13})(?:\.(\d{1,9}))?$/.exec(text);
  if (unix) {
    const ns = BigInt(unix[2]) * 1_000_000_000n + BigInt((unix[3] ?? "").padEnd(9, "0"));
    return unix[1] ? -ns : ns;
  }
  if (/^-?\d{1,15}$/.test(text)) {
    const n = BigInt(text);
    if (n !== 0n && text.replace("-", "").length < 12) {
      throw new FieldError(field, text, `may be Unix seconds (${formatTime(n * 1000n)}) or milliseconds (${formatTime(n)}): write @${n} for seconds, or RFC 3339`);
    }
    return n * nsPerMs;
  }
  const m = dateForm.exec(text);
  if (!m) throw new FieldError(field, text, wrong);
  const [year, month, date, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((i) => Number(m[i] ?? (i === 3 ? 1 : 0)));
  if (month < 1 || month > 12 || date < 1 || date > lengthOf(year, month) || hour > 23 || minute > 59 || second > 59) {
    throw new FieldError(field, text, wrong);
  }
  const zone = m[8] ?? "Z";
  let ms = inZone(year, month, date, BigInt((hour * 60 + minute) * 60 + second) * 1000n, isLocal && !m[8]);
  if (zone.length > 1) {
    const offset = BigInt(Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))) * 60_000n;
    ms += zone[0] === "+" ? -offset : offset;
  }
  return ms * nsPerMs + BigInt((m[7] ?? "").padEnd(9, "0"));
}

function parseSpan(text, field) {
  const lengths = { w: 7n * day, d: day, h: 3_600_000n, m: 60_000n, s: 1000n, ms: 1n };
  let ns = 0n;
  for (const [, n, unit] of text.matchAll(/(\d+)([a-z]+)/g)) ns += BigInt(n) * lengths[unit] * nsPerMs;
  if (ns > maxInt64) throw new FieldError(field, text, "is longer than 292 years");
  return text.includes("-") ? -ns : ns;
}

const pad = (n, width) => String(n).padStart(width, "0");

// formatTime writes a time as the API does: 2026-01-31T12:00:00.000Z.
export function formatTime(ms) {
  const days = floorDiv(ms, day);
  const rest = ms - days * day;
  const [year, month, date] = dateOf(days);
  const clock = [rest / 3_600_000n, (rest / 60_000n) % 60n, (rest / 1000n) % 60n].map((n) => pad(n, 2)).join(":");
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(date, 2)}T${clock}.${pad(rest % 1000n, 3)}Z`;
}

// utc writes a time for people.
export const utc = (ms) => formatTime(ms).replace("T", " ").replace("Z", " UTC");

const maxDate = 8_640_000_000_000_000n;
const local = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
  fractionalSecondDigits: 3, timeZoneName: "short",
});

export function localTime(ms) {
  if (ms > maxDate || ms < -maxDate) return "outside this browser’s calendar";
  return local.format(new Date(Number(ms)));
}

const units = [["year", 31_557_600_000n], ["month", 2_629_800_000n], ["day", day], ["hour", 3_600_000n], ["minute", 60_000n], ["second", 1000n]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

export function relativeTime(ms, now = BigInt(Date.now())) {
  const ahead = ms - now;
  const far = ahead < 0n ? -ahead : ahead;
  for (const [unit, length] of units) {
    if (far >= length) return relative.format(Number(ahead / length), unit);
  }
  return "just now";
}

// formatSpan writes milliseconds in days, hours, minutes and seconds.
export function formatSpan(ms) {
  if (ms < 0n) return "-" + formatSpan(-ms);
  if (ms === 0n) return "0s";
  const parts = [];
  for (const [name, length] of [["d", day], ["h", 3_600_000n], ["m", 60_000n]]) {
    if (ms >= length) parts.push(`${ms / length}${name}`);
    ms %= length;
  }
  if (ms > 0n) parts.push(`${ms / 1000n}.${pad(ms % 1000n, 3)}`.replace(/\.?0+$/, "") + "s");
  return parts.join(" ");
}

// floorMs converts nanoseconds.
export const floorMs = (ns) => floorDiv(ns, 1_000_000n);
