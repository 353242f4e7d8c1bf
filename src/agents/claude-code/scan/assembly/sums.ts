// What a session adds up to whose facts are all in tables: which calls and tools belong to which turn or subagent, as `assign`
// and `pairTools` of `src/session` have it, then the sums of `src/import/sums.ts` and `src/telemetry/totals.ts`. What decides
// how a turn went, or what has to be weighed, is not summed here.
import { Groups } from "./groups";
import { CALL_END, CALL_START, CALL_TIME } from "./rows";
import {
  CALL_COMPLETE,
  CALL_USAGE,
  calls,
  has,
  isText,
  NONE,
  prompts,
  results,
  Table,
  TEXT_AGENT,
  TEXT_RESULT,
  TEXT_TAKEN,
  TEXT_TURN,
  TEXT_USE,
  texts,
  uses,
} from "./tables";

/** flags, nothing; first sign of life, start, end */
const runs = new Table(32);
const HAS_PROMPT: i32 = 1;
const IS_MACHINE: i32 = 2;
const IS_SUBAGENT: i32 = 4;
const MARK: i32 = 8;
const START: i32 = 16;
const END: i32 = 24;

/** name, status, run, whether a subagent's; start, end */
const tools = new Table(32);
/** Status of one that nobody answered. */
const OPEN: i32 = -1;

/** By the place that they have in `ORIGINS` of `src/model/fact-tables.ts`. */
const MACHINE: i32 = 1;
const COMMAND: i32 = 2;

/** As `PackedUsage` of `src/model/packed.ts` has them, a model by its number. */
export const usage = new Groups(17);
/** As `PackedTools` has them, likewise. */
export const toolUsage = new Groups(9);
/** As `PackedTurns` has them, with 1 for those that a machine asked for. */
export const turnUsage = new Groups(5);
/** Calls that may have a price, as `Unpriced` has them. */
export const noted = new Table(72);
/** In the order in which ../sums.ts takes them. */
export const figures = new StaticArray<f64>(13);

let isSimple = true;

/**
 * Which calls and tools belong together.
 *
 * @returns whether they can be summed: all belong to a prompt of their own
 */
export function join(): bool {
  isSimple = true;
  runs.rows = tools.rows = 0;
  for (let n = 0; n < texts.rows; n++) {
    const row = texts.row(n);
    store<i32>(row, 0, TEXT_TURN);
    store<i32>(row, 0, TEXT_AGENT);
    store<i32>(row, 0, TEXT_TAKEN);
  }
  takePrompts();
  takeCalls();
  takeTools();
  return isSimple;
}

function takePrompts(): void {
  for (let n = 0; n < prompts.rows; n++) {
    const row = prompts.row(n);
    const prompt = load<i32>(row, 12);
    // A fork gives its own id to prompts that it copies
    if (prompt === NONE || isOwnWord(prompt) || load<i32>(texts.row(prompt), TEXT_TAKEN) !== 0) {
      isSimple = false;
      continue;
    }
    store<i32>(texts.row(prompt), 1, TEXT_TAKEN);
    const origin = load<i32>(row, 4);
    if (origin === COMMAND) continue;
    const ms = load<f64>(row, 24);
    begin(texts.row(prompt) + TEXT_TURN, origin === MACHINE ? HAS_PROMPT | IS_MACHINE : HAS_PROMPT, ms, ms);
  }
}

function takeCalls(): void {
  for (let n = 0; n < calls.rows; n++) {
    const row = calls.row(n);
    const timeMs = load<f64>(row, CALL_TIME);
    const startMs = load<f64>(row, CALL_START);
    const endMs = load<f64>(row, CALL_END);
    const told = isNaN(startMs) ? timeMs : startMs;
    see(runOf(load<i32>(row, 20), load<i32>(row, 24)), min(told, timeMs), min(told, endMs), endMs);
  }
}

function takeTools(): void {
  for (let n = 0; n < uses.rows; n++) {
    const use = uses.row(n);
    const result = load<i32>(texts.row(load<i32>(use)), TEXT_RESULT);
    takeTool(use, result === 0 ? 0 : results.row(result - 1));
  }
  const called = tools.rows;
  for (let n = 0; n < results.rows; n++) {
    const result = results.row(n);
    if (load<i32>(texts.row(load<i32>(result)), TEXT_USE) === 0) takeTool(0, result);
  }
  if (tools.rows === called) return;
  // A tool can have the name that those get which nobody named
  for (let n = 0; n < called; n++) if (isText(load<i32>(tools.row(n)), "unknown")) isSimple = false;
}

