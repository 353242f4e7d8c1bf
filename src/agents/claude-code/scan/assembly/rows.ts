// A row for each record, and one row for what several lines say of the same: as `src/model/merge.ts` merges them. What it
// would have to weigh is not decided here: then the session is read the long way.
import { State } from "./state";
import {
  CALL_USAGE,
  calls,
  has,
  KEY_CALL,
  KEY_PROMPT,
  KEY_RESULT,
  KEY_USE,
  NONE,
  own,
  prompts,
  results,
  Table,
  TEXT_CALL,
  TEXT_PROMPT,
  TEXT_RESULT,
  TEXT_USE,
  texts,
  uses,
} from "./tables";

/** What a line says of an answer. */
export class Call {
  static id: i32 = NONE;
  static request: i32 = NONE;
  static model: i32 = NONE;
  static requested: i32 = NONE;
  static finish: i32 = NONE;
  static prompt: i32 = NONE;
  static agent: i32 = NONE;
  static flags: i32 = 0;
  /** `NO_COUNT` where nobody told. */
  static input: u32 = 0;
  static output: u32 = 0;
  static cacheRead: u32 = 0;
  static cacheWrite: u32 = 0;
  static cacheWrite5m: u32 = 0;
  static cacheWrite1h: u32 = 0;
  static reasoning: u32 = 0;
  static timeMs: f64 = 0;
  /** NaN where nobody told. */
  static startMs: f64 = NaN;
  static endMs: f64 = 0;
}

const NEXT: i32 = 60;
export const CALL_TIME: i32 = 64;
export const CALL_START: i32 = 72;
export const CALL_END: i32 = 80;

/** @returns whether it could be merged */
export function putCall(): bool {
  const slot = texts.row(Call.id) + TEXT_CALL;
  const first = load<i32>(slot);
  for (let n = first; n !== 0; ) {
    const row = calls.row(n - 1);
    if (load<i32>(row, 4) === Call.request) return mergeCall(row);
    // A subagent's file may have copied it
    if ((load<i32>(row, 24) === NONE) !== (Call.agent === NONE)) return false;
    n = load<i32>(row, NEXT);
  }
  // `a:b` with `c` and `a` with `b:c` have one key
  if (has(Call.id, 0x3a)) return false;
  const row = claim(calls, Call.id, Call.request, slot, KEY_CALL);
  store<i32>(row, Call.request, 4);
  store<i32>(row, Call.model, 8);
  store<i32>(row, Call.requested, 12);
  store<i32>(row, Call.finish, 16);
  store<i32>(row, Call.prompt, 20);
  store<i32>(row, Call.agent, 24);
  store<i32>(row, Call.flags, 28);
  storeUsage(row);
  store<i32>(row, first, NEXT);
  store<f64>(row, Call.timeMs, CALL_TIME);
  store<f64>(row, Call.startMs, CALL_START);
  store<f64>(row, Call.endMs, CALL_END);
  return true;
}

/**
 * A new row of a text, which the session owns.
 *
 * @param second of an answer, that its key has too
 * @param slot where the text notes its row
 */
function claim(table: Table, text: i32, second: i32, slot: usize, key: i32): usize {
  const row = table.add();
  store<i32>(row, text);
  store<i32>(slot, table.rows);
  own(key, text, second);
  return row;
}

function storeUsage(row: usize): void {
  storeFigures(row + 32);
}

function storeFigures(at: usize): void {
  store<u32>(at, Call.input);
  store<u32>(at, Call.output, 4);
  store<u32>(at, Call.cacheRead, 8);
  store<u32>(at, Call.cacheWrite, 12);
  store<u32>(at, Call.cacheWrite5m, 16);
  store<u32>(at, Call.cacheWrite1h, 20);
  store<u32>(at, Call.reasoning, 24);
}

/** Notes it as the last answer that was told. Without a request none is. */
export function noteAnswer(): void {
  store<i32>(State.answer, Call.request === NONE ? NONE : Call.id);
  store<i32>(State.answer, Call.request, 4);
  storeFigures(State.answer + 8);
}

