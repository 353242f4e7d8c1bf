/** Longest string value that stays unchanged, in bytes between its quotes. */
export const MAX_STRING_BYTES = 64 * 1024;

export interface ShrinkOptions {
  /** @default MAX_STRING_BYTES */
  readonly maxStringBytes?: number;
  /** Longest array or object directly below the top that stays; longer ones become a placeholder. @default unbounded */
  readonly maxNestedBytes?: number;
}

export type Shrunk =
  /** `closed`: the text ended early and we closed it. `leftOut`: values replaced by a placeholder. */
  | { readonly ok: true; readonly bytes: number; text(): string; readonly closed: boolean; readonly leftOut: number }
  | { readonly ok: false; readonly reason: string };

/**
 * Makes JSON text short and complete: long string values become a short placeholder. If the text ends early, open arrays and
 * objects are closed and an incomplete last member is dropped (half an id would be a wrong id). Keys, short values and their
 * order stay. One pass over the bytes, no recursion; nothing is copied before `text()` is called.
 *
 * @param json UTF-8
 * @returns `ok: false` with the position if it is no JSON, or ends before its first bracket is closed or kept. Numbers and words
 *          are not checked, so that an `ok` text may still fail to parse
 * @throws never
 * @example shrinkJson(Buffer.from('{"id":"a","rest":"xyz')).text() // '{"id":"a"}'
 */
export function shrinkJson(json: Buffer, options: ShrinkOptions = {}): Shrunk {
  const { maxStringBytes = MAX_STRING_BYTES, maxNestedBytes = Number.POSITIVE_INFINITY } = options;
  const pieces: Buffer[] = [];
  const open = new ByteStack();
  let leftOut = 0;
  let copyFrom = 0;
  let expect: Expect = "value";
  /** Where the text could be closed: after a complete value or an opening bracket. */
  let safe: Mark | undefined;
  /** The open array or object directly below the top. */
  let nested: Mark | undefined;

  const mark = (at: number): Mark => ({ at, copyFrom, pieces: pieces.length, depth: open.depth });
  const replace = (from: number, to: number) => {
    pieces.push(json.subarray(copyFrom, from), placeholder(to - from));
    copyFrom = to;
    leftOut += 1;
  };
  const backTo = (to: Mark) => {
    pieces.length = to.pieces;
    copyFrom = to.copyFrom;
    open.depth = to.depth;
  };
  const afterValue = (at: number): Expect => {
    safe = mark(at);
    return open.depth === 0 ? "nothing" : "comma";
  };

  let at = 0;
  scan: while (at < json.length) {
    const byte = json[at] ?? 0;
    if (byte === SPACE || byte === TAB || byte === LF || byte === CR) {
      at += 1;
      continue;
    }
    switch (expect) {
      case "nothing":
        return wrong(at, "the end of the text");
      case "colon":
        if (byte !== COLON) return wrong(at, '":"');
        expect = "value";
        at += 1;
        continue;
      case "comma":
        if (byte === COMMA) {
          expect = open.top === OPEN_BRACE ? "key" : "value";
          at += 1;
          continue;
        }
        break;
      case "key":
      case "key-or-end":
        if (byte === QUOTE) {
          const end = stringEnd(json, at);
          if (end === -1) break scan;
          expect = "colon";
          at = end;
          continue;
        }
        if (expect === "key") return wrong(at, "a member's name");
        break;
      case "value":
      case "value-or-end":
        if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          if (open.depth === 1) nested = mark(at);
          open.push(byte);
          at += 1;
          expect = byte === OPEN_BRACE ? "key-or-end" : "value-or-end";
          safe = mark(at);
          continue;
        }
        if (byte === QUOTE) {
          const end = stringEnd(json, at);
          if (end === -1) break scan;
          if (end - at - 2 > maxStringBytes) replace(at, end);
          at = end;
          expect = afterValue(at);
          continue;
        }
        if (isScalar(byte)) {
          let end = at + 1;
          while (end < json.length && isScalar(json[end] ?? 0)) end += 1;
          // Half a number inside a bracket would look like a complete one
          if (end === json.length && open.depth > 0) break scan;
          at = end;
          expect = afterValue(at);
          continue;
        }
        if (expect === "value") return wrong(at, "a value");
        break;
    }
    // Only the end of the open bracket is left
    if (byte !== (open.top === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET))
      return wrong(at, '"," or the closing bracket');
    open.depth -= 1;
    at += 1;
    if (open.depth === 1 && nested !== undefined) {
      if (at - nested.at > maxNestedBytes) {
        backTo(nested);
        replace(nested.at, at);
      }
      nested = undefined;
    }
    expect = afterValue(at);
  }

  if (safe === undefined) return { ok: false, reason: "there is no JSON value in it" };
  const closed = expect !== "nothing";
  if (closed && nested !== undefined && json.length - nested.at > maxNestedBytes) {
    backTo(nested);
    replace(nested.at, json.length);
    pieces.push(open.closers());
  } else {
    backTo(safe);
    pieces.push(json.subarray(copyFrom, safe.at), open.closers());
  }
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return { ok: true, bytes, text: () => Buffer.concat(pieces).toString("utf8"), closed, leftOut };
}

// --- internal ---

type Expect = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma" | "nothing";

interface Mark {
  /** Offset in the input. */
  readonly at: number;
  readonly copyFrom: number;
  readonly pieces: number;
  readonly depth: number;
}

const [TAB, LF, CR, SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3a, 0x5c] as const;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

const placeholder = (bytes: number): Buffer => Buffer.from(`"[${bytes} bytes left out]"`);

const wrong = (at: number, wanted: string): Shrunk => ({ ok: false, reason: `byte ${at} is not ${wanted}` });

/** Offset after the closing quote of the string that opens at `from`; -1 if there is none. */
function stringEnd(json: Buffer, from: number): number {
  for (let quote = json.indexOf(QUOTE, from + 1); quote !== -1; quote = json.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (json[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  return -1;
}

/** A byte of a number, `true`, `false` or `null`; JSON.parse checks whether they make sense. */
function isScalar(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLower = byte >= 0x61 && byte <= 0x7a;
  return isDigit || isLower || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x45;
}

/** Open brackets, one byte each: 64 MiB of "[" must not become half a gigabyte. */
class ByteStack {
  depth = 0;
  #bytes = Buffer.alloc(256);

  get top(): number | undefined {
    return this.depth === 0 ? undefined : this.#bytes[this.depth - 1];
  }

  push(byte: number): void {
    if (this.depth === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2);
    this.#bytes[this.depth] = byte;
    this.depth += 1;
  }

  closers(): Buffer {
    const closers = Buffer.alloc(this.depth);
    // In ASCII, "]" and "}" come two after their opening brackets
    for (let n = 0; n < this.depth; n += 1) closers[n] = (this.#bytes[this.depth - 1 - n] ?? 0) + 2;
    return closers;
  }
}