/** @param use its row, or 0 @param result likewise */
function takeTool(use: usize, result: usize): void {
  let startMs: f64;
  let endMs: f64;
  if (result === 0) {
    startMs = endMs = load<f64>(use, 24);
  } else {
    const answeredMs = load<f64>(result, 40);
    const usedMs = use === 0 ? Infinity : load<f64>(use, 24);
    startMs = min(usedMs, answeredMs);
    endMs = answeredMs;
  }
  let prompt = use === 0 ? NONE : load<i32>(use, 12);
  if (prompt === NONE && result !== 0) prompt = load<i32>(result, 12);
  let agent = use === 0 ? NONE : load<i32>(use, 16);
  if (agent === NONE && result !== 0) agent = load<i32>(result, 16);
  const run = runOf(prompt, agent);
  see(run, startMs, startMs, endMs);
  const row = tools.add();
  store<i32>(row, use === 0 ? NONE : load<i32>(use, 4));
  store<i32>(row, result === 0 ? OPEN : load<i32>(result, 4), 4);
  store<i32>(row, run, 8);
  store<i32>(row, agent === NONE ? 0 : 1, 12);
  store<f64>(row, startMs, 16);
  store<f64>(row, endMs, 24);
}

/** The number of the run that something belongs to. */
function runOf(prompt: i32, agent: i32): i32 {
  if (agent !== NONE) {
    const slot = texts.row(agent) + TEXT_AGENT;
    const known = load<i32>(slot);
    return known === 0 ? begin(slot, IS_SUBAGENT, Infinity, -Infinity) : known - 1;
  }
  // By time alone it is told which turn it belongs to
  if (prompt === NONE) {
    isSimple = false;
    return runs.rows === 0 ? addRun(0, Infinity, -Infinity) : 0;
  }
  const slot = texts.row(prompt) + TEXT_TURN;
  const known = load<i32>(slot);
  if (known !== 0) return known - 1;
  if (isOwnWord(prompt)) isSimple = false;
  return begin(slot, 0, Infinity, -Infinity);
}

function begin(slot: usize, flags: i32, startMs: f64, endMs: f64): i32 {
  const run = addRun(flags, startMs, endMs);
  store<i32>(slot, run + 1);
  return run;
}

function addRun(flags: i32, startMs: f64, endMs: f64): i32 {
  const row = runs.add();
  store<i32>(row, flags);
  store<f64>(row, startMs, MARK);
  store<f64>(row, startMs, START);
  store<f64>(row, endMs, END);
  return runs.rows - 1;
}

/** A call or tool in its run. @param firstMs what counts as its first sign of life */
function see(run: i32, firstMs: f64, startMs: f64, endMs: f64): void {
  const row = runs.row(run);
  if ((load<i32>(row) & HAS_PROMPT) === 0) {
    if (firstMs < load<f64>(row, MARK)) store<f64>(row, firstMs, MARK);
    if (firstMs < load<f64>(row, START)) store<f64>(row, firstMs, START);
  }
  if (startMs < load<f64>(row, START)) store<f64>(row, startMs, START);
  if (endMs > load<f64>(row, END)) store<f64>(row, endMs, END);
}

/** A key that says something in ours: `NO_PROMPT` of `src/session/assign.ts`, or what it makes of keys. */
function isOwnWord(prompt: i32): bool {
  return has(prompt, 0x7e) || isText(prompt, "none");
}

/** Its file tells when a subagent began; what it did counts more. */
export function joinSubagent(agent: i32, timeMs: f64): void {
  const slot = texts.row(agent) + TEXT_AGENT;
  if (load<i32>(slot) === 0) begin(slot, IS_SUBAGENT, timeMs, timeMs);
}

/** A turn's end, of one that is known. */
export function joinEnd(prompt: i32, timeMs: f64): void {
  const known = load<i32>(texts.row(prompt), TEXT_TURN);
  if (known !== 0) see(known - 1, timeMs, Infinity, timeMs);
}

/** Sums of what belongs together. */
export function addUp(): void {
  // Of the one segment: nothing tells of another
  let startMs: f64 = Infinity;
  let endMs: f64 = -Infinity;
  let turns = 0;
  for (let n = 0; n < runs.rows; n++) {
    const row = runs.row(n);
    if ((load<i32>(row) & IS_SUBAGENT) !== 0) continue;
    turns++;
    const markMs = load<f64>(row, MARK);
    startMs = min(startMs, markMs);
    endMs = max(endMs, markMs);
  }
  for (let n = 0; n < tools.rows; n++) endMs = max(endMs, load<f64>(tools.row(n), 24));
  for (let n = 0; n < calls.rows; n++) endMs = max(endMs, load<f64>(calls.row(n), CALL_END));
  addTools(endMs);
  addCalls();
  addTurns();
  let firstMs: f64 = Infinity;
  let lastMs: f64 = -Infinity;
  for (let n = 0; n < runs.rows; n++) {
    firstMs = min(firstMs, load<f64>(runs.row(n), START));
    lastMs = max(lastMs, load<f64>(runs.row(n), END));
  }
  figures[0] = startMs;
  figures[1] = endMs;
  figures[2] = firstMs;
  figures[3] = lastMs;
  figures[4] = turns;
  figures[5] = runs.rows - turns;
  figures[6] = tools.rows;
}

