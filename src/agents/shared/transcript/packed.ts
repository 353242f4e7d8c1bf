import { closeSync, readSync } from "node:fs";
import { openRegularSync } from "#kit/open.ts";
import { unpacked } from "./unpacked.lazy.ts";

// Some agents compress old files (Zstandard). The compressed file replaces the plain one, under its name with this ending.
const ENDING = ".zst";

export const isCompressed = (path: string): boolean => path.endsWith(ENDING);

/** The path of the plain form, whichever form exists. */
export const plainPath = (path: string): string => (isCompressed(path) ? path.slice(0, -ENDING.length) : path);

/** The path of the compressed form, whichever form exists. */
export const compressedPath = (path: string): string => (isCompressed(path) ? path : `${path}${ENDING}`);

/** The first bytes of a compressed file's content; empty if it is missing, refused or damaged. Never throws. */
export function firstUnpacked(path: string, bytes: number, roots: readonly string[] | undefined): Buffer {
  try {
    const { fd } = openRegularSync(path, roots);
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
