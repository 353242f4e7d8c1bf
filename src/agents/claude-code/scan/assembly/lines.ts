// One line of a transcript → its rows, by the rules of ../../lines.ts, for the lines that nearly all are. Whatever else a line
// holds, it is left to those rules: `HARD`.
import {
  Blocks,
  blockAnswers,
  blockCommand,
  blockExitCode,
  blockId,
  blockKind,
  blockName,
  blockProgram,
  blockText,
  isError,
  readBlocks,
  Span,
  setBlockExitCode,
  setBlockProgram,
  span,
} from "./blocks";
import { At, byte, count, enter, enterArray, fail, isTrue, more, NO_COUNT, name, ODD_COUNT, skip, space, Text } from "./json";
import { NAMES, nameAt } from "./names";
import * as N from "./numbers";
import { ODD_PROGRAM, programOf } from "./programs";
import { Call, putCall, putPrompt, putResult, putUse } from "./rows";
import { State } from "./state";
import { CALL_ASKS, CALL_COMPLETE, CALL_USAGE, NONE, textOf } from "./tables";
import { idOf, isText, startsWith, timeOf, utf16Length } from "./values";

/** Everything it says is in the tables. */
export const DONE: i32 = 0;
/** Somebody else must read it. */
export const HARD: i32 = 1;
/** It contradicts what was read before: the session must be read the long way. */
export const GIVE_UP: i32 = 2;
/** It is in the tables, but for what it says of the session itself. */
export const NEWS: i32 = 3;

const time = span();
const uuid = span();
const version = span();
const cwd = span();
const branch = span();
const requestId = span();
const requestRef = span();
const requestedModel = span();
const promptId = span();
const promptSource = span();
const lineId = span();
const messageId = span();
const model = span();
const stopReason = span();
const content = span();
const outcomeText = span();
const spawned = span();

/** Members of the line that is read. */
class Line {
  static type: i32 = 0;
  static subtype: i32 = 0;
  static isSidechain: bool = false;
  static hasMessage: bool = false;
  static hasBlocks: bool = false;
  /** A bit for each member that says so. */
  static companion: i32 = 0;
  static isInterruption: bool = false;
  static isDenied: bool = false;
  static isMachine: bool = false;
  static isOdd: bool = false;
  static hasUsage: bool = false;
  static isInterrupted: bool = false;
  static isCreated: bool = false;
  static hasPatch: bool = false;
  static added: i32 = 0;
  static removed: i32 = 0;
}

/**
 * Reads the line at `At.at`, up to its line feed.
 *
 * @param end of what is there: a line that goes on behind it is `HARD`
 * @returns `DONE`, `HARD` or `GIVE_UP`; `HARD` has changed nothing
 */
export function readLine(end: usize): i32 {
  At.failed = false;
  State.isNews = false;
  State.promptBefore = State.prompt;
  clear();
  space();
  if (byte(At.at) !== 0x7b || !readMembers()) return HARD;
  space();
  if (byte(At.at) !== 0x0a || At.at >= end || Line.isOdd) return HARD;
  switch (Line.type) {
    case N.USER:
      return withNews(userLine());
    case N.ASSISTANT:
      return withNews(assistantLine());
    case N.SYSTEM:
      if (Line.subtype === N.API_ERROR || Line.subtype === N.COMPACT_BOUNDARY || Line.subtype === N.TURN_DURATION) return HARD;
      return takeTime() ? DONE : HARD;
    case N.API_REQUEST:
      return rememberRequest();
    default:
      return Line.type >= N.SILENT ? DONE : HARD;
  }
}

function withNews(result: i32): i32 {
  if (result !== DONE || !State.isNews) return result;
  State.accept();
  return NEWS;
}

function clear(): void {
  time.clear();
  uuid.clear();
  version.clear();
  cwd.clear();
  branch.clear();
  requestId.clear();
  requestRef.clear();
  requestedModel.clear();
  promptId.clear();
  promptSource.clear();
  lineId.clear();
  outcomeText.clear();
  spawned.clear();
  Line.type = 0;
  Line.subtype = 0;
  Line.isSidechain = false;
  Line.companion = 0;
  Line.isInterruption = false;
  Line.isDenied = false;
  Line.isMachine = false;
  Line.isOdd = false;
  Line.isInterrupted = false;
  Line.isCreated = false;
  Line.hasPatch = false;
  clearMessage();
}

function clearMessage(): void {
  messageId.clear();
  model.clear();
  stopReason.clear();
  content.clear();
  Line.hasMessage = false;
  Line.hasBlocks = false;
  Line.hasUsage = false;
  Blocks.count = 0;
  Blocks.results = 0;
}

