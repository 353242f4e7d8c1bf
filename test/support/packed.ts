/** Bytes as a Zstandard file of uncompressed blocks. */
export function packedUncompressed(bytes: Buffer): Buffer {
  const blocks: Buffer[] = [FRAME];
  for (let at = 0; at === 0 || at < bytes.length; at += BLOCK_BYTES) {
    const part = bytes.subarray(at, at + BLOCK_BYTES);
    blocks.push(header(part.length, 0, at + BLOCK_BYTES >= bytes.length), part);
  }
  return Buffer.concat(blocks);
}

/** A small file that unpacks to this many zeros: 128 KB per four bytes. */
export function packedZeros(bytes: number): Buffer {
  const blocks: Buffer[] = [FRAME];
  for (let at = 0; at < bytes; at += BLOCK_BYTES) {
    blocks.push(header(BLOCK_BYTES, 1, at + BLOCK_BYTES >= bytes), Buffer.from([0]));
  }
  return Buffer.concat(blocks);
}

/** A skippable frame. */
export const SKIPPED = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

// --- internal ---

const BLOCK_BYTES = 1 << 17;
/** RFC 8878 header: no size, no checksum, a window of 128 KB. */
const FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]);

function header(length: number, kind: 0 | 1, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE((length << 3) | (kind << 1) | (isLast ? 1 : 0), 0, 3);
  return bytes;
}
