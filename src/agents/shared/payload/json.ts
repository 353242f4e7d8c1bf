import { assertParsable, excessOf } from "#kit/json-limits.ts";

/** The members of a JSON object of unknown shape. */
export type Fields = Readonly<Record<string, unknown>>;

/** A JSON object of unknown shape, or `undefined` when it is something else. */
export const asObject = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;

/** The JSON objects in a list; its other elements are left out. Empty for anything else. */
export const objectsIn = (value: unknown): readonly Fields[] =>
  asArray(value).flatMap((one) => {
    const fields = asObject(one);
    return fields === undefined ? [] : [fields];
  });

/** The JSON object in a text or UTF-8 bytes; otherwise `undefined`. @throws ExcessError if it is too large to be parsed */
export const parsedObject = (text: string | Buffer): Readonly<Record<string, unknown>> | undefined =>
  asObject(parsedText(text));

/**
 * The value of a JSON text, with or without a byte order mark, which editors and shells of Windows can write; `undefined` if it is none.
 *
 * @throws ExcessError if it is too large to be parsed
 */
export function parsedText(text: string | Buffer): unknown {
  assertParsable(text);
  const json = text.toString();
  try {
    return JSON.parse(json.startsWith("\ufeff") ? json.slice(1) : json);
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text; any other text or value unchanged. Agents write a tool's arguments as an object or as text, and both
 * must have the same digest.
 */
export function parsedJson(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value) || excessOf(value) !== undefined) return value;
  // A failed attempt takes twenty times as long, and commands of shells can begin with a bracket
  if (!/[\]}]$/.test(value.trimEnd())) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** A non-empty string, or `undefined`. */
export const asString = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** The first of several members with a text. */
export function first(p: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = asString(p[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** An array, or an empty one. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A whole number ≥ 0, or `undefined`. Fractions are rounded: counts and milliseconds alike. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
    ? Math.round(value)
    : undefined;

/** An amount of a vendor's own unit, in 10⁻⁹ of it. */
export const asNanoUnits = (value: unknown): number | undefined =>
  typeof value === "number" ? asCount(value * 1e9) : undefined;

/** A whole number, or a text with one; otherwise `undefined`. */
export const asExitCode = (value: unknown): number | undefined => {
  const code = typeof value === "string" && /^-?\d{1,10}$/.test(value) ? Number(value) : value;
  return typeof code === "number" && Number.isSafeInteger(code) ? code : undefined;
};

/** Epoch milliseconds of an ISO 8601 string, or `undefined`. */
export function asTimeMs(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const ms = utcMs(value) ?? Date.parse(value);
  return Number.isFinite(ms) ? ms : undefined;
}

/** A low-cardinality name, as agents use for errors and reasons; anything else becomes `_OTHER`. */
export const asCode = (value: unknown): string | undefined => {
  const text = asString(value);
  if (text === undefined) return undefined;
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(text) ? text : "_OTHER";
};

/** A table's value for an untrusted name: only own members, not those that every object inherits. */
export const ownOf = <T>(table: Readonly<Record<string, T>>, name: string | undefined): T | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;

// --- internal ---

let lastDay = "";
let lastDayMs = Number.NaN;

/** The usual form, `2026-11-20T10:00:00.000Z`, ten times as fast as `Date.parse`, which handles all others. */
function utcMs(text: string): number | undefined {
  if (text.length !== 24 || text.charCodeAt(10) !== T || text.charCodeAt(23) !== Z) return undefined;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON || text.charCodeAt(19) !== DOT) return undefined;
  if (!text.startsWith(lastDay) || lastDay === "") {
    lastDay = text.slice(0, 10);
    lastDayMs = Date.parse(`${lastDay}T00:00:00.000Z`);
  }
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const tens = twoDigits(text, 20);
  const ones = text.charCodeAt(22) - ZERO;
  // Comparisons with NaN are false
  if (!(hour < 24 && minute < 60 && second < 60 && tens <= 99 && ones >= 0 && ones <= 9)) return undefined;
  return lastDayMs + ((hour * 60 + minute) * 60 + second) * 1000 + tens * 10 + ones;
}

const T = 0x54;
const Z = 0x5a;
const COLON = 0x3a;
const DOT = 0x2e;
const ZERO = 0x30;

/** NaN if they are no digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}