function readMembers(): bool {
  if (!enter()) return true;
  do {
    if (!name()) return false;
    if (Text.hasEscapes) return fail();
    switch (nameAt(NAMES, Text.at, Text.length)) {
      case N.TYPE:
        Line.type = kindHere();
        break;
      case N.SUBTYPE:
        Line.subtype = kindHere();
        break;
      case N.TIMESTAMP:
        time.read();
        if (time.at === 0) Line.isOdd = true;
        break;
      case N.MESSAGE:
        clearMessage();
        readMessage();
        break;
      case N.UUID:
        uuid.read();
        break;
      case N.VERSION:
        version.read();
        break;
      case N.CWD:
        cwd.read();
        break;
      case N.GIT_BRANCH:
        branch.read();
        break;
      case N.REQUEST_ID:
        requestId.read();
        break;
      case N.REQUEST_REF:
        requestRef.read();
        break;
      case N.REQUESTED_MODEL:
        requestedModel.read();
        break;
      case N.PROMPT_ID:
        promptId.read();
        break;
      case N.PROMPT_SOURCE:
        promptSource.read();
        if (promptSource.hasEscapes) Line.isOdd = true;
        break;
      case N.ID:
        lineId.read();
        break;
      case N.IS_SIDECHAIN:
        Line.isSidechain = isTrue();
        break;
      case N.TOOL_USE_RESULT:
        readOutcome();
        break;
      case N.PERMISSION_DECISION:
        if (memberKind(N.DECISION) === N.REJECT) Line.isDenied = true;
        break;
      case N.ORIGIN:
        if (memberKind(N.KIND) === N.TASK_NOTIFICATION) Line.isMachine = true;
        break;
      case N.IS_META:
        tellCompanion(1);
        break;
      case N.IS_COMPACT_SUMMARY:
        tellCompanion(2);
        break;
      case N.IS_VISIBLE_ONLY:
        tellCompanion(4);
        break;
      case N.REPEATS_SUMMARY:
        tellCompanion(8);
        break;
      case N.INTERRUPTED_MESSAGE:
        Line.isInterruption = true;
        skip();
        break;
      case N.TOOL_DENIAL:
        Line.isDenied = true;
        skip();
        break;
      default:
        skip();
    }
    if (At.failed) return false;
  } while (more(0x7d));
  return !At.failed;
}

/** Told twice, the last counts. */
function tellCompanion(bit: i32): void {
  Line.companion = isTrue() ? Line.companion | bit : Line.companion & ~bit;
}

/** The number of a text; 0 for any other value, and for one that means nothing. */
function kindHere(): i32 {
  if (byte(At.at) !== 0x22) {
    skip();
    return 0;
  }
  if (!skip()) return 0;
  if (Text.hasEscapes) {
    Line.isOdd = true;
    return 0;
  }
  return nameAt(NAMES, Text.at, Text.length);
}

/** What one member of an object says. */
function memberKind(member: i32): i32 {
  let kind = 0;
  if (byte(At.at) !== 0x7b) {
    skip();
    return 0;
  }
  if (!enter()) return 0;
  do {
    if (!name()) return 0;
    if (Text.hasEscapes) fail();
    else if (nameAt(NAMES, Text.at, Text.length) === member) kind = kindHere();
    else skip();
  } while (!At.failed && more(0x7d));
  return kind;
}

function readMessage(): void {
  if (byte(At.at) !== 0x7b) {
    skip();
    return;
  }
  Line.hasMessage = true;
  if (!enter()) return;
  do {
    if (!name()) return;
    if (Text.hasEscapes) {
      fail();
      return;
    }
    switch (nameAt(NAMES, Text.at, Text.length)) {
      case N.ID:
        messageId.read();
        break;
      case N.MODEL:
        model.read();
        break;
      case N.STOP_REASON:
        stopReason.read();
        break;
      case N.USAGE:
        Line.hasUsage = readUsage();
        break;
      case N.CONTENT:
        content.clear();
        Blocks.count = 0;
        Blocks.results = 0;
        Line.hasBlocks = byte(At.at) === 0x5b;
        if (Line.hasBlocks) readBlocks();
        else content.read();
        break;
      default:
        skip();
    }
  } while (!At.failed && more(0x7d));
}

