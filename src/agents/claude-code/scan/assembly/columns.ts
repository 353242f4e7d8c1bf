// The tables by columns, each with as many bytes a number as it needs, counted from its smallest; one that says the same in
// every row needs none. What it gives is read by `src/model/fact-columns.ts`.
import { CALL_TIME } from "./rows";
import { calls, prompts, results, Table, uses } from "./tables";

/** Bytes a number, and what 0 stands for; NaN where no row told anything. */
export const columns = new Table(16);
/** Their bytes, one column behind the other. */
export const body = new Table(1);

/** When the first and the last record of any table was written. */
export class Span {
  static firstMs: f64 = Infinity;
  static lastMs: f64 = -Infinity;
}

export function encode(): void {
  columns.rows = body.rows = 0;
  Span.firstMs = Infinity;
  Span.lastMs = -Infinity;
  encodeTable(calls, 15, CALL_TIME, 3);
  encodeTable(uses, 5, 24, 1);
  encodeTable(results, 9, 40, 1);
  encodeTable(prompts, 5, 24, 1);
}

/** @param ints how many it has, from its beginning on @param timesAt where its times begin */
function encodeTable(table: Table, ints: i32, timesAt: i32, times: i32): void {
  if (table.rows === 0) return;
  for (let n = 0; n < ints; n++) encodeInts(table, n * 4);
  for (let n = 0; n < times; n++) encodeTimes(table, timesAt + n * 8, n === 0);
}

function encodeInts(table: Table, offset: i32): void {
  const end = table.row(table.rows);
  let low = i32.MAX_VALUE;
  let high = i32.MIN_VALUE;
  for (let at = table.row(0) + offset; at < end; at += table.stride) {
    const value = load<i32>(at);
    low = min(low, value);
    high = max(high, value);
  }
  const width = widthOf(<f64>(<i64>high - <i64>low));
  tell(width, low);
  let to = body.more(width * table.rows);
  for (let at = table.row(0) + offset; at < end && width !== 0; at += table.stride) {
    put(to, width, load<i32>(at) - low);
    to += width;
  }
}

/** @param isWritten it tells when records were written */
function encodeTimes(table: Table, offset: i32, isWritten: bool): void {
  const end = table.row(table.rows);
  let low: f64 = Infinity;
  let high: f64 = -Infinity;
  let untold = 0;
  let isWhole = true;
  for (let at = table.row(0) + offset; at < end; at += table.stride) {
    const value = load<f64>(at);
    if (value < low) low = value;
    if (value > high) high = value;
    if (isNaN(value)) untold++;
    else if (value !== Math.floor(value)) isWhole = false;
  }
  if (isWritten) {
    Span.firstMs = min(Span.firstMs, low);
    Span.lastMs = max(Span.lastMs, high);
  }
  if (untold === table.rows) {
    tell(0, NaN);
    return;
  }
  const width = isWhole && untold === 0 ? widthOf(high - low) : 8;
  tell(width, width === 8 ? 0 : low);
  let to = body.more(width * table.rows);
  for (let at = table.row(0) + offset; at < end && width !== 0; at += table.stride) {
    if (width === 8) store<f64>(to, load<f64>(at));
    else put(to, width, <u32>(load<f64>(at) - low));
    to += width;
  }
}

@inline
function widthOf(range: f64): i32 {
  return range === 0 ? 0 : range <= 0xff ? 1 : range <= 0xffff ? 2 : range <= 0xffffffff ? 4 : 8;
}

function tell(width: i32, base: f64): void {
  const row = columns.add();
  store<f64>(row, width);
  store<f64>(row, base, 8);
}

@inline
function put(to: usize, width: i32, value: i32): void {
  if (width === 1) store<u8>(to, value);
  else if (width === 2) store<u16>(to, value);
  else store<u32>(to, value);
}
