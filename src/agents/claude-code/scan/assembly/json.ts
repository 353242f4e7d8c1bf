// Reads JSON where it stands, as strictly as JSON.parse does. Nothing is copied: a text is a place and a length.

/** Where reading is. */
export class At {
  static at: usize = 0;
  /** What stands here is no JSON, or nested too deep. */
  static failed: bool = false;
}

/** The text that was read last, without its quotes, as it stands there. */
export class Text {
  static at: usize = 0;
  static length: i32 = 0;
  static hasEscapes: bool = false;
}

/** Nothing in an agent's line is nested as deep. */
const MAX_DEPTH: i32 = 64;

@inline
export function byte(at: usize): u32 {
  return load<u8>(at);
}

/** Space between values; a line feed ends the line and is none. */
@inline
export function space(): void {
  let at = At.at;
  while (true) {
    const b = byte(at);
    if (b !== 0x20 && b !== 0x09 && b !== 0x0d) break;
    at++;
  }
  At.at = at;
}

export function fail(): bool {
  At.failed = true;
  return false;
}

/** From behind an opening quote to behind the closing one. */
export function text(): bool {
  const start = At.at;
  let at = start;
  let hasEscapes = false;
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  const control = i8x16.splat(0x20);
  while (true) {
    const bytes = v128.load(at);
    const found = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)), i8x16.lt_u(bytes, control)),
    );
    if (found === 0) {
      at += 16;
      continue;
    }
    at += ctz(found);
    const b = byte(at);
    if (b === 0x22) break;
    if (b !== 0x5c) return fail();
    hasEscapes = true;
    const escaped = byte(at + 1);
    if (escaped === 0x75) {
      if (!isHex(at + 2)) return fail();
      at += 6;
    } else {
      if (!isEscape(escaped)) return fail();
      at += 2;
    }
  }
  Text.at = start;
  Text.length = <i32>(at - start);
  Text.hasEscapes = hasEscapes;
  At.at = at + 1;
  return true;
}

/** `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t` */
@inline
function isEscape(b: u32): bool {
  if (b === 0x22 || b === 0x5c || b === 0x2f) return true;
  return b >= 0x62 && b <= 0x74 && ((0x51011 >> (b - 0x62)) & 1) === 1;
}

@inline
function isHex(at: usize): bool {
  return isHexDigit(byte(at)) && isHexDigit(byte(at + 1)) && isHexDigit(byte(at + 2)) && isHexDigit(byte(at + 3));
}

@inline
function isHexDigit(b: u32): bool {
  return b - 0x30 < 10 || (b | 0x20) - 0x61 < 6;
}

@inline
function isDigit(b: u32): bool {
  return b - 0x30 < 10;
}

/** Into an object. @returns whether it has a member, whose name is read next */
@inline
export function enter(): bool {
  At.at++;
  space();
  if (byte(At.at) !== 0x7d) return true;
  At.at++;
  return false;
}

/** A member's name, up to its value. The name is in `Text`. */
@inline
export function name(): bool {
  if (byte(At.at) !== 0x22) return fail();
  At.at++;
  if (!text()) return false;
  space();
  if (byte(At.at) !== 0x3a) return fail();
  At.at++;
  space();
  return true;
}

/** Behind a value in an object (0x7d ends it) or array (0x5d). @returns whether another one follows */
@inline
export function more(end: u32): bool {
  space();
  const b = byte(At.at);
  if (b === 0x2c) {
    At.at++;
    space();
    return true;
  }
  if (b !== end) return fail();
  At.at++;
  return false;
}

/** Into an array. @returns whether it has an item */
@inline
export function enterArray(): bool {
  At.at++;
  space();
  if (byte(At.at) !== 0x5d) return true;
  At.at++;
  return false;
}

/** Over any value. */
export function skip(depth: i32 = 0): bool {
  const b = byte(At.at);
  if (b === 0x22) {
    At.at++;
    return text();
  }
  if (b === 0x7b) {
    if (depth >= MAX_DEPTH) return fail();
    if (!enter()) return true;
    do {
      if (!name() || !skip(depth + 1)) return false;
    } while (more(0x7d));
    return !At.failed;
  }
  if (b === 0x5b) {
    if (depth >= MAX_DEPTH) return fail();
    if (!enterArray()) return true;
    do {
      if (!skip(depth + 1)) return false;
    } while (more(0x5d));
    return !At.failed;
  }
  if (b === 0x74) return word(0x65757274, 4);
  if (b === 0x66) return byte(At.at + 4) === 0x65 && word(0x736c6166, 5);
  if (b === 0x6e) return word(0x6c6c756e, 4);
  return number();
}

function word(letters: u32, length: usize): bool {
  if (load<u32>(At.at) !== letters) return fail();
  At.at += length;
  return true;
}

function number(): bool {
  let at = At.at;
  if (byte(at) === 0x2d) at++;
  if (byte(at) === 0x30) at++;
  else {
    if (!isDigit(byte(at))) return fail();
    while (isDigit(byte(at))) at++;
  }
  if (byte(at) === 0x2e) {
    at++;
    if (!isDigit(byte(at))) return fail();
    while (isDigit(byte(at))) at++;
  }
  if ((byte(at) | 0x20) === 0x65) {
    at++;
    if (byte(at) === 0x2b || byte(at) === 0x2d) at++;
    if (!isDigit(byte(at))) return fail();
    while (isDigit(byte(at))) at++;
  }
  At.at = at;
  return true;
}

/** A value that is no whole number from 0 to `COUNT_MAX`. */
export const NO_COUNT: u32 = 0xffffffff;
/** A number that somebody else must look at: with a sign, a fraction, or too large. */
export const ODD_COUNT: u32 = 0xfffffffe;

/** A count; `NO_COUNT` for a value of another type. */
export function count(): u32 {
  const b = byte(At.at);
  if (!isDigit(b)) {
    const isOdd = b === 0x2d;
    skip();
    return isOdd ? ODD_COUNT : NO_COUNT;
  }
  const start = At.at;
  if (!number()) return NO_COUNT;
  const length = At.at - start;
  if (length > 9) return ODD_COUNT;
  let n: u32 = 0;
  for (let at = start; at < At.at; at++) {
    const digit = byte(at) - 0x30;
    if (digit > 9) return ODD_COUNT;
    n = n * 10 + digit;
  }
  return n;
}

/** A text into `Text`. @returns false for any other value, over which it goes */
export function textValue(): bool {
  if (byte(At.at) === 0x22) {
    At.at++;
    return text();
  }
  skip();
  return false;
}

/** Whether a value is `true`. */
export function isTrue(): bool {
  const is = byte(At.at) === 0x74;
  return skip() && is;
}
