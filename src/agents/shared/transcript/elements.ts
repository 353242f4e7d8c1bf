import { excessOf } from "#kit/json-limits.ts";
import { openRegular } from "#kit/open.ts";
import { withoutLargeValues } from "#kit/shrink.ts";

/** One element of an array in a JSON file; without its large values if it has too many; `undefined` if it was skipped because it is larger than the limit. */
type Element = Buffer | undefined;

interface ElementOptions {
  /** Longest element that is held in memory. @default 32 MiB */
  readonly maxBytes?: number;
  /** Folders that must contain the file, after links are resolved. */
  readonly roots?: readonly string[] | undefined;
}

/**
 * The elements of an array that is a member of a JSON file's top object, or the file's whole content, one after the other,
 * without loading the file. If the file ends inside the array, because it is being written, the complete elements are returned.
 *
 * @param member the array's name; `undefined`: the file contains nothing but the array
 * @returns `{`…`}` texts; nothing for elements that are not objects, and for files of another shape
 * @throws if the file is too large to be read again at each change; RefusedError; the file system's errors
 */
export async function* elementsOf(
  path: string,
  member: string | undefined,
  { maxBytes = MAX_ELEMENT_BYTES, roots }: ElementOptions = {},
): AsyncGenerator<Element> {
  const { file, stats } = await openRegular(path, roots);
  try {
    if (stats.size > MAX_FILE_BYTES) {
      throw new Error(`it has ${stats.size} bytes; one file of more than ${MAX_FILE_BYTES} is not read`);
    }
    const scan = new Scanner(member, maxBytes);
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    // Not further than its size at opening: it can grow while it is read
    for (let position = 0; !scan.isDone && position < stats.size; ) {
      const { bytesRead } = await file.read(chunk, 0, Math.min(CHUNK_BYTES, stats.size - position), position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield* scan.push(chunk.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

// --- internal ---

const CHUNK_BYTES = 1 << 18;
const MAX_ELEMENT_BYTES = 32 << 20;
/** The whole file is read at each change, which takes seconds at this size. The context window limits sessions to much less. */
const MAX_FILE_BYTES = 256 << 20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
// Names of members are short; a longer text is a value
const MAX_NAME_BYTES = 256;

/** Finds where texts, objects and arrays begin and end; ignores the rest of JSON. */
class Scanner {
  readonly #member: string | undefined;
  /** Depth of the array's opening bracket. */
  readonly #base: number;
  readonly #maxBytes: number;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** The last text in the top object: a member's name, if a colon follows. */
  #text: number[] = [];
  #name: string | undefined;
  #inArray = false;
  #pieces: Buffer[] = [];
  #bytes = 0;
  isDone = false;

  constructor(member: string | undefined, maxBytes: number) {
    this.#member = member;
    this.#base = member === undefined ? 0 : 1;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): readonly Element[] {
    const found: Element[] = [];
    let start = this.#isInside() ? 0 : -1;
    for (let at = 0; at < chunk.length && !this.isDone; at++) {
      const byte = chunk[at] ?? 0;
      if (this.#inText) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inText = false;
        else if (this.#depth === 1 && this.#text.length < MAX_NAME_BYTES) this.#text.push(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.#inText = true;
        if (this.#depth === 1) this.#text = [];
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (this.#depth === this.#base && byte === OPEN_ARRAY && this.#name === this.#member) this.#inArray = true;
        else if (this.#depth === this.#base + 1 && this.#inArray && byte === OPEN_OBJECT) start = at;
        this.#depth++;
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        this.#depth--;
        if (this.#depth === this.#base + 1 && this.#inArray && start !== -1) {
          this.#keep(chunk.subarray(start, at + 1));
          found.push(this.#take());
          start = -1;
        } else if (this.#depth === this.#base && this.#inArray) this.isDone = true;
      } else if (this.#depth === 1 && byte === COLON) this.#name = Buffer.from(this.#text).toString("utf8");
      else if (this.#depth === 1 && byte === COMMA) this.#name = undefined;
    }
    if (start !== -1) this.#keep(chunk.subarray(start));
    return found;
  }

  #isInside(): boolean {
    return this.#bytes > 0;
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    // The chunk is reused: copy what is kept
    if (this.#bytes <= this.#maxBytes) this.#pieces.push(Buffer.from(piece));
    else this.#pieces = [];
  }

  #take(): Element {
    const element = this.#bytes <= this.#maxBytes ? Buffer.concat(this.#pieces) : undefined;
    this.#pieces = [];
    this.#bytes = 0;
    if (element === undefined || excessOf(element) === undefined) return element;
    const part = withoutLargeValues(element, this.#maxBytes);
    return part.ok && part.excess === undefined ? part.buffer() : undefined;
  }
}
