// The blocks of a message, as places in the line: what they mean is decided when the whole line is known.
import { At, byte, enter, enterArray, enterObject, fail, isTrue, more, skip, Text, textValue } from "./json";
import { member, NAMES, nameAt } from "./names";
import * as N from "./numbers";
import { take } from "./tables";

/** A text in the line; `at` is 0 where there is none. */
@unmanaged
export class Span {
  at: usize;
  length: i32;
  hasEscapes: i32;

  @inline
  clear(): void {
    this.at = 0;
    this.length = 0;
  }

  /** What stands here, if it is a text. */
  read(): void {
    if (textValue()) {
      this.at = Text.at;
      this.length = Text.length;
      this.hasEscapes = Text.hasEscapes ? 1 : 0;
    } else this.clear();
  }
}

@inline
export function span(): Span {
  return changetype<Span>(take(16));
}

const MAX_BLOCKS: i32 = 256;
const BLOCK: i32 = 8 + 5 * 16 + 8;
const blocks = take(MAX_BLOCKS * BLOCK);
export class Blocks {
  static count: i32 = 0;
  static results: i32 = 0;
  static tooMany: bool = false;

  static clear(): void {
    Blocks.count = 0;
    Blocks.results = 0;
    Blocks.tooMany = false;
  }
}

@inline
function blockAt(n: i32): usize {
  return blocks + n * BLOCK;
}
export function blockKind(n: i32): i32 {
  return load<i32>(blockAt(n));
}
export function isError(n: i32): bool {
  return load<i32>(blockAt(n), 4) === 1;
}
/** Its `id`, or the `tool_use_id` that it answers. */
export function blockId(n: i32): Span {
  return changetype<Span>(blockAt(n) + 8);
}
export function blockAnswers(n: i32): Span {
  return changetype<Span>(blockAt(n) + 24);
}
export function blockName(n: i32): Span {
  return changetype<Span>(blockAt(n) + 40);
}
export function blockCommand(n: i32): Span {
  return changetype<Span>(blockAt(n) + 56);
}
/** The text itself; of a result the first that it consists of. */
export function blockText(n: i32): Span {
  return changetype<Span>(blockAt(n) + 72);
}

/** The program that its command calls; see `programOf`. */
export function blockProgram(n: i32): i32 {
  return load<i32>(blockAt(n), 88);
}
export function setBlockProgram(n: i32, program: i32): void {
  store<i32>(blockAt(n), program, 88);
}

/** How the program ended that a result is of; `NONE` where it does not say so. */
export function blockExitCode(n: i32): i32 {
  return load<i32>(blockAt(n), 92);
}
export function setBlockExitCode(n: i32, code: i32): void {
  store<i32>(blockAt(n), code, 92);
}

/** An array of blocks. */
export function readBlocks(): bool {
  Blocks.clear();
  if (!enterArray()) return true;
  do {
    if (byte(At.at) !== 0x7b) {
      if (!skip()) return false;
    } else if (!readBlock()) return false;
  } while (more(0x5d));
  return !At.failed;
}

const content = span();

function readBlock(): bool {
  if (Blocks.count === MAX_BLOCKS) {
    Blocks.tooMany = true;
    Blocks.count--;
  }
  const n = Blocks.count++;
  memory.fill(blockAt(n), 0, BLOCK);
  content.clear();
  if (enter()) {
    do {
      switch (member()) {
        case N.TYPE:
          if (!textValue()) store<i32>(blockAt(n), 0);
          else if (Text.hasEscapes) return fail();
          else store<i32>(blockAt(n), nameAt(NAMES, Text.at, Text.length));
          break;
        case N.ID:
          blockId(n).read();
          break;
        case N.NAME:
          blockName(n).read();
          break;
        case N.TOOL_USE_ID:
          blockAnswers(n).read();
          break;
        case N.IS_ERROR:
          store<i32>(blockAt(n), isTrue() ? 1 : 0, 4);
          break;
        case N.TEXT:
          blockText(n).read();
          break;
        case N.CONTENT:
          readContent();
          break;
        case N.INPUT:
          readInput(blockCommand(n));
          break;
        default:
          skip();
      }
      if (At.failed) return false;
    } while (more(0x7d));
  }
  if (load<i32>(blockAt(n)) === N.TOOL_RESULT) {
    Blocks.results++;
    memory.copy(changetype<usize>(blockText(n)), changetype<usize>(content), 16);
  }
  return !At.failed;
}

/** What a tool answered: a text, or blocks of which some hold text. */
function readContent(): void {
  content.clear();
  if (byte(At.at) !== 0x5b) return content.read();
  if (!enterArray()) return;
  do {
    if (enterObject()) {
      const isFirst = content.length === 0;
      do {
        if (member() === N.TEXT && isFirst) content.read();
        else skip();
      } while (!At.failed && more(0x7d));
    }
  } while (!At.failed && more(0x5d));
}

function readInput(command: Span): void {
  command.clear();
  if (!enterObject()) return;
  do {
    if (member() === N.COMMAND) command.read();
    else skip();
  } while (!At.failed && more(0x7d));
}
