import { closeSync, readSync } from "node:fs";
import { openRegularNow } from "./open.ts";
import { unpacked } from "./unpacked.lazy.ts";

// Files that an agent packs (Zstandard) when they have lain for a while, each in the place of what it holds, under its name
// and this ending.
const ENDING = ".zst";

export const isPacked = (path: string): boolean => path.endsWith(ENDING);

/** Where a file lies, or would, as it is. */
export const plainPath = (path: string): string => (isPacked(path) ? path.slice(0, -ENDING.length) : path);

/** Where it lies, or would, when it is packed. */
export const packedPath = (path: string): string => (isPacked(path) ? path : `${path}${ENDING}`);

/** The first bytes of what a packed file holds; nothing of one that is not there, must not be read or is torn. Never throws. */
export function firstUnpacked(path: string, bytes: number, roots: readonly string[] | undefined): Buffer {
  try {
    const { fd } = openRegularNow(path, roots);
    try {
      const head = Buffer.alloc(bytes);
      const read = unpacked((into, length, position) => readSync(fd, into, 0, length, position));
      return head.subarray(0, read(head, bytes, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}