function mergeCall(row: usize): bool {
  if (!joinText(row, 8, Call.model) || !joinText(row, 12, Call.requested) || !joinText(row, 16, Call.finish))
    return false;
  if (load<i32>(row, 24) !== Call.agent || !joinPlace(row, CALL_TIME, 20, Call.timeMs, Call.prompt)) return false;
  const before = load<i32>(row, 28);
  if ((Call.flags & CALL_USAGE) !== 0) {
    const output = load<u32>(row, 36);
    // The output only grows; of two that say the same of it nothing else may differ
    if ((before & CALL_USAGE) === 0 || Call.output > output) storeUsage(row);
    else if (Call.output === output && !isSameUsage(row)) return false;
  }
  store<i32>(row, before | Call.flags, 28);
  const startMs = load<f64>(row, CALL_START);
  if (isNaN(startMs) || Call.startMs < startMs) store<f64>(row, Call.startMs, CALL_START);
  if (Call.endMs > load<f64>(row, CALL_END)) store<f64>(row, Call.endMs, CALL_END);
  return true;
}

function isSameUsage(row: usize): bool {
  return (
    load<u32>(row, 32) === Call.input &&
    load<u32>(row, 40) === Call.cacheRead &&
    load<u32>(row, 44) === Call.cacheWrite &&
    load<u32>(row, 48) === Call.cacheWrite5m &&
    load<u32>(row, 52) === Call.cacheWrite1h &&
    load<u32>(row, 56) === Call.reasoning
  );
}

/** Two different texts would have to be weighed. */
function joinText(row: usize, offset: i32, value: i32): bool {
  const before = load<i32>(row + offset);
  if (before === value || value === NONE) return true;
  if (before !== NONE) return false;
  store<i32>(row + offset, value);
  return true;
}

/** A record belongs where it was first told of. */
function joinPlace(row: usize, time: i32, prompt: i32, timeMs: f64, promptText: i32): bool {
  const before = load<f64>(row + time);
  if (timeMs > before) return true;
  if (timeMs === before) return load<i32>(row + prompt) === promptText;
  store<f64>(row + time, timeMs);
  store<i32>(row + prompt, promptText);
  return true;
}

export function putUse(call: i32, name: i32, executable: i32, prompt: i32, agent: i32, timeMs: f64): bool {
  const slot = texts.row(call) + TEXT_USE;
  const known = load<i32>(slot);
  if (known !== 0) {
    const row = uses.row(known - 1);
    return (
      load<i32>(row, 4) === name &&
      joinText(row, 8, executable) &&
      load<i32>(row, 16) === agent &&
      joinPlace(row, 24, 12, timeMs, prompt)
    );
  }
  const row = claim(uses, call, NONE, slot, KEY_USE);
  store<i32>(row, name, 4);
  store<i32>(row, executable, 8);
  store<i32>(row, prompt, 12);
  store<i32>(row, agent, 16);
  store<i32>(row, 0, 20);
  store<f64>(row, timeMs, 24);
  return true;
}

export function putResult(
  call: i32,
  status: i32,
  error: i32,
  prompt: i32,
  agent: i32,
  spawned: i32,
  exitCode: i32,
  added: i32,
  removed: i32,
  timeMs: f64,
): bool {
  const slot = texts.row(call) + TEXT_RESULT;
  const known = load<i32>(slot);
  if (known !== 0) {
    const row = results.row(known - 1);
    return (
      load<i32>(row, 4) === status &&
      load<i32>(row, 8) === error &&
      load<i32>(row, 16) === agent &&
      load<i32>(row, 24) === exitCode &&
      load<i32>(row, 28) === added &&
      load<i32>(row, 32) === removed &&
      joinText(row, 20, spawned) &&
      joinPlace(row, 40, 12, timeMs, prompt)
    );
  }
  const row = claim(results, call, NONE, slot, KEY_RESULT);
  store<i32>(row, status, 4);
  store<i32>(row, error, 8);
  store<i32>(row, prompt, 12);
  store<i32>(row, agent, 16);
  store<i32>(row, spawned, 20);
  store<i32>(row, exitCode, 24);
  store<i32>(row, added, 28);
  store<i32>(row, removed, 32);
  store<i32>(row, 0, 36);
  store<f64>(row, timeMs, 40);
  return true;
}

export function putPrompt(line: i32, origin: i32, length: i32, prompt: i32, timeMs: f64): bool {
  const slot = texts.row(line) + TEXT_PROMPT;
  const known = load<i32>(slot);
  if (known !== 0) {
    const row = prompts.row(known - 1);
    return load<i32>(row, 4) === origin && load<i32>(row, 8) === length && joinPlace(row, 24, 12, timeMs, prompt);
  }
  const row = claim(prompts, line, NONE, slot, KEY_PROMPT);
  store<i32>(row, origin, 4);
  store<i32>(row, length, 8);
  store<i32>(row, prompt, 12);
  store<i32>(row, NONE, 16);
  store<i32>(row, 0, 20);
  store<f64>(row, timeMs, 24);
  return true;
}
