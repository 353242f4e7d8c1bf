import {
  appendFileSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { EVENT_FILE, LOST_COUNT, LOST_FILE } from "./inbox-file.ts";

/**
 * Writes one event into the inbox, under its final name from the start: the end line makes it complete, see hook.sh. If the disk
 * is full, an empty file whose name ends in `LOST_FILE` is left instead; if that cannot be created either, `LOST_COUNT` grows.
 *
 * @param stem the name without the counter that makes it unique
 * @throws what the file system throws if no file can be created for another reason
 */
export function writeEvent(
  { stateDir, inboxDir }: { readonly stateDir: string; readonly inboxDir: string },
  stem: string,
  parts: readonly Buffer[],
): void {
  let reserved: { readonly path: string; readonly fd: number };
  try {
    reserved = reserve(inboxDir, stem);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw error;
    countLost(stateDir);
    return;
  }
  const { path, fd } = reserved;
  try {
    try {
      for (const part of parts) {
        for (let offset = 0; offset < part.length; ) offset += writeSync(fd, part, offset);
      }
    } finally {
      // A network file system may report a full disk only here
      closeSync(fd);
    }
  } catch {
    markLost(path);
  }
}

/** Whether there is a regular file at a path, or nothing. Opening a pipe would block, and a link leads elsewhere. */
export const isPlainOrFree = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? true;

// --- internal ---

/** Replaces the file by an empty one that counts as a lost event. Under another name: pids are reused before a drain runs. */
function markLost(path: string): void {
  let mark = path.slice(0, -EVENT_FILE.length);
  while (existsSync(`${mark}${LOST_FILE}`)) mark += "-";
  try {
    truncateSync(path);
    renameSync(path, `${mark}${LOST_FILE}`);
  } catch {
    unlinkSync(path);
  }
}

/** Only if the file exists: it cannot be created either. */
function countLost(stateDir: string): void {
  const count = join(stateDir, LOST_COUNT);
  if (existsSync(count) && isPlainOrFree(count)) appendFileSync(count, ".");
}

function reserve(inboxDir: string, stem: string): { path: string; fd: number } {
  let made = false;
  for (let n = 0; ; ) {
    const path = join(inboxDir, `${stem}-${n}${EVENT_FILE}`);
    try {
      return { path, fd: openSync(path, "wx", 0o600) };
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EEXIST" && n < 1000) n += 1;
      else if (code === "ENOENT" && !made) {
        made = true;
        mkdirSync(inboxDir, { recursive: true, mode: 0o700 });
      } else throw error;
    }
  }
}
