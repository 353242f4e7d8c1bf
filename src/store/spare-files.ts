import { closeSync, existsSync, openSync, renameSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";

// A file system can run out of files (inodes, a quota) before it runs out of space. The files of the inbox may be what fills it, so
// a drain must be able to work without creating a file: it renames spare files, which were created while there was room. To delete
// them and create others would not do: a hook could be faster.

/** A first drain without free inodes needs six: its lock, the note of it, the store, twice the store's log, the log's index. */
const SPARES = 8;

/**
 * Creates the spare files that are missing, as far as there is room.
 *
 * @param stateDir an existing folder
 * @param first name of a file in it that is created before them, and from one of them if there is no room
 * @throws never
 */
export function makeSpareFiles(stateDir: string, first: string): void {
  try {
    createFile(join(stateDir, first), stateDir);
    for (const path of missingSpares(stateDir)) closeSync(openSync(path, "wx", 0o600));
  } catch {
    // No room, or not permitted: files that are no longer needed become spare ones
  }
}

/**
 * Returns a function that deletes files which are no longer needed, or empties them and keeps them as spare ones where these are
 * missing. A file that does not exist is fine.
 */
export function removerOf(stateDir: string): (path: string) => void {
  const missing = [...missingSpares(stateDir)];
  return (path) => {
    const spare = missing.pop();
    if (spare === undefined || !becomes(path, spare)) rmSync(path, { force: true });
  };
}

/**
 * Creates an empty file; if there is no room for one, a spare file gets its name. Does nothing if the file exists.
 *
 * @returns whether a spare file was used
 * @throws what the file system throws if there is no spare file either
 */
export function createFile(path: string, stateDir: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
    return false;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    if (isNoRoom(error) && sparesOf(stateDir).some((spare) => becomes(spare, path))) return true;
    throw error;
  }
}

/** Whether a file could not be created because the disk or the user's quota has no room for it. */
export const isNoRoom = (error: unknown): boolean => {
  const code = codeOf(error);
  return code === "ENOSPC" || code === "EDQUOT";
};

// --- internal ---

const sparesOf = (stateDir: string): readonly string[] =>
  Array.from({ length: SPARES }, (_, n) => join(stateDir, `spare-${n}`));

const missingSpares = (stateDir: string): readonly string[] => sparesOf(stateDir).filter((path) => !existsSync(path));

/** Empties a file and renames it. */
function becomes(file: string, path: string): boolean {
  try {
    truncateSync(file);
    renameSync(file, path);
    return true;
  } catch {
    return false;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
