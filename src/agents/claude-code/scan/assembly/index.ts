// Reads transcripts of Claude Code into tables, sixteen bytes at a time. See ../scan.ts.
import { body, columns, encode, Span } from "./columns";
import { At, byte } from "./json";
import { DONE, GIVE_UP, HARD, NEWS, readLine } from "./lines";
import { addName } from "./names";
import { listNames, names, programs } from "./named";
import { Call, putCall, putPrompt, putResult, putUse } from "./rows";
import { State } from "./state";
import { addUp, figures, join, joinEnd, joinSubagent, noted, toolUsage, turnUsage, usage } from "./sums";
import {
  calls,
  clear,
  Digest,
  NONE,
  owned,
  prompts,
  results,
  take,
  textBytes,
  textBytesAt,
  textOf,
  texts,
  uses,
} from "./tables";

export {
  addName,
  addUp,
  DONE,
  encode,
  HARD,
  join,
  joinEnd,
  joinSubagent,
  listNames,
  NEWS,
  putPrompt,
  putResult,
  putUse,
  take,
  textOf,
};

/** A line that somebody else must read, and where reading goes on. */
let lineStart: usize = 0;
let lineEnd: usize = 0;
let next: usize = 0;
let lines: i32 = 0;

/** Longer ones lose their long texts before they are read. */
const MAX_LINE: usize = 4 << 20;

/** How a key's digest begins, by its kind. */
export function setDigest(kind: i32, high: u32, low: u32): void {
  Digest.highs[kind] = high;
  Digest.lows[kind] = low;
}

/** A new session: nothing is known. */
export function session(): void {
  clear();
}

/** A new file of it. @param agent number of the subagent's id */
export function file(agent: i32, timeMs: f64): void {
  State.agent = agent;
  State.timeMs = timeMs;
  State.inputMs = NaN;
  State.prompt = NONE;
  State.lastLength = -1;
  State.hereLength = -1;
  State.requests = 0;
  State.noAnswer();
  State.firstMs = NaN;
  lines = 0;
}

/**
 * Complete lines from one place to another; a line feed must stand at `end`, and room behind it.
 *
 * @returns `DONE`, all of them are read; `HARD`, the one at `lineStartAt` is for somebody else; `NEWS`, it has told something
 *          of the session; `GIVE_UP`, the session is to be read the long way. `nextAt` is behind the last one.
 */
export function run(from: usize, end: usize): i32 {
  next = from;
  while (next < end) {
    const start = next;
    if (byte(start) === 0x0a) {
      next++;
      continue;
    }
    At.at = start;
    State.hereLength = -1;
    const result = readLine(end);
    let at = At.at;
    if (result === HARD || result === GIVE_UP) at = lineFeed(at, end);
    if (at >= end) return DONE;
    next = at + 1;
    lines++;
    if (at - start > MAX_LINE) return GIVE_UP;
    if (result === DONE) continue;
    lineStart = start;
    lineEnd = at;
    return result;
  }
  return DONE;
}

function lineFeed(from: usize, end: usize): usize {
  const feed = i8x16.splat(0x0a);
  for (let at = from; at < end; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), feed));
    if (found !== 0) return at + ctz(found);
  }
  return end;
}

export function nextAt(): usize {
  return next;
}
export function lineStartAt(): usize {
  return lineStart;
}
export function lineEndAt(): usize {
  return lineEnd;
}
export function linesRead(): i32 {
  return lines;
}

export function timeMs(): f64 {
  return State.timeMs;
}
export function firstMs(): f64 {
  return State.firstMs;
}
export function inputMs(): f64 {
  return State.inputMs;
}
/** What was told last of the session: version, folder and branch as they stand in JSON, a line feed behind each. */
export function factsAt(): usize {
  return State.last;
}
export function factsLength(): i32 {
  return State.lastLength;
}
export function promptBefore(): i32 {
  return State.promptBefore;
}
export function promptText(): i32 {
  return State.prompt;
}
/** The last answer that had figures of its own: nine whole numbers, see `State.answer`. */
export function answerAt(): usize {
  return State.answer;
}
export function requests(): i32 {
  return State.requests;
}
export function requestText(n: i32): i32 {
  return State.requestText(n);
}
export function requestMs(n: i32): f64 {
  return State.requestMs(n);
}

/** The state behind a line that somebody else has read. @param isTold it told of the session */
export function setState(time: f64, input: f64, prompt: i32, isTold: bool): void {
  State.timeMs = time;
  State.inputMs = input;
  State.prompt = prompt;
  if (isTold) State.accept();
}

/** The time of a record that somebody else has read. */
export function saw(ms: f64): void {
  State.saw(ms);
}

export function putAnswer(
  id: i32,
  request: i32,
  model: i32,
  requested: i32,
  finish: i32,
  prompt: i32,
  agent: i32,
  flags: i32,
  input: u32,
  output: u32,
  cacheRead: u32,
  cacheWrite: u32,
  cacheWrite5m: u32,
  cacheWrite1h: u32,
  reasoning: u32,
  time: f64,
  start: f64,
  end: f64,
): bool {
  Call.id = id;
  Call.request = request;
  Call.model = model;
  Call.requested = requested;
  Call.finish = finish;
  Call.prompt = prompt;
  Call.agent = agent;
  Call.flags = flags;
  Call.input = input;
  Call.output = output;
  Call.cacheRead = cacheRead;
  Call.cacheWrite = cacheWrite;
  Call.cacheWrite5m = cacheWrite5m;
  Call.cacheWrite1h = cacheWrite1h;
  Call.reasoning = reasoning;
  Call.timeMs = time;
  Call.startMs = start;
  Call.endMs = end;
  return putCall();
}

export function callsAt(): usize {
  return calls.at;
}
export function callRows(): i32 {
  return calls.rows;
}
export function useRows(): i32 {
  return uses.rows;
}
export function resultRows(): i32 {
  return results.rows;
}
export function promptRows(): i32 {
  return prompts.rows;
}
export function ownedAt(): usize {
  return owned.at;
}
export function ownedRows(): i32 {
  return owned.rows;
}
export function textsAt(): usize {
  return texts.at;
}
export function textRows(): i32 {
  return texts.rows;
}
export { textBytes, textBytesAt };

export function namesAt(): usize {
  return names.at;
}
export function nameRows(): i32 {
  return names.rows;
}
export function programsAt(): usize {
  return programs.at;
}
export function programRows(): i32 {
  return programs.rows;
}
export function columnsAt(): usize {
  return columns.at;
}
export function columnRows(): i32 {
  return columns.rows;
}
export function bodyAt(): usize {
  return body.at;
}
export function bodyBytes(): i32 {
  return body.rows;
}
export function firstRecordMs(): f64 {
  return Span.firstMs;
}
export function lastRecordMs(): f64 {
  return Span.lastMs;
}
export function figuresAt(): usize {
  return changetype<usize>(figures);
}
export function notedAt(): usize {
  return noted.at;
}
export function notedRows(): i32 {
  return noted.rows;
}
export function usageAt(): usize {
  return usage.at;
}
export function usageRows(): i32 {
  return usage.rows;
}
export function toolUsageAt(): usize {
  return toolUsage.at;
}
export function toolUsageRows(): i32 {
  return toolUsage.rows;
}
export function turnUsageAt(): usize {
  return turnUsage.at;
}
export function turnUsageRows(): i32 {
  return turnUsage.rows;
}
