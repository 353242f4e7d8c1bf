import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { shrinkJson } from "../../model/shrink.ts";
import { openRegular } from "./open.ts";

/** A stretch of complete lines. `endBytes` is the offset behind the last of them, or inside a line that is passed over. */
export interface LineBatch {
  readonly lines: readonly Buffer[];
  readonly endBytes: number;
  /** Lines longer than the limit, passed over. */
  readonly tooLong: number;
}

export interface JsonlOptions {
  readonly fromBytes: number;
  /** What `fingerprint` gave when `fromBytes` was learned; another one now means another file: read from the start. */
  readonly fingerprint?: string;
  /** @default 1 MiB */
  readonly chunkBytes?: number;
  /** Longest line that is held in memory. @default 32 MiB */
  readonly maxLineBytes?: number;
  /** Folders the file must really lie in. */
  readonly roots?: readonly string[] | undefined;
}

export interface JsonlFile {
  /** Where reading really starts: 0 when the file was replaced or truncated. */
  readonly fromBytes: number;
  readonly modifiedMs: number;
  readonly batches: AsyncIterable<LineBatch>;
  /** Of the file's first bytes, as far as they lie before `endBytes`; and whether a line that is passed over goes on there. */
  fingerprint(endBytes: number): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens a file of JSON lines from an offset on. Only complete lines (ending in `\n`) are given; a torn last line stays
 * for the next time. Memory: one chunk and one line. A line longer than the limit is passed over piece by piece, so that
 * a reader that stops inside it goes on there.
 *
 * @throws RefusedError when the path is no regular file, or not one of the agent's; else what the file system throws
 */
export async function openJsonl(path: string, options: JsonlOptions): Promise<JsonlFile> {
  const { chunkBytes = 1 << 20, maxLineBytes = MAX_LINE_BYTES } = options;
  const { file, stats } = await openRegular(path, options.roots);
  try {
    const isInside = options.fingerprint?.endsWith(INSIDE) === true;
    const same =
      options.fromBytes <= stats.size &&
      (options.fingerprint === undefined ||
        options.fingerprint === `${await headDigest(file, options.fromBytes)}${isInside ? INSIDE : ""}`);
    const fromBytes = same ? options.fromBytes : 0;
    const place: Place = { fromBytes, chunkBytes, maxLineBytes, insideAt: same && isInside ? fromBytes : -1 };
    return {
      fromBytes,
      modifiedMs: stats.mtimeMs,
      batches: readBatches(file, place),
      fingerprint: async (endBytes) =>
        `${await headDigest(file, endBytes)}${place.insideAt === endBytes ? INSIDE : ""}`,
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

// --- internal ---

/** Of one line: images and documents that users attach stand in theirs. */
const MAX_LINE_BYTES = 32 << 20;
/** Longer ones are given without their long texts: parsed as they are, they would be held five times over. */
const MAX_WHOLE_LINE_BYTES = 4 << 20;
const HEAD_BYTES = 512;
const NEWLINE = 0x0a;
/** Stands behind a fingerprint that was taken inside a line which is passed over. */
const INSIDE = "+";
/** How often a line that is passed over lets its reader note how far it is. */
const PASS_BYTES = 16 << 20;

interface Place {
  readonly fromBytes: number;
  readonly chunkBytes: number;
  readonly maxLineBytes: number;
  /** The last offset that was given inside a line that is passed over; -1 where there is none. */
  insideAt: number;
}

async function* readBatches(file: FileHandle, place: Place): AsyncGenerator<LineBatch> {
  const { chunkBytes, maxLineBytes } = place;
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let position = place.fromBytes;
  // What was read of the line that is still open, and how long it is; of one that is too long nothing is kept
  const open = new OpenLine();
  let openBytes = place.insideAt === -1 ? 0 : maxLineBytes + 1;
  let toldBytes = position;
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    const lines: Buffer[] = [];
    let tooLong = 0;
    let endBytes = -1;
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE, 0); at !== -1 && at < bytesRead; at = chunk.indexOf(NEWLINE, at + 1)) {
      const length = openBytes + (at - start);
      if (length > maxLineBytes) tooLong++;
      else if (length > 0) {
        const piece = chunk.subarray(start, at);
        lines.push(openBytes === 0 ? Buffer.from(piece) : shortened(open.with(piece)));
      }
      open.clear();
      openBytes = 0;
      start = at + 1;
      endBytes = position + start;
    }
    if (start < bytesRead) {
      openBytes += bytesRead - start;
      if (openBytes > maxLineBytes) open.clear();
      else open.with(chunk.subarray(start, bytesRead));
    }
    position += bytesRead;
    if (endBytes !== -1) {
      toldBytes = endBytes;
      yield { lines, endBytes, tooLong };
    }
    if (openBytes > maxLineBytes && position - toldBytes >= PASS_BYTES) {
      place.insideAt = position;
      toldBytes = position;
      yield { lines: [], endBytes: position, tooLong: 0 };
    }
  }
}

/** A copy, without long texts where it is long. A line that is no JSON stays what it is: its reader says so. */
function shortened(line: Buffer): Buffer {
  if (line.length <= MAX_WHOLE_LINE_BYTES) return Buffer.from(line);
  const shrunk = shrinkJson(line);
  return Buffer.from(shrunk.ok && !shrunk.closed ? shrunk.text() : line);
}

/** A line that goes on behind its chunk, in memory that the next one uses again: large ones would else pile up as garbage. */
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

async function headDigest(file: FileHandle, endBytes: number): Promise<string> {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, endBytes));
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return createHash("sha256").update(head.subarray(0, bytesRead)).digest("hex").slice(0, 16);
}
