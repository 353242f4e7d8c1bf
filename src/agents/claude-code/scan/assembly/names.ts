// Names of members, and texts that mean something, by number. They are told once, by whoever starts this: see ../names.ts.
import { At, byte, endsIn, fail, name, Text } from "./json";
import { OTHER } from "./numbers";
import { same, take } from "./tables";

export const SLOTS: i32 = 512;
/** place, length, number */
const ROW: i32 = 12;
/** Names and kinds; programs. A text can be both. */
const tables = take(2 * SLOTS * ROW);
memory.fill(tables, 0, 2 * SLOTS * ROW);
export const NAMES: i32 = 0;
export const PROGRAMS: i32 = 1;

/** Names of less than sixteen letters, with nothing behind them: two of them are compared at once. */
const SHORT_SLOTS: i32 = 256;
const shortNames = take(SHORT_SLOTS * 16);
const shortNumbers = take(SHORT_SLOTS * 4);
memory.fill(shortNumbers, 0, SHORT_SLOTS * 4);
/** As many bytes of a name as lie before the middle, nothing of the others. */
const masks = take(32);
memory.fill(masks, 0xff, 16);
memory.fill(masks + 16, 0, 16);

/** @param number from 1 up */
export function addName(which: i32, at: usize, length: i32, number: i32): void {
  if (which === NAMES && length < 16) return addShort(firstOf(v128.load(at), length), number);
  const table = tables + which * SLOTS * ROW;
  const kept = take(length + 8);
  memory.copy(kept, at, length);
  let slot = slotOf(at, length);
  while (load<i32>(table + slot * ROW, 8) !== 0) slot = (slot + 1) & (SLOTS - 1);
  store<u32>(table + slot * ROW, <u32>kept);
  store<i32>(table + slot * ROW, length, 4);
  store<i32>(table + slot * ROW, number, 8);
}

/** @returns 0 for one that means nothing */
export function nameAt(which: i32, at: usize, length: i32): i32 {
  if (which === NAMES && length < 16) return shortNumber(firstOf(v128.load(at), length));
  const table = tables + which * SLOTS * ROW;
  let slot = slotOf(at, length);
  while (true) {
    const row = table + slot * ROW;
    const number = load<i32>(row, 8);
    if (number === 0) return 0;
    if (load<i32>(row, 4) === length && same(load<u32>(row), at, length)) return number;
    slot = (slot + 1) & (SLOTS - 1);
  }
}

/**
 * Lines of one kind have their members in one order: each name is first compared with the one that came there before, with
 * the quote and the colon behind it. What came before is told by the two names before it.
 */
export class Guess {
  static place: i32 = 0;

  /** A new line begins. */
  @inline
  static begin(): void {
    Guess.place = 0;
  }

  @inline
  static at(): usize {
    return guesses + Guess.place * GUESS;
  }

  @inline
  static goOn(hash: i32): void {
    Guess.place = ((Guess.place << 3) ^ hash) & (PLACES - 1);
  }
}

const PLACES: i32 = 1024;
/** 32 bytes, the same of masks for them, and how many count, the number and the hash of the name. */
const GUESS: i32 = 80;
const guesses = take(PLACES * GUESS);
// No name has such bytes
memory.fill(guesses, 0xff, PLACES * GUESS);

/** The number of a member's name, up to its value; `OTHER`, and `At.failed`, where it is none or an escape hides it. */
export function member(): i32 {
  const start = At.at + 1;
  const bytes = v128.load(start);
  const guess = Guess.at();
  if (
    !v128.any_true(v128.xor(v128.and(bytes, v128.load(guess, 32)), v128.load(guess))) &&
    byte(At.at) === 0x22 &&
    (load<i32>(guess, 64) <= 16 || !v128.any_true(v128.xor(v128.and(v128.load(start, 16), v128.load(guess, 48)), v128.load(guess, 16))))
  ) {
    const at = start + <usize>load<i32>(guess, 64);
    if (byte(at) > 0x20) {
      At.at = at;
      Guess.goOn(load<i32>(guess, 72));
      return load<i32>(guess, 68);
    }
  }
  const found = endsIn(bytes);
  const length = ctz(found);
  const end = start + <usize>length;
  // Nearly all: short, with nothing escaped, and no space around the colon
  if (found !== 0 && byte(At.at) === 0x22 && load<u16>(end) === QUOTE_COLON && byte(end + 2) > 0x20) {
    At.at = end + 2;
    return noted(guess, start, length, shortNumber(firstOf(bytes, length)));
  }
  if (!name()) return OTHER;
  if (!Text.hasEscapes) return noted(guess, Text.at, Text.length, nameAt(NAMES, Text.at, Text.length));
  fail();
  return OTHER;
}

/** Guesses the same the next time. @returns the number */
function noted(guess: usize, at: usize, length: i32, number: i32): i32 {
  const whole = length + 2;
  const first = i64x2.extract_lane(v128.and(v128.load(at), v128.load(masks + 16 - <usize>min(length, 16))), 0);
  const hash = <i32>(((first ^ length) * 0x9e3779b97f4a7c15) >>> 54);
  if (whole <= 32 && load<u16>(at + length) === QUOTE_COLON) {
    const low = v128.load(masks + 16 - <usize>min(whole, 16));
    const high = v128.load(masks + 16 - <usize>max(whole - 16, 0));
    v128.store(guess, v128.and(v128.load(at), low));
    v128.store(guess, v128.and(v128.load(at, 16), high), 16);
    v128.store(guess, low, 32);
    v128.store(guess, high, 48);
    store<i32>(guess, whole, 64);
    store<i32>(guess, number, 68);
    store<i32>(guess, hash, 72);
  }
  Guess.goOn(hash);
  return number;
}

const QUOTE_COLON: u32 = 0x3a22;

@inline
function firstOf(bytes: v128, length: i32): v128 {
  return v128.and(bytes, v128.load(masks + 16 - <usize>length));
}

function addShort(name: v128, number: i32): void {
  let slot = shortSlot(name);
  while (load<i32>(shortNumbers + slot * 4) !== 0) slot = (slot + 1) & (SHORT_SLOTS - 1);
  v128.store(shortNames + slot * 16, name);
  store<i32>(shortNumbers + slot * 4, number);
}

@inline
function shortNumber(name: v128): i32 {
  let slot = shortSlot(name);
  while (true) {
    const number = load<i32>(shortNumbers + slot * 4);
    if (number === 0 || i8x16.all_true(i8x16.eq(name, v128.load(shortNames + slot * 16)))) return number;
    slot = (slot + 1) & (SHORT_SLOTS - 1);
  }
}

@inline
function shortSlot(name: v128): i32 {
  const hash = (i64x2.extract_lane(name, 0) ^ (i64x2.extract_lane(name, 1) << 1)) * 0x9e3779b97f4a7c15;
  return <i32>(hash >>> 56);
}

@inline
function slotOf(at: usize, length: i32): i32 {
  const head = length >= 8 ? load<u64>(at) : load<u64>(at) & ((<u64>1 << (length * 8)) - 1);
  const tail: u64 = length > 8 ? load<u64>(at + length - 8) : 0;
  const hash = (head ^ (tail << 1) ^ <u64>length) * 0x9e3779b97f4a7c15;
  return <i32>(hash >>> 55);
}
