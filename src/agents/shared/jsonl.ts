import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** A stretch of complete lines. `endBytes` is the offset behind the last of them. */
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
}

export interface JsonlFile {
  /** Where reading really starts: 0 when the file was replaced or truncated. */
  readonly fromBytes: number;
  readonly modifiedMs: number;
  readonly batches: AsyncIterable<LineBatch>;
  /** Of the file's first bytes, as far as they lie before `endBytes`. */
  fingerprint(endBytes: number): Promise<string>;
  close(): Promise<void>;
}

/**
 * Opens a file of JSON lines from an offset on. Only complete lines (ending in `\n`) are given; a torn last line stays
 * for the next time. Memory: one chunk and one line.
 *
 * @throws Error when the path is no regular file, or what the file system throws
 */
export async function openJsonl(path: string, options: JsonlOptions): Promise<JsonlFile> {
  const { chunkBytes = 1 << 20, maxLineBytes = 32 << 20 } = options;
  // Not blocking, so that a FIFO in a transcript's place cannot hold the drain
  const file = await open(path, NON_BLOCKING_READ);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`${JSON.stringify(path)} is not a regular file`);
    const same =
      options.fromBytes <= stat.size &&
      (options.fingerprint === undefined || options.fingerprint === (await headDigest(file, options.fromBytes)));
    const fromBytes = same ? options.fromBytes : 0;
    return {
      fromBytes,
      modifiedMs: stat.mtimeMs,
      batches: readBatches(file, fromBytes, chunkBytes, maxLineBytes),
      fingerprint: (endBytes) => headDigest(file, endBytes),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

// --- internal ---

const NON_BLOCKING_READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
const HEAD_BYTES = 512;
const NEWLINE = 0x0a;

async function* readBatches(
  file: FileHandle,
  fromBytes: number,
  chunkBytes: number,
  maxLineBytes: number,
): AsyncGenerator<LineBatch> {
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let position = fromBytes;
  // Pieces of the line that is still open, and how long it is; the pieces of a line that is too long are dropped
  let pieces: Buffer[] = [];
  let openBytes = 0;
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
        // The chunk is used again: the last piece must be a copy
        const piece = Buffer.from(chunk.subarray(start, at));
        lines.push(pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]));
      }
      pieces = [];
      openBytes = 0;
      start = at + 1;
      endBytes = position + start;
    }
    if (start < bytesRead) {
      openBytes += bytesRead - start;
      if (openBytes > maxLineBytes) pieces = [];
      else pieces.push(Buffer.from(chunk.subarray(start, bytesRead)));
    }
    position += bytesRead;
    if (endBytes !== -1) yield { lines, endBytes, tooLong };
  }
}

async function headDigest(file: FileHandle, endBytes: number): Promise<string> {
  const head = Buffer.alloc(Math.min(HEAD_BYTES, endBytes));
  const { bytesRead } = await file.read(head, 0, head.length, 0);
  return createHash("sha256").update(head.subarray(0, bytesRead)).digest("hex").slice(0, 16);
}
