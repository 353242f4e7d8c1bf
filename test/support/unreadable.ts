import { chmodSync, rmSync, symlinkSync } from "node:fs";

/**
 * Makes a file that exists and cannot be read. Root can read every file, so for root it is a link to the process's own
 * memory, whose first page is unreadable.
 *
 * @returns the error code of reading it
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

/** A directory that exists and in which even root cannot create files. */
export const UNWRITABLE_DIR = "/sys";
