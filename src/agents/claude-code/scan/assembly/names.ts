// Names of members, and texts that mean something, by number. They are told once, by whoever starts this: see ../names.ts.
import { fail, name, Text } from "./json";
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

/** @param number from 1 up */
export function addName(which: i32, at: usize, length: i32, number: i32): void {
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

/** The number of a member's name, up to its value; `OTHER`, and `At.failed`, where it is none or an escape hides it. */
export function member(): i32 {
  if (!name()) return OTHER;
  if (!Text.hasEscapes) return nameAt(NAMES, Text.at, Text.length);
  fail();
  return OTHER;
}

@inline
function slotOf(at: usize, length: i32): i32 {
  const head = length >= 8 ? load<u64>(at) : load<u64>(at) & ((<u64>1 << (length * 8)) - 1);
  const tail: u64 = length > 8 ? load<u64>(at + length - 8) : 0;
  const hash = (head ^ (tail << 1) ^ <u64>length) * 0x9e3779b97f4a7c15;
  return <i32>(hash >>> 55);
}