/** What kinds of tokens the answer took, into `Call`. @returns whether it told enough to be usage */
function readUsage(): bool {
  let fresh = NO_COUNT;
  Call.output = Call.cacheRead = Call.cacheWrite = Call.cacheWrite5m = Call.cacheWrite1h = Call.reasoning = NO_COUNT;
  if (byte(At.at) !== 0x7b) {
    skip();
    return false;
  }
  if (!enter()) return false;
  do {
    if (!name()) return false;
    if (Text.hasEscapes) return fail();
    switch (nameAt(NAMES, Text.at, Text.length)) {
      case N.INPUT_TOKENS:
        fresh = told();
        break;
      case N.OUTPUT_TOKENS:
        Call.output = told();
        break;
      case N.CACHE_READ:
        Call.cacheRead = told();
        break;
      case N.CACHE_WRITE:
        Call.cacheWrite = told();
        break;
      case N.CACHE_LIFETIMES:
        readLifetimes();
        break;
      case N.OUTPUT_DETAILS:
        readDetails();
        break;
      default:
        skip();
    }
  } while (!At.failed && more(0x7d));
  if (fresh === NO_COUNT || Call.output === NO_COUNT) return false;
  // Each has nine digits at the most
  Call.input = fresh + (Call.cacheRead === NO_COUNT ? 0 : Call.cacheRead) + (Call.cacheWrite === NO_COUNT ? 0 : Call.cacheWrite);
  return true;
}

function told(): u32 {
  const n = count();
  if (n === ODD_COUNT) Line.isOdd = true;
  return n;
}

function readLifetimes(): void {
  Call.cacheWrite5m = Call.cacheWrite1h = NO_COUNT;
  if (byte(At.at) !== 0x7b) {
    skip();
    return;
  }
  if (!enter()) return;
  do {
    if (!name()) return;
    const member = Text.hasEscapes ? N.OTHER : nameAt(NAMES, Text.at, Text.length);
    if (member === N.OTHER) fail();
    else if (member === N.LIFETIME_5M) Call.cacheWrite5m = told();
    else if (member === N.LIFETIME_1H) Call.cacheWrite1h = told();
    else skip();
  } while (!At.failed && more(0x7d));
}

function readDetails(): void {
  Call.reasoning = NO_COUNT;
  if (byte(At.at) !== 0x7b) {
    skip();
    return;
  }
  if (!enter()) return;
  do {
    if (!name()) return;
    if (Text.hasEscapes) fail();
    else if (nameAt(NAMES, Text.at, Text.length) === N.THINKING) Call.reasoning = told();
    else skip();
  } while (!At.failed && more(0x7d));
}

/** What the agent itself notes of a result. */
function readOutcome(): void {
  outcomeText.clear();
  spawned.clear();
  Line.isInterrupted = false;
  Line.isCreated = false;
  Line.hasPatch = false;
  if (byte(At.at) !== 0x7b) {
    outcomeText.read();
    return;
  }
  if (!enter()) return;
  do {
    if (!name()) return;
    if (Text.hasEscapes) {
      fail();
      return;
    }
    switch (nameAt(NAMES, Text.at, Text.length)) {
      case N.INTERRUPTED:
        Line.isInterrupted = isTrue();
        break;
      case N.AGENT_ID:
        spawned.read();
        break;
      case N.TYPE:
        Line.isCreated = kindHere() === N.CREATE;
        break;
      case N.STRUCTURED_PATCH:
        readPatch();
        break;
      default:
        skip();
    }
  } while (!At.failed && more(0x7d));
}

/** Lines that an edit added and removed, by their first letters. */
function readPatch(): void {
  Line.added = 0;
  Line.removed = 0;
  Line.hasPatch = byte(At.at) === 0x5b;
  if (!Line.hasPatch) {
    skip();
    return;
  }
  if (!enterArray()) return;
  do {
    if (byte(At.at) === 0x7b) readHunk();
    else skip();
  } while (!At.failed && more(0x5d));
}

function readHunk(): void {
  const added = Line.added;
  const removed = Line.removed;
  if (!enter()) return;
  do {
    if (!name()) return;
    if (Text.hasEscapes) fail();
    else if (nameAt(NAMES, Text.at, Text.length) === N.LINES) {
      Line.added = added;
      Line.removed = removed;
      readPatchLines();
    } else skip();
  } while (!At.failed && more(0x7d));
}

function readPatchLines(): void {
  if (byte(At.at) !== 0x5b) {
    skip();
    return;
  }
  if (!enterArray()) return;
  do {
    if (byte(At.at) === 0x22) {
      const sign = byte(At.at + 1);
      if (sign === 0x2b) Line.added++;
      else if (sign === 0x2d) Line.removed++;
      else if (sign === 0x5c && byte(At.at + 2) === 0x75) Line.isOdd = true;
    }
    skip();
  } while (!At.failed && more(0x5d));
}

