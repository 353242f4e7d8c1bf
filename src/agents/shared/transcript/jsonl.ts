import { createHash, hash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { assertParsable, excessOf } from "#kit/json-limits.ts";
import { openRegular, openRegularSync } from "#kit/open.ts";
import { type Shrunk, shrinkJson } from "#kit/shrink.ts";
import type { JsonLine } from "./json-line.ts";
import { isCompressed } from "./packed.ts";
import { makeShortener, type PlacedLine, type Shortener } from "./shorten.ts";
import { unpacked } from "./unpacked.lazy.ts";

/** Consecutive complete lines. `endBytes` is the offset after the last one, or inside a line that is being skipped. */
interface LineBatch {
  readonly lines: readonly JsonLine[];
  readonly endBytes: number;
  /** Number of lines that were skipped because they exceed the limit. */
  readonly tooLong: number;
}

export interface JsonlOptions {
  readonly fromBytes: number;
  /** Result of `fingerprint` for `fromBytes`. If it differs now, the file was replaced: read from the start. */
  readonly fingerprint?: string;
  /** @default 2 MiB */
  readonly chunkBytes?: number;
  /** Longest line that is read into memory. @default 32 MiB */
  readonly maxLineBytes?: number;
  /** The file must be in one of these folders, after links are resolved. */
  readonly roots?: readonly string[] | undefined;
  /** Texts of lines come without their long strings. @default false */
  readonly shortens?: boolean;
  /** Read synchronously. @default false */
  readonly isSync?: boolean | undefined;
}

interface JsonlFile {
  /** Where reading starts: 0 if the file was replaced or truncated. */
  readonly fromBytes: number;
  readonly modifiedMs: number;
  readonly batches: AsyncIterable<LineBatch>;
  /**
   * Fingerprint of the file's first bytes and of those right before `endBytes`: an agent that removes lines keeps the first
   * ones and may have written more than it removed. Also records whether a skipped line continues there.
   */
  fingerprint(endBytes: number): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens a file of JSON lines from an offset on; in a compressed file, from an offset in its content. Returns only complete lines
 * (ending in `\n`, the last one also in a whole record); an incomplete last line is left for the next reading. Memory: one chunk and one line. A line longer than the
 * limit is skipped piece by piece, so that a reader which stops inside it continues there. A byte order mark is not part of the
 * first line.
 *
 * @throws RefusedError if the path is no regular file or outside the agent's folders; else the file system's error
 */
export async function openJsonl(path: string, options: JsonlOptions): Promise<JsonlFile> {
  const { chunkBytes = CHUNK_BYTES, maxLineBytes = MAX_LINE_BYTES } = options;
  const { read, close, modifiedMs, size } = await openedFor(path, options);
  const heads = new Heads(read);
  try {
    const isInside = options.fingerprint?.endsWith(INSIDE_LINE) === true;
    const fingerprint = isInside ? options.fingerprint?.slice(0, -INSIDE_LINE.length) : options.fingerprint;
    const same = options.fromBytes <= size && (await heads.isFrom(fingerprint, options.fromBytes));
    const fromBytes = same ? options.fromBytes : 0;
    const place: ReadPosition = { fromBytes, chunkBytes, maxLineBytes, skippedTo: same && isInside ? fromBytes : -1 };
    const shortener = options.shortens === true ? taken(chunkBytes) : undefined;
    return {
      fromBytes,
      modifiedMs,
      batches: readBatches(read, place, shortener),
      fingerprint: async (endBytes) =>
        `${await heads.whole(endBytes)}${place.skippedTo === endBytes ? INSIDE_LINE : ""}`,
      close: async () => {
        giveBack(shortener);
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Bytes at either end that a fingerprint covers. */
const EDGE_BYTES = 512;

/** A line in a copy of its bytes. Its text throws an ExcessError if it is too large to be parsed. */
export const wholeLine = (bytes: Buffer): JsonLine => ({
  bytes,
  isCut: false,
  text() {
    assertParsable(bytes);
    return bytes.toString("utf8");
  },
  head: (length) => bytes.toString("latin1", 0, length),
});

// --- internal ---

/** Each chunk stores a position and a state. Most transcripts fit in one chunk of this size; with 1 MiB an import takes 2 % longer. */
const CHUNK_BYTES = 2 << 20;
/** Lines can contain images and documents that users attach. */
const MAX_LINE_BYTES = 32 << 20;
/** Longer lines come without their long texts: parsing them would take five times their size in memory. */
const MAX_WHOLE_LINE_BYTES = 4 << 20;
/** Separates the fingerprints of the first and the last bytes. */
const SEPARATOR = ".";
const digestOf = (bytes: Buffer): string => sha256(bytes).slice(0, 16);
/** `hash`, available from Node 20.12 on, takes a third of the time. Not looked for before: that would load node:crypto. */
const sha256 = (bytes: Buffer): string =>
  hash === undefined ? createHash("sha256").update(bytes).digest("hex") : hash("sha256", bytes, "hex");
const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;
const NOTHING = Buffer.alloc(0);
/** Editors and shells of Windows can put it before the first line. */
const BYTE_ORDER_MARK = Buffer.from("\ufeff");
/** Marks a fingerprint that was taken inside a skipped line. */
const INSIDE_LINE = "+";
/** A skipped line yields a position after this many bytes. */
const SKIP_REPORT_BYTES = 16 << 20;

/** A line takes a hundred bytes of memory, however short it is. Usual lines are so long that no chunk has that many. */
const BATCH_LINES = 10_000;

interface ReadPosition {
  readonly fromBytes: number;
  readonly chunkBytes: number;
  readonly maxLineBytes: number;
  /** The last position inside a skipped line; -1 if there is none. */
  skippedTo: number;
}

type Read = (into: Buffer, length: number, position: number) => Promise<number> | number;

interface Open {
  readonly read: Read;
  readonly close: () => Promise<void> | void;
  readonly modifiedMs: number;
  /** Infinite if it is unknown until the end. */
  readonly size: number;
}

async function openedFor(path: string, { roots, isSync = false }: JsonlOptions): Promise<Open> {
  const isUnpacked = isCompressed(path);
  if (isSync || isUnpacked) {
    const { fd, stats } = openRegularSync(path, roots);
    const readAt = (into: Buffer, length: number, position: number) => readSync(fd, into, 0, length, position);
    return {
      read: isUnpacked ? unpacked(readAt) : readAt,
      close: () => closeSync(fd),
      modifiedMs: stats.mtimeMs,
      size: isUnpacked ? Number.POSITIVE_INFINITY : stats.size,
    };
  }
  const { file, stats } = await openRegular(path, roots);
  return {
    read: async (into, length, position) => (await file.read(into, 0, length, position)).bytesRead,
    close: () => file.close(),
    modifiedMs: stats.mtimeMs,
    size: stats.size,
  };
}

async function* readBatches(
  read: Read,
  place: ReadPosition,
  shortener: Shortener | undefined,
): AsyncGenerator<LineBatch> {
  const { chunkBytes, maxLineBytes } = place;
  const chunk = shortener?.bytes ?? Buffer.allocUnsafe(chunkBytes);
  let position = place.fromBytes;
  // The incomplete line so far, and its length; nothing is kept of a line that is too long
  const open = new OpenLine();
  let openBytes = place.skippedTo === -1 ? 0 : maxLineBytes + 1;
  let reportedBytes = position;
  for (;;) {
    const readResult = read(chunk, chunkBytes, position);
    // Awaiting an available result would yield to other tasks
    const bytesRead = typeof readResult === "number" ? readResult : await readResult;
    if (bytesRead === 0) {
      const last = openBytes > maxLineBytes ? undefined : recordIn(open.with(NOTHING));
      if (last !== undefined) yield { lines: [wholeLine(Buffer.from(last))], endBytes: position, tooLong: 0 };
      return;
    }
    let lines: JsonLine[] = [];
    let tooLong = 0;
    let endBytes = -1;
    let start = position === 0 ? markLength(chunk.subarray(0, bytesRead)) : 0;
    const first = openBytes === 0 ? -1 : chunk.indexOf(NEWLINE);
    if (openBytes > 0 && first !== -1 && first < bytesRead) {
      const isTooLong = openBytes + first > maxLineBytes;
      if (isTooLong) tooLong++;
      else lines.push(wholeLine(shortened(open.with(chunk.subarray(0, first)))));
      open.clear();
      openBytes = 0;
      start = first + 1;
      endBytes = position + start;
    }
    if (openBytes === 0) {
      for (const line of shortener?.lines(start, bytesRead) ?? linesIn(chunk, start, bytesRead)) {
        const length = line.end - line.start;
        if (length > maxLineBytes) tooLong++;
        else if (length > 0) lines.push(line);
        start = line.end + 1;
        endBytes = position + start;
        if (lines.length < BATCH_LINES) continue;
        reportedBytes = endBytes;
        yield { lines, endBytes, tooLong };
        [lines, tooLong, endBytes] = [[], 0, -1];
      }
    }
    if (start < bytesRead) {
      openBytes += bytesRead - start;
      if (openBytes > maxLineBytes) open.clear();
      else open.with(chunk.subarray(start, bytesRead));
    }
    position += bytesRead;
    if (endBytes !== -1) {
      reportedBytes = endBytes;
      yield { lines, endBytes, tooLong };
    }
    if (openBytes > maxLineBytes && position - reportedBytes >= SKIP_REPORT_BYTES) {
      place.skippedTo = position;
      reportedBytes = position;
      yield { lines: [], endBytes: position, tooLong: 0 };
    }
  }
}

const markLength = (head: Buffer): number =>
  head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

function* linesIn(chunk: Buffer, from: number, to: number): Generator<PlacedLine, void, void> {
  let start = from;
  for (let at = chunk.indexOf(NEWLINE, from); at !== -1 && at < to; at = chunk.indexOf(NEWLINE, at + 1)) {
    yield new ChunkLine(chunk, start, at);
    start = at + 1;
  }
}

/** A line that is completely in its chunk. */
class ChunkLine implements PlacedLine {
  readonly start: number;
  readonly end: number;
  readonly isCut = false;
  readonly #chunk: Buffer;

  constructor(chunk: Buffer, start: number, end: number) {
    this.#chunk = chunk;
    this.start = start;
    this.end = end;
  }

  get bytes(): Buffer {
    return this.#chunk.subarray(this.start, this.end);
  }

  text(): string {
    return this.#chunk.toString("utf8", this.start, this.end);
  }

  head(bytes: number): string {
    return this.#chunk.toString("latin1", this.start, Math.min(this.end, this.start + bytes));
  }
}

/**
 * The last line if it is a whole record: the agent was killed before it wrote the line's end, or writes none. No beginning of a longer
 * JSON object is an object.
 */
function recordIn(line: Buffer): Buffer | undefined {
  if (line.length > MAX_WHOLE_LINE_BYTES || line.at(-1) !== CLOSING_BRACE) return undefined;
  // Its reader does not parse it either
  if (excessOf(line) !== undefined) return isComplete(shrinkJson(line)) ? line : undefined;
  try {
    JSON.parse(line.toString("utf8"));
    return line;
  } catch {
    return undefined;
  }
}

/** A copy; of a long line, without its long texts. Invalid JSON is copied as it is: its reader reports it. */
function shortened(line: Buffer): Buffer {
  if (line.length <= MAX_WHOLE_LINE_BYTES) return Buffer.from(line);
  const shrunk = shrinkJson(line);
  return isComplete(shrunk) ? shrunk.buffer() : Buffer.from(line);
}

const isComplete = (shrunk: Shrunk): shrunk is Extract<Shrunk, { ok: true }> => shrunk.ok && !shrunk.closed;

/** A line that continues after its chunk. Its memory is reused: otherwise large lines would pile up as garbage. */
class OpenLine {
  #bytes = Buffer.alloc(0);
  #length = 0;

  /** @returns all of it so far, until the next call */
  with(piece: Buffer): Buffer {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
    return this.#bytes.subarray(0, length);
  }

  clear(): void {
    this.#length = 0;
  }
}

/** Digests of the file's first bytes, which are read once. */
class Heads {
  readonly #read: Read;
  #head = Buffer.alloc(0);
  #last: { readonly bytes: number; readonly digest: string } | undefined;

  constructor(read: Read) {
    this.#read = read;
  }

  /** Whether a fingerprint matches this file. */
  async isFrom(fingerprint: string | undefined, endBytes: number): Promise<boolean> {
    return fingerprint === undefined || fingerprint === (await this.whole(endBytes));
  }

  async whole(endBytes: number): Promise<string> {
    const bytes = Math.min(EDGE_BYTES, endBytes);
    const last = Buffer.alloc(bytes);
    const length = await this.#read(last, bytes, endBytes - bytes);
    return `${await this.#first(endBytes)}${SEPARATOR}${digestOf(last.subarray(0, length))}`;
  }

  async #first(endBytes: number): Promise<string> {
    const bytes = Math.min(EDGE_BYTES, endBytes);
    if (this.#last?.bytes === bytes) return this.#last.digest;
    if (this.#head.length < bytes) {
      const head = Buffer.alloc(bytes);
      this.#head = head.subarray(0, await this.#read(head, bytes, 0));
    }
    const digest = digestOf(this.#head.subarray(0, bytes));
    this.#last = { bytes, digest };
    return digest;
  }
}

/** Shorteners that are free for reuse: each has one or two megabytes. */
const idle: { readonly capacity: number; readonly shortener: Shortener }[] = [];

function taken(capacity: number): Shortener | undefined {
  const at = idle.findIndex((one) => one.capacity === capacity);
  return at === -1 ? makeShortener(capacity) : idle.splice(at, 1)[0]?.shortener;
}

function giveBack(shortener: Shortener | undefined): void {
  if (shortener !== undefined) idle.push({ capacity: shortener.bytes.length, shortener });
}
