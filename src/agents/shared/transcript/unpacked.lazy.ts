import { Decompress } from "fzstd";

/** Reads bytes of a file. @returns their number: fewer than requested at its end, 0 after it */
type ReadAt = (into: Buffer, length: number, position: number) => number;

/**
 * Reads the content of a Zstandard file as if it were uncompressed. It is meant for sequential reading with short steps back;
 * after a longer step back, the file is decompressed again from the start.
 *
 * @param packed reads the compressed file
 * @returns reads the content up to a damaged or truncated part; reading beyond that throws an Error
 */
export function unpacked(packed: ReadAt): ReadAt {
  const source = new Unpacked(packed);
  return (into, length, position) => source.read(into, length, position);
}

// --- internal ---

interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

class Unpacked {
  readonly #packed: ReadAt;
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #decompress = this.#begin();
  #packedBytes = 0;
  #isAtEnd = false;
  #failed: Error | undefined;
  #endBytes = 0;
  /** In order, without gaps. */
  #pieces: Piece[] = [];
  #pushedBytes = 0;

  constructor(packed: ReadAt) {
    this.#packed = packed;
  }

  read(into: Buffer, length: number, position: number): number {
    if (position < (this.#pieces[0]?.at ?? this.#endBytes)) this.#again();
    while (this.#endBytes < position + length && !this.#isAtEnd && this.#failed === undefined) {
      this.#more();
      this.#forget(position - KEPT_BYTES);
    }
    let done = 0;
    for (const { at, bytes } of this.#pieces) {
      const from = Math.max(0, position + done - at);
      if (from >= bytes.length) continue;
      const part = bytes.subarray(from, from + length - done);
      into.set(part, done);
      done += part.length;
      if (done === length) break;
    }
    // The content before the damage is readable
    if (done === 0 && length > 0 && this.#failed !== undefined) throw this.#failed;
    return done;
  }

  #more(): void {
    const length = this.#packed(this.#chunk, CHUNK_BYTES, this.#packedBytes);
    this.#packedBytes += length;
    this.#isAtEnd = length === 0;
    this.#pushedBytes = 0;
    try {
      // The decoder keeps the chunk until it is used up, so it gets a copy
      this.#decompress.push(new Uint8Array(this.#chunk.subarray(0, length)), this.#isAtEnd);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#failed = new Error(`it cannot be unpacked (Zstandard): ${why}`, { cause: error });
    }
  }

  #begin(): Decompress {
    return new Decompress((bytes) => {
      if (bytes.length === 0) return;
      this.#pushedBytes += bytes.length;
      if (this.#pushedBytes > MAX_UNPACKED_BYTES) throw new Error("its unpacked size is implausible");
      this.#pieces.push({ at: this.#endBytes, bytes });
      this.#endBytes += bytes.length;
    });
  }

  #forget(beforeBytes: number): void {
    const kept = this.#pieces.findIndex(({ at, bytes }) => at + bytes.length > beforeBytes);
    if (kept !== 0) this.#pieces = kept === -1 ? [] : this.#pieces.slice(kept);
  }

  #again(): void {
    this.#decompress = this.#begin();
    this.#packedBytes = 0;
    this.#isAtEnd = false;
    this.#failed = undefined;
    this.#endBytes = 0;
    this.#pieces = [];
  }
}

const CHUNK_BYTES = 1 << 16;
/** Bytes that are kept before the current position: more than any reader steps back. */
const KEPT_BYTES = 2 << 20;
/** Limit per chunk: transcripts shrink to a tenth, repeated pictures to a hundredth. */
const MAX_UNPACKED_BYTES = 128 << 20;
