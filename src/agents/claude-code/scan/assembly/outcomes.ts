// What the text of a result says: a refusal, or how a program ended.
import { Span } from "./blocks";
import { byte, isDigit, isLetter } from "./json";
import { NONE } from "./tables";
import { startsWith } from "./values";

/** The first byte of a text, a quote or the like without its backslash; a backslash where it can be any letter. */
export function firstOf(text: Span): u32 {
  if (text.length === 0) return 0;
  const first = byte(text.at);
  if (first !== 0x5c || byte(text.at + 1) === 0x75) return first;
  return byte(text.at + 1) === 0x2f ? 0x2f : 0x22;
}

/** Whether the text of an error can tell a refusal. */
export function saysHow(text: Span): bool {
  if (text.length === 0) return false;
  if (startsWith(text.at, "Permission ") || startsWith(text.at, "The user doesn't want to ")) return true;
  if (startsWith(text.at, "Claude requested permissions ") || isHidden(text.at, text.at + 29)) return true;
  if (startsWith(text.at, "This ") || startsWith(text.at, "Hook ") || startsWith(text.at, "Agent type ")) return true;
  return namesHook(text) || isBlocked(text);
}

/** A word, and what a hook said. */
function namesHook(text: Span): bool {
  const end = text.at + text.length;
  for (let at = text.at; at < end; at++) {
    const b = byte(at);
    if (b === 0x20) return at > text.at && (startsWith(at, " hook error: ") || startsWith(at, " operation blocked by hook"));
    if (b !== 0x5c) continue;
    switch (byte(++at)) {
      case 0x75:
        return true;
      // Space of another kind
      case 0x6e:
      case 0x72:
      case 0x74:
      case 0x66:
        return false;
    }
  }
  return false;
}

/** A letter takes six bytes at the most. */
const MAX_BLOCKED: i32 = 500 * 6 + 32;

/** Whether its first line can say that something was blocked. */
function isBlocked(text: Span): bool {
  const end = text.at + <usize>min(text.length, MAX_BLOCKED);
  for (let at = text.at; at < end; ) {
    const bytes = v128.load(at);
    const found = i8x16.bitmask(v128.or(i8x16.eq(bytes, BACKSLASH), i8x16.eq(bytes, W)));
    at += found === 0 ? 16 : <usize>ctz(found);
    if (found === 0 || at >= end) continue;
    if (byte(at) === 0x5c) {
      const escaped = byte(at + 1);
      if (escaped === 0x75) return true;
      if (escaped === 0x6e) return false;
      at += 2;
    } else if (at > text.at && startsWith(at - 1, " was blocked. For security")) return true;
    else at++;
  }
  return false;
}

const BACKSLASH = i8x16.splat(0x5c);
const W = i8x16.splat(0x77);

/** Somebody else must look at it. */
export const ODD_CODE: i32 = -2;

/** `Exit code 1`, or `Error: Exit code 1`, at the beginning of a text; `NONE` without, `ODD_CODE` where an escape hides it. */
export function exitCodeOf(text: Span): i32 {
  let at = text.at;
  if (text.length === 0) return NONE;
  if (startsWith(at, "Error: ")) at += 7;
  if (!startsWith(at, "Exit code ")) return isHidden(text.at, at + 10) ? ODD_CODE : NONE;
  at += 10;
  let code = 0;
  let digits = 0;
  while (digits < 3 && isDigit(byte(at))) {
    code = code * 10 + byte(at) - 0x30;
    digits++;
    at++;
  }
  const next = byte(at);
  if (next === 0x5c && byte(at + 1) === 0x75) return ODD_CODE;
  // A number that goes on, or letters behind it
  const isWord = isDigit(next) || isLetter(next) || next === 0x5f;
  return digits === 0 || isWord ? NONE : code;
}

/** Whether a letter may stand as its number before a place: what else has a backslash is no letter. A quote ends the text. */
function isHidden(from: usize, until: usize): bool {
  for (let at = from; at < until && byte(at) !== 0x22; at++) {
    if (byte(at) === 0x5c && byte(++at) === 0x75) return true;
  }
  return false;
}