/** The line's own time into the state. @returns whether it is one that can be told here */
function takeTime(): bool {
  if (time.at === 0) return true;
  const ms = timeOf(time);
  if (isNaN(ms)) return false;
  State.timeMs = ms;
  return true;
}

function rememberRequest(): i32 {
  const before = State.timeMs;
  if (lineId.length === 0 || !isText(lineId) || isNumber(lineId) || !takeTime()) {
    State.timeMs = before;
    return HARD;
  }
  State.remember(textOf(lineId.at, lineId.length), State.timeMs);
  return DONE;
}

/** Such names of members come before all others. */
function isNumber(text: Span): bool {
  for (let i = 0; i < text.length; i++) if (byte(text.at + i) - 0x30 > 9) return false;
  return true;
}

/** Takes what the line says of the session. @returns whether there is room for it */
function takeSession(): bool {
  if (State.agent !== NONE) return true;
  State.begin();
  if (!State.tell(version) || !State.tell(cwd) || !State.tell(branch)) return false;
  State.isNews = !State.isSame();
  return true;
}

/** Whether texts can be taken as they stand, and the line is of the thread that it lies in. */
function isPlain(): bool {
  return !(Line.isSidechain && State.agent === NONE) && takeSession();
}

function assistantLine(): i32 {
  if (!isPlain()) return HARD;
  if (messageId.length === 0 || !isText(messageId) || !isText(model) || !isText(requestId)) return HARD;
  if (!isText(requestedModel) || !isText(stopReason) || !isText(requestRef) || Blocks.tooMany) return HARD;
  if (nameAt(NAMES, model.at, model.length) === N.SYNTHETIC && model.length > 0) return HARD;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_USE) continue;
    if (!isText(blockId(n)) || !isText(blockName(n))) return HARD;
    const program = programOf(blockCommand(n));
    if (program === ODD_PROGRAM) return HARD;
    setBlockProgram(n, program);
  }
  if (!takeTime()) return HARD;

  const finish = idOf(stopReason);
  Call.id = idOf(messageId);
  Call.request = idOf(requestId);
  Call.model = idOf(model);
  Call.requested = idOf(requestedModel);
  Call.finish = finish;
  Call.prompt = State.prompt;
  Call.agent = State.agent;
  Call.timeMs = State.timeMs;
  Call.endMs = State.timeMs;
  const requested = requestRef.length > 0 ? State.requestedMs(textOf(requestRef.at, requestRef.length)) : NaN;
  Call.startMs = isNaN(requested) ? State.inputMs : requested;
  Call.flags =
    (finish === NONE ? 0 : CALL_COMPLETE) |
    (nameAt(NAMES, stopReason.at, stopReason.length) === N.TOOL_USE && stopReason.length > 0 ? CALL_ASKS : 0) |
    (Line.hasUsage ? CALL_USAGE : 0);
  if (!Line.hasUsage) {
    Call.input = Call.output = Call.cacheRead = Call.cacheWrite = NO_COUNT;
    Call.cacheWrite5m = Call.cacheWrite1h = Call.reasoning = NO_COUNT;
  }
  State.saw(State.timeMs);
  if (!putCall()) return GIVE_UP;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_USE || blockId(n).length === 0 || blockName(n).length === 0) continue;
    if (!putUse(idOf(blockId(n)), idOf(blockName(n)), blockProgram(n), State.prompt, State.agent, State.timeMs)) return GIVE_UP;
  }
  return DONE;
}

function userLine(): i32 {
  if (!Line.hasMessage || Blocks.tooMany || !isPlain()) return HARD;
  if (Blocks.results > 0) return toolResults();
  if (!Line.hasBlocks && content.at === 0) return HARD;
  const first = firstText();
  // A text that begins so can mean that somebody else wrote it, or that the user stopped the agent
  if (Line.isInterruption || isSign(first)) return HARD;
  if (State.agent !== NONE || Line.companion !== 0) {
    if (!takeTime()) return HARD;
    State.inputMs = State.timeMs;
    return DONE;
  }
  if (Line.isMachine || (promptSource.length > 0 && nameAt(NAMES, promptSource.at, promptSource.length) === N.SYSTEM)) return HARD;
  if (uuid.length === 0 || !isText(uuid) || !isText(promptId)) return HARD;
  const length = promptLength();
  if (length === ODD_LENGTH || !takeTime()) return HARD;
  const line = idOf(uuid);
  const given = idOf(promptId);
  State.prompt = given === NONE ? line : given;
  State.inputMs = State.timeMs;
  return putPrompt(line, 0, length, State.prompt, State.timeMs) ? DONE : GIVE_UP;
}

