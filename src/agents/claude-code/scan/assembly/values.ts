// What a text in a line says.
import { Span } from "./blocks";
import { byte, isDigit, isLetter } from "./json";
import { NONE, textOf } from "./tables";

/** Longer ones are somebody's mistake. Their keys stay within what an id may have. */
const MAX_ID: i32 = 100;

/** Whether it is absent, or can be taken as it stands: letters, digits and signs of ASCII. */
export function isText(text: Span): bool {
  const length = text.length;
  if (length === 0) return true;
  if (length > MAX_ID || text.hasEscapes !== 0) return false;
  const last = i8x16.splat(0x7e);
  for (let i = 0; i < length; i += 16) {
    let found = i8x16.bitmask(i8x16.gt_u(v128.load(text.at + i), last));
    if (length - i < 16) found &= (1 << (length - i)) - 1;
    if (found !== 0) return false;
  }
  return true;
}

/** Whether an id may be one that somebody counts: a number stands by itself at its end. */
export function isCounted(text: Span): bool {
  const length = text.length;
  if (length === 0) return false;
  let end = text.at + length;
  while (end > text.at && isDigit(byte(end - 1))) end--;
  if (end === text.at + length) return false;
  if (end > text.at && isLetter(byte(end - 1))) return false;
  return !(length > 6 && startsWith(text.at, "toolu_"));
}

/** As in ../../lines.ts. */
export function isOfOneAnswer(id: Span): bool {
  let letters = 0;
  let digits = 0;
  for (let i = 0; i < id.length; i++) {
    const char = byte(id.at + i);
    if (isDigit(char)) digits++;
    if (isDigit(char) || isLetter(char)) letters++;
    else letters = digits = 0;
    if (letters >= 10 && digits > 0) return true;
  }
  return false;
}

/** Its number; `NONE` for one that is absent or empty. */
@inline
export function idOf(text: Span): i32 {
  return text.length === 0 ? NONE : textOf(text.at, text.length);
}

/** @param text ASCII */
export function startsWith(at: usize, text: string): bool {
  for (let i = 0; i < text.length; i++) if (byte(at + i) !== <u32>text.charCodeAt(i)) return false;
  return true;
}

/** Somebody else must look at it. */
export const ODD_VERSION: i32 = -2;

/** `2.1.329` as 2001329; `NONE` for a text without any digit, `ODD_VERSION` for any other way to write one. */
export function versionOf(text: Span): i32 {
  let number = 0;
  let part = 0;
  let digits = 0;
  let parts = 0;
  let isOdd = text.hasEscapes !== 0;
  let hasDigits = false;
  for (let i = 0; i < text.length; i++) {
    const b = byte(text.at + i);
    if (isDigit(b)) {
      hasDigits = true;
      part = part * 10 + b - 0x30;
      if (++digits > 3) return ODD_VERSION;
    } else if (b === 0x2e && digits > 0) {
      number = number * 1000 + part;
      part = digits = 0;
      if (++parts > 2) return ODD_VERSION;
    } else isOdd = true;
  }
  if (text.length === 0 || (!hasDigits && text.hasEscapes === 0)) return NONE;
  return isOdd || parts !== 2 || digits === 0 ? ODD_VERSION : number * 1000 + part;
}

/** `2026-11-21T10:32:05.123Z` in milliseconds since 1970; NaN for any other way to write a time. */
export function timeOf(text: Span): f64 {
  const at = text.at;
  if (text.length !== 24 || text.hasEscapes !== 0) return NaN;
  if (byte(at + 4) !== 0x2d || byte(at + 7) !== 0x2d || byte(at + 10) !== 0x54) return NaN;
  if (byte(at + 13) !== 0x3a || byte(at + 16) !== 0x3a || byte(at + 19) !== 0x2e || byte(at + 23) !== 0x5a) return NaN;
  const year = digits(at, 4);
  const month = digits(at + 5, 2);
  const day = digits(at + 8, 2);
  const hour = digits(at + 11, 2);
  const minute = digits(at + 14, 2);
  const second = digits(at + 17, 2);
  const ms = digits(at + 20, 3);
  // The last days of a month are not worth a calendar of their own here
  if (year < 2001 || year > 2199 || month < 1 || month > 12 || day < 1 || day > 31 || (day > 28 && month === 2)) return NaN;
  if (day === 31 && (month === 4 || month === 6 || month === 9 || month === 11)) return NaN;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || ms < 0) return NaN;
  const seconds = (daysTo(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
  return <f64>(<i64>seconds * 1000 + <i64>ms);
}

/** -1 where one is none. */
function digits(at: usize, length: i32): i32 {
  let n = 0;
  for (let i = 0; i < length; i++) {
    const b = byte(at + i);
    if (!isDigit(b)) return -1;
    n = n * 10 + b - 0x30;
  }
  return n;
}

/** Days since 1970-01-01 of the Gregorian calendar, counted in years that begin with March. */
function daysTo(year: i32, month: i32, day: i32): i64 {
  const y = month <= 2 ? year - 1 : year;
  const era = y / 400;
  const ofEra = y - era * 400;
  const dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const dayOfEra = ofEra * 365 + ofEra / 4 - ofEra / 100 + dayOfYear;
  return era * 146097 + dayOfEra - 719468;
}

/** Length in UTF-16 of a JSON text once its escapes are undone; -2 where its bytes are no UTF-8. */
export function utf16Length(at: usize, bytes: i32): i32 {
  const end = at + bytes;
  let length = 0;
  while (at < end) {
    const b = byte(at);
    length++;
    if (b === 0x5c) at += byte(at + 1) === 0x75 ? 6 : 2;
    else if (b < 0x80) at++;
    else if (b >= 0xc2 && b <= 0xdf && isTail(at + 1)) at += 2;
    else if ((b & 0xf0) === 0xe0 && isTail(at + 1) && isTail(at + 2) && isShortest3(at)) at += 3;
    else if (b >= 0xf0 && b <= 0xf4 && isTail(at + 1) && isTail(at + 2) && isTail(at + 3) && isShortest4(at)) {
      length++;
      at += 4;
    } else return -2;
  }
  return length;
}

@inline
function isTail(at: usize): bool {
  return (byte(at) & 0xc0) === 0x80;
}

/** Neither longer than need be nor half of a pair. */
function isShortest3(at: usize): bool {
  const first = byte(at);
  const second = byte(at + 1);
  return !(first === 0xe0 && second < 0xa0) && !(first === 0xed && second > 0x9f);
}

function isShortest4(at: usize): bool {
  const first = byte(at);
  const second = byte(at + 1);
  return !(first === 0xf0 && second < 0x90) && !(first === 0xf4 && second > 0x8f);
}
