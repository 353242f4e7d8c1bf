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
  // Names, ids and numbers of most texts are short, and nothing in them is escaped
  const found = endsIn(v128.load(start));
  if (found !== 0) {
    const at = start + ctz(found);
    if (byte(at) === 0x22) {
      Text.at = start;
      Text.length = <i32>(at - start);
      Text.hasEscapes = false;
      At.at = at + 1;
      return true;
    }
  }
  return longText(start);
}

const QUOTE = i8x16.splat(0x22);
const BACKSLASH = i8x16.splat(0x5c);
const SPACE = i8x16.splat(0x20);
const N = i8x16.splat(0x6e);
const EVEN: u64 = 0x5555555555555555;

/** A bit for each of sixteen bytes that can stand in no text as it is. */
@inline
export function endsIn(bytes: v128): i32 {
  return i8x16.bitmask(v128.or(v128.or(i8x16.eq(bytes, QUOTE), i8x16.eq(bytes, BACKSLASH)), i8x16.lt_u(bytes, SPACE)));
}

/** 64 bytes at a time, without a branch for each escape: they come where nobody can tell. */
function longText(start: usize): bool {
  let at = start;
  /** 1 where the block before ends in a backslash: it escapes the first byte of this one. */
  let carried: u64 = 0;
  let anyEscaped: u64 = 0;
  while (true) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    const quotes = bits(i8x16.eq(a, QUOTE), i8x16.eq(b, QUOTE), i8x16.eq(c, QUOTE), i8x16.eq(d, QUOTE));
    const backslashes = bits(
      i8x16.eq(a, BACKSLASH),
      i8x16.eq(b, BACKSLASH),
      i8x16.eq(c, BACKSLASH),
      i8x16.eq(d, BACKSLASH),
    );
    // Of backslashes in a row every second one is escaped by the one before it
    const escaping = backslashes & ~carried;
    const follows = (escaping << 1) | carried;
    const oddStarts = escaping & ~EVEN & ~follows;
    const onEven = oddStarts + escaping;
    carried = onEven < oddStarts ? 1 : 0;
    let escaped = (EVEN ^ (onEven << 1)) & follows;
    let ends = quotes & ~escaped;
    const lowest = i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d));
    if (v128.any_true(i8x16.lt_u(lowest, SPACE))) {
      ends |= bits(i8x16.lt_u(a, SPACE), i8x16.lt_u(b, SPACE), i8x16.lt_u(c, SPACE), i8x16.lt_u(d, SPACE));
    }
    // All of them where nothing ends it
    const before = (ends & (~ends + 1)) - 1;
    anyEscaped |= escaped & before;
    escaped &= before & ~(quotes | backslashes);
    if (escaped !== 0) {
      // Nearly all of the others are this one
      escaped &= ~bits(i8x16.eq(a, N), i8x16.eq(b, N), i8x16.eq(c, N), i8x16.eq(d, N));
      for (; escaped !== 0; escaped &= escaped - 1) if (!isEscape(at + <usize>ctz(escaped))) return fail();
    }
    if (ends === 0) {
      at += 64;
      continue;
    }
    at += <usize>ctz(ends);
    if (byte(at) !== 0x22) return fail();
    Text.at = start;
    Text.length = <i32>(at - start);
    Text.hasEscapes = anyEscaped !== 0;
    At.at = at + 1;
    return true;
  }
}

@inline
function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  return (
    <u64>(<u32>i8x16.bitmask(a)) |
    (<u64>(<u32>i8x16.bitmask(b)) << 16) |
    (<u64>(<u32>i8x16.bitmask(c)) << 32) |
    (<u64>(<u32>i8x16.bitmask(d)) << 48)
  );
}

/** Whether what stands here can follow a backslash, beside the quote and the backslash. */
function isEscape(at: usize): bool {
  const b = byte(at);
  if (b === 0x75) return isHex(at + 1);
  return b === 0x6e || b === 0x72 || b === 0x74 || b === 0x2f || b === 0x62 || b === 0x66;
}

@inline
function isHex(at: usize): bool {
  return isHexDigit(byte(at)) && isHexDigit(byte(at + 1)) && isHexDigit(byte(at + 2)) && isHexDigit(byte(at + 3));
}

@inline
function isHexDigit(b: u32): bool {
  return isDigit(b) || (b | 0x20) - 0x61 < 6;
}

@inline
export function isDigit(b: u32): bool {
  return b - 0x30 < 10;
}

@inline
export function isLetter(b: u32): bool {
  return (b | 0x20) - 0x61 < 26;
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
  if (byte(At.at) === 0x2c && byte(At.at + 1) > 0x20) {
    At.at++;
    return true;
  }
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

/** Into an object, or over any other value. @returns whether there is a member, whose name is read next */
@inline
export function enterObject(): bool {
  if (byte(At.at) === 0x7b) return enter();
  skip();
  return false;
}

/** Into an array, or over any other value. @returns whether there is an item */
@inline
export function enterItems(): bool {
  if (byte(At.at) === 0x5b) return enterArray();
  skip();
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

/** A value that is no number. */
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
    const b = byte(at);
    if (!isDigit(b)) return ODD_COUNT;
    n = n * 10 + b - 0x30;
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
