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
  setBlockExitCode,
  setBlockProgram,
  Span,
} from "./blocks";
import { At, byte, isDigit, NO_COUNT, space } from "./json";
import {
  branch,
  clear,
  content,
  cwd,
  Line,
  lineId,
  messageId,
  model,
  outcomeText,
  promptId,
  promptSource,
  readMembers,
  requestedModel,
  requestId,
  requestRef,
  spawned,
  stopReason,
  time,
  uuid,
  version,
} from "./members";
import { Guess, NAMES, nameAt } from "./names";
import * as N from "./numbers";
import { exitCodeOf, firstOf, ODD_CODE, saysHow } from "./outcomes";
import { ODD_PROGRAM, programOf } from "./programs";
import { Call, noteAnswer, putCall, putPrompt, putResult, putUse } from "./rows";
import { State } from "./state";
import { CALL_ASKS, CALL_COMPLETE, CALL_USAGE, NONE, textOf } from "./tables";
import { idOf, isCounted, isOfOneAnswer, isText, ODD_VERSION, timeOf, utf16Length, versionOf } from "./values";

/** Everything it says is in the tables. */
export const DONE: i32 = 0;
/** Somebody else must read it. */
export const HARD: i32 = 1;
/** It contradicts what was read before: the session must be read the long way. */
export const GIVE_UP: i32 = 2;
/** It is in the tables, but for what it says of the session itself. */
export const NEWS: i32 = 3;

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
  Guess.begin();
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
    case N.ATTACHMENT:
      return Line.isAnswer ? HARD : DONE;
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
  for (let i = 0; i < text.length; i++) if (!isDigit(byte(text.at + i))) return false;
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

/** As in ../../lines.ts. */
const CALL_IDS_SINCE: i32 = 2000043;
const DETAILS_SINCE: i32 = 2001150;

function assistantLine(): i32 {
  if (!isPlain()) return HARD;
  if (messageId.length === 0 || !isText(messageId) || !isText(model) || !isText(requestId)) return HARD;
  // As long as an id that a fork makes up, or shared by others
  if (requestId.length === 0 && ((messageId.length === 36 && requestRef.length > 0) || !isOfOneAnswer(messageId))) return HARD;
  if (!isText(requestedModel) || !isText(stopReason) || !isText(requestRef) || Blocks.tooMany) return HARD;
  if (nameAt(NAMES, model.at, model.length) === N.SYNTHETIC && model.length > 0) return HARD;
  const writtenBy = versionOf(version);
  if (writtenBy === ODD_VERSION) return HARD;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_USE) continue;
    if (writtenBy !== NONE && writtenBy < CALL_IDS_SINCE) return HARD;
    if (!isText(blockId(n)) || !isText(blockName(n)) || isCounted(blockId(n))) return HARD;
    const program = programOf(blockCommand(n));
    if (program === ODD_PROGRAM) return HARD;
    setBlockProgram(n, program);
  }
  Call.id = idOf(messageId);
  Call.request = idOf(requestId);
  // The figures of one of the two may be those of the other
  if (State.isAskedAgain(Call.id, Call.request) || !takeTime()) return HARD;

  const finish = idOf(stopReason);
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
    (finish === NONE || (Line.isSummed && writtenBy >= DETAILS_SINCE && !Line.hasDetails && Blocks.count < 2) ? 0 : CALL_COMPLETE) |
    (nameAt(NAMES, stopReason.at, stopReason.length) === N.TOOL_USE && stopReason.length > 0 ? CALL_ASKS : 0) |
    (Line.hasUsage ? CALL_USAGE : 0);
  if (!Line.hasUsage) {
    Call.input = Call.output = Call.cacheRead = Call.cacheWrite = NO_COUNT;
    Call.cacheWrite5m = Call.cacheWrite1h = Call.reasoning = NO_COUNT;
  }
  noteAnswer();
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
  if (Line.isInterruption || isSign(first) || first === CAPITAL_A) return HARD;
  if (Line.isElsewhere && State.agent === NONE) return HARD;
  if (State.agent !== NONE || Line.companion !== 0) {
    if (!takeTime()) return HARD;
    State.inputMs = State.timeMs;
    return DONE;
  }
  if (promptSource.length > 0 && nameAt(NAMES, promptSource.at, promptSource.length) === N.SYSTEM) return HARD;
  if (Line.isCopy || uuid.length === 0 || !isText(uuid) || !isText(promptId)) return HARD;
  const length = promptLength();
  if (length === ODD_LENGTH || !takeTime()) return HARD;
  const line = idOf(uuid);
  const given = idOf(promptId);
  State.prompt = given === NONE ? line : given;
  State.inputMs = State.timeMs;
  return putPrompt(line, 0, length, State.prompt, State.timeMs) ? DONE : GIVE_UP;
}

const ODD_LENGTH: i32 = -2;
/** `Another Claude session sent a message` */
const CAPITAL_A: u32 = 0x41;

/** What a user's text begins with; 0 where there is none. */
function firstText(): u32 {
  if (!Line.hasBlocks) return firstOf(content);
  for (let n = 0; n < Blocks.count; n++) if (blockText(n).length > 0) return firstOf(blockText(n));
  return 0;
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
  if (Line.isDenied || Line.hasLaunched || (Line.hasPatch && Line.isCreated) || !isText(spawned)) return HARD;
  const outcome = firstOf(outcomeText);
  if (isSign(outcome)) return HARD;
  for (let n = 0; n < Blocks.count; n++) {
    if (blockKind(n) !== N.TOOL_RESULT) continue;
    const text = blockText(n);
    const first = firstOf(text);
    if (!isText(blockAnswers(n)) || isCounted(blockAnswers(n)) || isSign(first)) return HARD;
    if (!isError(n)) continue;
    if (Line.isInterrupted || saysHow(text)) return HARD;
    // What the agent itself notes stands in for a text
    if (text.length === 0 && saysHow(outcomeText)) return HARD;
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
