// What the lines before say of the next: the `LineState` of ../../lines.ts.

import { Span } from "./blocks";
import { byte } from "./json";
import { NONE, take } from "./tables";

const MAX_FACTS: i32 = 16384;
const REQUESTS: i32 = 8;
const ANSWER_BYTES: usize = 36;

export class State {
  /** The subagent whose file this is. */
  static agent: i32 = NONE;
  static timeMs: f64 = 0;
  /** NaN before anything was asked. */
  static inputMs: f64 = NaN;
  static prompt: i32 = NONE;
  /** Of the file's first record; NaN before it. */
  static firstMs: f64 = NaN;

  /** What was told of the session by the last line that told it, and by this one. */
  static last: usize = take(MAX_FACTS);
  static lastLength: i32 = -1;
  static here: usize = take(MAX_FACTS);
  static hereLength: i32 = -1;

  /** The line tells something else of the session than the one before it. */
  static isNews: bool = false;
  /** Whose turn it was before the line. */
  static promptBefore: i32 = NONE;

  /** The last answer that had figures of its own: its id, its request, and what it took. An id of `NONE`: there is none. */
  static answer: usize = take(ANSWER_BYTES);

  static requests: i32 = 0;
  static requestAt: usize = take(REQUESTS * 16);

  @inline
  static saw(ms: f64): void {
    if (isNaN(State.firstMs)) State.firstMs = ms;
  }

  static begin(): void {
    State.hereLength = 0;
  }

  /** @returns whether there is room for it */
  static tell(text: Span): bool {
    const length = text.length;
    if (State.hereLength + length + 2 > MAX_FACTS) {
      State.hereLength = -1;
      return false;
    }
    const at = State.here + State.hereLength;
    memory.copy(at, text.at, length);
    store<u8>(at + length, 0x0a);
    State.hereLength += length + 1;
    return true;
  }

  static isSame(): bool {
    if (State.hereLength !== State.lastLength) return false;
    for (let i = 0; i < State.hereLength; i++) if (byte(State.here + i) !== byte(State.last + i)) return false;
    return true;
  }

  /** What this line told is known now. */
  static accept(): void {
    State.lastLength = State.hereLength;
    if (State.hereLength < 0) return;
    const before = State.last;
    State.last = State.here;
    State.here = before;
  }

  /** Whether one has another id and the same request as the last one. */
  @inline
  static isAskedAgain(id: i32, request: i32): bool {
    const before = load<i32>(State.answer);
    return request !== NONE && before !== NONE && before !== id && load<i32>(State.answer, 4) === request;
  }

  static noAnswer(): void {
    store<i32>(State.answer, NONE);
  }

  /** The last ones alone, in the order in which they came. */
  static remember(text: i32, ms: f64): void {
    if (State.requests === REQUESTS) {
      State.requests--;
      memory.copy(State.requestAt, State.requestAt + 16, State.requests * 16);
    }
    let n = 0;
    while (n < State.requests && State.requestText(n) !== text) n++;
    if (n === State.requests) State.requests++;
    store<i32>(State.requestAt + n * 16, text);
    store<f64>(State.requestAt + n * 16, ms, 8);
  }

  static requestText(n: i32): i32 {
    return load<i32>(State.requestAt + n * 16);
  }

  static requestMs(n: i32): f64 {
    return load<f64>(State.requestAt + n * 16, 8);
  }

  /** When that one left; NaN where it is not known. */
  static requestedMs(text: i32): f64 {
    for (let n = 0; n < State.requests; n++) if (State.requestText(n) === text) return State.requestMs(n);
    return NaN;
  }
}