/** A call that nobody answered lasted as long as its session; that may be longer than its run was known to be. */
function addTools(sessionEndMs: f64): void {
  toolUsage.clear();
  for (let n = 0; n < tools.rows; n++) {
    const tool = tools.row(n);
    const status = load<i32>(tool, 4);
    const isSubagents = load<i32>(tool, 12);
    const startMs = load<f64>(tool, 16);
    const endMs = status === OPEN ? max(startMs, sessionEndMs) : load<f64>(tool, 24);
    const run = runs.row(load<i32>(tool, 8));
    if (endMs > load<f64>(run, END)) store<f64>(run, endMs, END);
    const row = toolUsage.row(toolUsage.place(startMs, isSubagents, load<i32>(tool)));
    store<f64>(row, NaN, 16);
    store<f64>(row, isSubagents, 24);
    count(row + 32);
    // Success adds to none of them
    if (status === OPEN) count(row + 56);
    else if (status > 0) count(row + 32 + status * 8);
    add(row + 64, endMs - startMs);
  }
}

function addCalls(): void {
  usage.clear();
  noted.rows = 0;
  let withUsage = 0;
  let incomplete = 0;
  let input: f64 = 0;
  let output: f64 = 0;
  let cacheRead: f64 = 0;
  let cacheWrite: f64 = 0;
  for (let n = 0; n < calls.rows; n++) {
    const call = calls.row(n);
    const timeMs = load<f64>(call, CALL_TIME);
    const beginMs = load<f64>(call, CALL_START);
    const endMs = load<f64>(call, CALL_END);
    const startMs = min(isNaN(beginMs) ? timeMs : beginMs, endMs);
    const model = load<i32>(call, 8);
    const flags = load<i32>(call, 28);
    const isSubagents = load<i32>(call, 24) === NONE ? 0 : 1;
    const known = usage.rows;
    const place = usage.place(endMs, isSubagents, model);
    const row = usage.row(place);
    if (place === known) {
      store<f64>(row, isSubagents, 16);
      for (let at = 64; at < 128; at += 8) store<f64>(row + at, NaN);
    }
    count(row + 24);
    count(row + 48);
    add(row + 128, endMs - startMs);
    if ((flags & CALL_COMPLETE) === 0) {
      count(row + 56);
      incomplete++;
    }
    if ((flags & CALL_USAGE) === 0) {
      count(row + 40);
      continue;
    }
    withUsage++;
    // The seven kinds of tokens, in one order here and there
    for (let kind = 0; kind < 7; kind++) addTold(row + 64 + kind * 8, load<i32>(call + kind * 4, 32));
    input += <f64>load<u32>(call, 32);
    output += <f64>load<u32>(call, 36);
    cacheRead += max<f64>(told(load<i32>(call, 40)), 0);
    cacheWrite += max<f64>(told(load<i32>(call, 44)), 0);
    if (model === NONE) continue;
    const note = noted.add();
    store<f64>(note, place);
    store<f64>(note, 0, 8);
    store<f64>(note, 0, 16);
    store<f64>(note, <f64>load<u32>(call, 32), 24);
    store<f64>(note, <f64>load<u32>(call, 36), 32);
    store<f64>(note, told(load<i32>(call, 40)), 40);
    store<f64>(note, told(load<i32>(call, 44)), 48);
    store<f64>(note, told(load<i32>(call, 52)), 56);
    store<f64>(note, endMs, 64);
  }
  figures[7] = input;
  figures[8] = output;
  figures[9] = cacheRead;
  figures[10] = cacheWrite;
  figures[11] = withUsage;
  figures[12] = incomplete;
}

function addTurns(): void {
  turnUsage.clear();
  for (let n = 0; n < runs.rows; n++) {
    const run = runs.row(n);
    const flags = load<i32>(run);
    if ((flags & IS_SUBAGENT) !== 0) continue;
    const row = turnUsage.row(turnUsage.place(load<f64>(run, START), 0, (flags & IS_MACHINE) === 0 ? 0 : 1));
    count(row + 16);
  }
}

/** Tokens of a call need all bits of their four bytes; -1 is what nobody told. */
@inline
function told(tokens: i32): f64 {
  return tokens === NONE ? -1 : <f64>(<u32>tokens);
}

/** What nobody told leaves a sum as it is, and one that nobody told anything of is NaN. */
@inline
function addTold(at: usize, tokens: i32): void {
  if (tokens === NONE) return;
  const sum = load<f64>(at);
  store<f64>(at, (isNaN(sum) ? 0 : sum) + told(tokens));
}

@inline
function count(at: usize): void {
  add(at, 1);
}

@inline
function add(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}
