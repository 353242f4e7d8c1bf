import { excessOf } from "./json-limits.ts";

/** Longest string value that stays unchanged, in bytes between its quotes. */
const MAX_STRING_BYTES = 64 * 1024;

interface ShrinkOptions {
  /** @default MAX_STRING_BYTES */
  readonly maxStringBytes?: number;
  /** Longest array or object directly below the top that stays; longer ones become a placeholder. @default unbounded */
  readonly maxNestedBytes?: number;
}

export type Shrunk =
  /** `closed`: the text ended early and we closed it. `leftOut`: values replaced by a placeholder. */
  | {
      readonly ok: true;
      readonly bytes: number;
      text(): string;
      buffer(): Buffer;
      readonly closed: boolean;
      readonly leftOut: number;
    }
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
  return new Shrinker(json, options).shrink();
}

/**
 * A JSON text without as many of its large values as needed for it to be parsed: first without long strings, then without the large arrays and
 * objects directly below the top, then also without the smaller ones.
 *
 * @param maxBytes longest result
 * @returns `excess`: why it must not be parsed all the same
 */
export function withoutLargeValues(json: Buffer, maxBytes: number): Shrunk & { readonly excess?: string } {
  let excess = "";
  let shrunk: Shrunk = { ok: false, reason: excess };
  for (const maxNestedBytes of [Number.POSITIVE_INFINITY, ...NESTED_BYTES]) {
    shrunk = shrinkJson(json, { maxNestedBytes });
    if (!shrunk.ok) return shrunk;
    const found = shrunk.bytes > maxBytes ? `it has ${shrunk.bytes} bytes` : excessOf(shrunk.buffer());
    if (found === undefined) return shrunk;
    excess = found;
  }
  return { ...shrunk, excess };
}

// --- internal ---

/** Limits for arrays and objects directly below the top of a text that is too large without its long strings. */
const NESTED_BYTES = [256 * 1024, 16 * 1024];

type Expect = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma" | "nothing";

/** A state to return to. */
interface Mark {
  /** Offset in the input. */
  readonly at: number;
  readonly copyFrom: number;
  readonly pieces: number;
  readonly depth: number;
}

class Shrinker {
  readonly #json: Buffer;
  readonly #maxStringBytes: number;
  readonly #maxNestedBytes: number;
  /** What the result consists of so far; the rest of the input from `#copyFrom` on is not in it yet. */
  readonly #pieces: Buffer[] = [];
  #copyFrom = 0;
  #leftOut = 0;
  readonly #open = new ByteStack();
  #at = 0;
  #expect: Expect = "value";
  /** Where the text could be closed: after a complete value or an opening bracket. */
  #safe: Mark | undefined;
  /** The open array or object directly below the top. */
  #nested: Mark | undefined;
  #wrong: string | undefined;

  constructor(json: Buffer, options: ShrinkOptions) {
    this.#json = json;
    this.#maxStringBytes = options.maxStringBytes ?? MAX_STRING_BYTES;
    this.#maxNestedBytes = options.maxNestedBytes ?? Number.POSITIVE_INFINITY;
  }

