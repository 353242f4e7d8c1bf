import { chmodSync, rmSync, symlinkSync } from "node:fs";

/**
 * Makes a file that exists and cannot be read. A superuser reads everything, so for one it becomes a name for its own
 * memory, whose first page nobody can read.
 *
 * @returns the code that reading it gives
 */
export function makeUnreadable(path: string): "EACCES" | "EIO" {
  if (process.getuid?.() !== 0) {
    chmodSync(path, 0o000);
    return "EACCES";
  }
  rmSync(path);
  symlinkSync("/proc/self/mem", path);
  return "EIO";
}

/** A directory that exists and in which even a superuser can make nothing. */
export const NOBODY_WRITES = "/sys";
