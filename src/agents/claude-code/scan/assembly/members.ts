// The members of a line, as they stand there; what they mean is for ./lines.ts to say.
import { Blocks, readBlocks, span } from "./blocks";
import { At, byte, count, enter, enterItems, enterObject, isTrue, more, NO_COUNT, ODD_COUNT, skip, Text, textValue } from "./json";
import { member, NAMES, nameAt } from "./names";
import * as N from "./numbers";
import { Call } from "./rows";

export const time = span();
export const uuid = span();
export const version = span();
export const cwd = span();
export const branch = span();
export const requestId = span();
export const requestRef = span();
export const requestedModel = span();
export const promptId = span();
export const promptSource = span();
export const lineId = span();
export const messageId = span();
export const model = span();
export const stopReason = span();
export const content = span();
export const outcomeText = span();
export const spawned = span();

/** Members of the line that is read. */
export class Line {
  static type: i32 = 0;
  static subtype: i32 = 0;
  static isSidechain: bool = false;
  static hasMessage: bool = false;
  static hasBlocks: bool = false;
  /** A bit for each member that says so. */
  static companion: i32 = 0;
  static isInterruption: bool = false;
  static isDenied: bool = false;
  /** It may come from somebody else than the user. */
  static isElsewhere: bool = false;
  /** It holds what the user asked for in a form. */
  static isAnswer: bool = false;
  /** It may be a copy, with an id of its own. */
  static isCopy: bool = false;
  static isOdd: bool = false;
  static hasUsage: bool = false;
  static hasDetails: bool = false;
  /** Its usage is the agent's own sum over a stream. */
  static isSummed: bool = false;
  static isInterrupted: bool = false;
  static isCreated: bool = false;
  /** Of a call that launched a command. */
  static hasLaunched: bool = false;
  static hasPatch: bool = false;
  static added: i32 = 0;
  static removed: i32 = 0;
}

/** Nothing is known of a line. */
export function clear(): void {
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
  Line.isElsewhere = false;
  Line.isAnswer = false;
  Line.isCopy = false;
  Line.isOdd = false;
  Line.isInterrupted = false;
  Line.isCreated = false;
  Line.hasLaunched = false;
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
  Line.hasDetails = false;
  Line.isSummed = false;
  Blocks.clear();
}

/** An object's members, into what stands above. @returns whether it is JSON, and nothing is hidden in it */
export function readMembers(): bool {
  if (!enter()) return true;
  do {
    switch (member()) {
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
      case N.ATTACHMENT:
        Line.isAnswer = memberKind(N.TYPE) === N.STRUCTURED_OUTPUT;
        break;
      case N.ORIGIN:
        if (memberKind(N.KIND) !== N.HUMAN) Line.isElsewhere = true;
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
      case N.FORKED_FROM:
        Line.isCopy = true;
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
  if (!textValue()) return 0;
  if (Text.hasEscapes) {
    Line.isOdd = true;
    return 0;
  }
  return nameAt(NAMES, Text.at, Text.length);
}

/** What one member of an object says. */
function memberKind(wanted: i32): i32 {
  let kind = 0;
  if (!enterObject()) return 0;
  do {
    if (member() === wanted) kind = kindHere();
    else skip();
  } while (!At.failed && more(0x7d));
  return kind;
}

function readMessage(): void {
  Line.hasMessage = byte(At.at) === 0x7b;
  if (!enterObject()) return;
  do {
    switch (member()) {
      case N.ID:
        messageId.read();
        break;
      case N.MODEL:
        model.read();
        break;
      case N.STOP_REASON:
        stopReason.read();
        break;
      case N.STOP_DETAILS:
        Line.hasDetails = true;
        skip();
        break;
      case N.USAGE:
        Line.hasUsage = readUsage();
        break;
      case N.CONTENT:
        content.clear();
        Blocks.clear();
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
  Line.isSummed = false;
  Call.output = Call.cacheRead = Call.cacheWrite = Call.cacheWrite5m = Call.cacheWrite1h = Call.reasoning = NO_COUNT;
  if (!enterObject()) return false;
  do {
    switch (member()) {
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
      case N.ITERATIONS:
        Line.isSummed = true;
        readPasses();
        break;
      case N.SPEED:
        if (kindHere() === N.FAST) Line.isOdd = true;
        break;
      default:
        skip();
    }
  } while (!At.failed && more(0x7d));
  if (fresh === NO_COUNT || Call.output === NO_COUNT) return false;
  // Each has nine digits at the most
  Call.input = fresh + (Call.cacheRead === NO_COUNT ? 0 : Call.cacheRead) + (Call.cacheWrite === NO_COUNT ? 0 : Call.cacheWrite);
  // What is meant then, is told in `model/limits.ts`
  if (Call.reasoning !== NO_COUNT && Call.reasoning > Call.output) Line.isOdd = true;
  return Call.input + Call.output > 0;
}

/** Those that are not the answer's own may count beside it. */
function readPasses(): void {
  if (!enterItems()) return;
  do {
    if (memberKind(N.TYPE) !== N.MESSAGE) Line.isOdd = true;
  } while (!At.failed && more(0x5d));
}

function told(): u32 {
  const n = count();
  if (n === ODD_COUNT) Line.isOdd = true;
  return n;
}

function readLifetimes(): void {
  Call.cacheWrite5m = Call.cacheWrite1h = NO_COUNT;
  if (!enterObject()) return;
  do {
    switch (member()) {
      case N.LIFETIME_5M:
        Call.cacheWrite5m = told();
        break;
      case N.LIFETIME_1H:
        Call.cacheWrite1h = told();
        break;
      default:
        skip();
    }
  } while (!At.failed && more(0x7d));
}

function readDetails(): void {
  Call.reasoning = NO_COUNT;
  if (!enterObject()) return;
  do {
    if (member() === N.THINKING) Call.reasoning = told();
    else skip();
  } while (!At.failed && more(0x7d));
}

/** What the agent itself notes of a result. */
function readOutcome(): void {
  outcomeText.clear();
  spawned.clear();
  Line.isInterrupted = false;
  Line.isCreated = false;
  Line.hasLaunched = false;
  Line.hasPatch = false;
  if (byte(At.at) !== 0x7b) {
    outcomeText.read();
    return;
  }
  if (!enter()) return;
  do {
    switch (member()) {
      case N.INTERRUPTED:
        Line.isInterrupted = isTrue();
        break;
      case N.AGENT_ID:
        spawned.read();
        break;
      case N.TYPE:
        Line.isCreated = kindHere() === N.CREATE;
        break;
      case N.COMMAND_NAME:
        Line.hasLaunched = true;
        skip();
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
  if (!enterItems()) return;
  do {
    readHunk();
  } while (!At.failed && more(0x5d));
}

function readHunk(): void {
  const added = Line.added;
  const removed = Line.removed;
  if (!enterObject()) return;
  do {
    if (member() === N.LINES) {
      Line.added = added;
      Line.removed = removed;
      readPatchLines();
    } else skip();
  } while (!At.failed && more(0x7d));
}

function readPatchLines(): void {
  if (!enterItems()) return;
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
