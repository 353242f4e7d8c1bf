// The program of a shell command, by the rules of ../../../shared/executables.ts, where the command is plain.
import { Span } from "./blocks";
import { byte, isDigit, isLetter } from "./json";
import { nameAt, PROGRAMS } from "./names";
import { NONE } from "./tables";

/** Somebody else must look at it. */
export const ODD_PROGRAM: i32 = -2;

/** Longer ones are not looked into. */
const MAX_COMMAND: i32 = 4096;

/** The number of a well-known program that is all of a command; `NONE` for lists, pipelines and whatever is not known. */
export function programOf(command: Span): i32 {
  if (command.length === 0) return NONE;
  const end = command.at + command.length;
  for (let at = command.at; at < end; at++) {
    const b = byte(at);
    if (isJoin(b)) return NONE;
    if (b !== 0x5c) continue;
    const escaped = byte(++at);
    // A backslash, or the end of a line
    if (escaped === 0x5c || escaped === 0x6e) return NONE;
    if (escaped !== 0x22 && escaped !== 0x2f) return ODD_PROGRAM;
  }
  // In letters it may be shorter
  return command.length > MAX_COMMAND ? ODD_PROGRAM : firstWord(command.at, end);
}

/** `;&|<>` and the like: more than one program, or none that is told. */
@inline
function isJoin(b: u32): bool {
  switch (b) {
    case 0x3b:
    case 0x26:
    case 0x7c:
    case 0x3c:
    case 0x3e:
    case 0x60:
    case 0x24:
    case 0x28:
    case 0x29:
    case 0x7b:
    case 0x7d:
      return true;
    default:
      return false;
  }
}

/** Behind what only sets variables for it. */
function firstWord(from: usize, end: usize): i32 {
  let at = from;
  while (true) {
    while (at < end && byte(at) === 0x20) at++;
    const start = at;
    let name = at;
    while (at < end && byte(at) !== 0x20) {
      const b = byte(at);
      if (isOtherSpace(b)) return ODD_PROGRAM;
      at++;
      if (b === 0x2f) name = at;
    }
    if (start === at) return NONE;
    if (isAssignment(start, at)) continue;
    const number = nameAt(PROGRAMS, name, <i32>(at - name));
    return number === 0 ? NONE : number - 1;
  }
}

/** The first byte of letters among which there are some that separate words. */
@inline
function isOtherSpace(b: u32): bool {
  return b === 0xc2 || (b >= 0xe1 && b <= 0xe3) || b === 0xef;
}

/** `NAME=…` */
function isAssignment(at: usize, end: usize): bool {
  for (let i = at; i < end; i++) {
    const b = byte(i);
    if (b === 0x3d) return i > at;
    if (!isLetter(b) && b !== 0x5f && !(i > at && isDigit(b))) return false;
  }
  return false;
}