const ODD_LENGTH: i32 = -2;

/** What a user's text begins with; 0 where there is none. */
function firstText(): u32 {
  if (!Line.hasBlocks) return firstOf(content);
  for (let n = 0; n < Blocks.count; n++) if (blockText(n).length > 0) return firstOf(blockText(n));
  return 0;
}

/** The first byte of a text, a quote or the like without its backslash; a backslash where it can be any letter. */
function firstOf(text: Span): u32 {
  if (text.length === 0) return 0;
  const first = byte(text.at);
  if (first !== 0x5c || byte(text.at + 1) === 0x75) return first;
  return byte(text.at + 1) === 0x2f ? 0x2f : 0x22;
}

/** `<`, `[`, or what can stand for them. */
@inline
function isSign(first: u32): bool {
  return first === 0x3c || first === 0x5b || first === 0x5c;
}

/** Of all texts of a prompt, a line feed between two; -1 where there is none, `ODD_LENGTH` where that cannot be told. */
function promptLength(): i32 {
  if (!Line.hasBlocks) return utf16Length(content.at, content.length);
  let length = -1;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockText(n).length === 0) continue;
    const one = utf16Length(blockText(n).at, blockText(n).length);
    if (one < 0) return ODD_LENGTH;
    length += one + 1;
  }
  return length;
}

function toolResults(): i32 {
  if (Line.isDenied || (Line.hasPatch && Line.isCreated) || !isText(spawned)) return HARD;
  const outcome = firstOf(outcomeText);
  if (isSign(outcome)) return HARD;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_RESULT) continue;
    const text = blockText(n);
    const first = firstOf(text);
    if (!isText(blockAnswers(n)) || isSign(first)) return HARD;
    if (!isError(n)) continue;
    if (Line.isInterrupted || saysHow(text, first)) return HARD;
    // What the agent itself notes stands in for a text
    if (text.length === 0 && saysHow(outcomeText, outcome)) return HARD;
    let exitCode = exitCodeOf(text);
    if (exitCode === NONE) exitCode = exitCodeOf(outcomeText);
    if (exitCode === ODD_CODE) return HARD;
    setBlockExitCode(n, exitCode);
  }
  if (!takeTime()) return HARD;
  const agent = idOf(spawned);
  const added = Line.hasPatch ? Line.added : NONE;
  const removed = Line.hasPatch ? Line.removed : NONE;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_RESULT || blockAnswers(n).length === 0) continue;
    State.saw(State.timeMs);
    const call = idOf(blockAnswers(n));
    const status = isError(n) ? 1 : 0;
    const exitCode = isError(n) ? blockExitCode(n) : NONE;
    if (!putResult(call, status, NONE, State.prompt, State.agent, agent, exitCode, added, removed, State.timeMs)) return GIVE_UP;
  }
  State.inputMs = State.timeMs;
  return DONE;
}

/** Whether the text of an error can tell a refusal. */
function saysHow(text: Span, first: u32): bool {
  if (first === 0x50 || first === 0x54 || first === 0x43) return true;
  const end = text.at + text.length;
  for (let at = text.at; at < end; at++) {
    const b = byte(at);
    if (b === 0x20) return at > text.at && at + 12 <= end && startsWith(at, " hook error: ");
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

const ODD_CODE: i32 = -2;

/** `Exit code 1`, or `Error: Exit code 1`, at the beginning of a text; `NONE` without, `ODD_CODE` where an escape hides it. */
function exitCodeOf(text: Span): i32 {
  let at = text.at;
  if (text.length === 0) return NONE;
  if (startsWith(at, "Error: ")) at += 7;
  if (!startsWith(at, "Exit code ")) return hasEscape(text.at, at + 10) ? ODD_CODE : NONE;
  at += 10;
  let code = 0;
  let digits = 0;
  while (digits < 3 && byte(at) - 0x30 <= 9) {
    code = code * 10 + byte(at) - 0x30;
    digits++;
    at++;
  }
  const next = byte(at);
  if (next === 0x5c && byte(at + 1) === 0x75) return ODD_CODE;
  // A number that goes on, or letters behind it
  const isWord = next - 0x30 <= 9 || (next | 0x20) - 0x61 < 26 || next === 0x5f;
  return digits === 0 || isWord ? NONE : code;
}

/** Whether there is a backslash before a place; a quote ends what is looked at. */
function hasEscape(from: usize, until: usize): bool {
  for (let at = from; at < until && byte(at) !== 0x22; at++) if (byte(at) === 0x5c) return true;
  return false;
}