  shrink(): Shrunk {
    const json = this.#json;
    while (this.#at < json.length) {
      const byte = json[this.#at] ?? 0;
      if (byte === SPACE || byte === TAB || byte === LF || byte === CR) this.#at += 1;
      else if (!this.#take(byte)) break;
    }
    if (this.#wrong !== undefined) return { ok: false, reason: `byte ${this.#at} is not ${this.#wrong}` };
    return this.#end();
  }

  /** Takes what begins with this byte. Like the methods below, it returns false if the text is wrong or ends in it. */
  #take(byte: number): boolean {
    switch (this.#expect) {
      case "nothing":
        return this.#fail("the end of the text");
      case "colon":
        return byte === COLON ? this.#goOn("value") : this.#fail('":"');
      case "comma":
        if (byte !== COMMA) return this.#close(byte);
        return this.#goOn(this.#open.top === OPEN_BRACE ? "key" : "value");
      case "key":
        return byte === QUOTE ? this.#key() : this.#fail("a member's name");
      case "key-or-end":
        return byte === QUOTE ? this.#key() : this.#close(byte);
      case "value":
        return this.#value(byte) ?? this.#fail("a value");
      case "value-or-end":
        return this.#value(byte) ?? this.#close(byte);
    }
  }

  #key(): boolean {
    const end = stringEnd(this.#json, this.#at);
    if (end === -1) return false;
    this.#at = end;
    this.#expect = "colon";
    return true;
  }

  /** @returns `undefined` if no value begins with this byte */
  #value(byte: number): boolean | undefined {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#bracket(byte);
    if (byte === QUOTE) return this.#string();
    return isScalar(byte) ? this.#scalar() : undefined;
  }

  #bracket(byte: number): boolean {
    if (this.#open.depth === 1) this.#nested = this.#mark();
    this.#open.push(byte);
    this.#goOn(byte === OPEN_BRACE ? "key-or-end" : "value-or-end");
    this.#safe = this.#mark();
    return true;
  }

  #string(): boolean {
    const from = this.#at;
    const end = stringEnd(this.#json, from);
    if (end === -1) return false;
    if (end - from - 2 > this.#maxStringBytes) this.#replace(from, end);
    return this.#afterValue(end);
  }

  #scalar(): boolean {
    const json = this.#json;
    let end = this.#at + 1;
    while (end < json.length && isScalar(json[end] ?? 0)) end += 1;
    // Half a number inside a bracket would look like a complete one
    if (end === json.length && this.#open.depth > 0) return false;
    return this.#afterValue(end);
  }

  /** Takes the end of the open bracket; nothing else can be here. */
  #close(byte: number): boolean {
    const end = this.#open.top === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    if (byte !== end) return this.#fail('"," or the closing bracket');
    this.#open.depth -= 1;
    const at = this.#at + 1;
    if (this.#open.depth === 1 && this.#nested !== undefined) {
      if (at - this.#nested.at > this.#maxNestedBytes) this.#replaceNested(this.#nested, at);
      this.#nested = undefined;
    }
    return this.#afterValue(at);
  }

  #end(): Shrunk {
    if (this.#safe === undefined) return { ok: false, reason: "there is no JSON value in it" };
    const [json, nested] = [this.#json, this.#nested];
    const closed = this.#expect !== "nothing";
    if (closed && nested !== undefined && json.length - nested.at > this.#maxNestedBytes) {
      this.#replaceNested(nested, json.length);
      this.#pieces.push(this.#open.closers());
    } else {
      this.#backTo(this.#safe);
      this.#pieces.push(json.subarray(this.#copyFrom, this.#safe.at), this.#open.closers());
    }
    const pieces = this.#pieces;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const buffer = () => Buffer.concat(pieces);
    return { ok: true, bytes, text: () => buffer().toString("utf8"), buffer, closed, leftOut: this.#leftOut };
  }

  #goOn(expect: Expect): true {
    this.#at += 1;
    this.#expect = expect;
    return true;
  }

  #afterValue(at: number): true {
    this.#at = at;
    this.#safe = this.#mark();
    this.#expect = this.#open.depth === 0 ? "nothing" : "comma";
    return true;
  }

  #fail(wanted: string): false {
    this.#wrong = wanted;
    return false;
  }

  #mark(): Mark {
    return { at: this.#at, copyFrom: this.#copyFrom, pieces: this.#pieces.length, depth: this.#open.depth };
  }

  #backTo({ copyFrom, pieces, depth }: Mark): void {
    this.#pieces.length = pieces;
    this.#copyFrom = copyFrom;
    this.#open.depth = depth;
  }

  #replace(from: number, to: number): void {
    this.#pieces.push(this.#json.subarray(this.#copyFrom, from), placeholder(to - from));
    this.#copyFrom = to;
    this.#leftOut += 1;
  }

  #replaceNested(nested: Mark, to: number): void {
    this.#backTo(nested);
    this.#replace(nested.at, to);
  }
}

const [TAB, LF, CR, SPACE, QUOTE, COMMA, COLON, BACKSLASH] = [0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3a, 0x5c] as const;
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d] as const;

const placeholder = (bytes: number): Buffer => Buffer.from(`"[${bytes} bytes left out]"`);

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
