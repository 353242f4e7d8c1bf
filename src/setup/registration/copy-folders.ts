import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Places } from "#config/places.ts";

/** The start of names of folders that are being written or removed. */
export const UNFINISHED = ".openhook-otel-";

/** The folder of the version that a program belongs to. */
export const folderOf = (programPath: string): string => dirname(dirname(programPath));

/** Whether a program is one of our copies. */
export const isCopy = (
  programPath: string,
  { copiesDir, stateDir }: Pick<Places, "copiesDir" | "stateDir">,
): boolean => {
  const parent = dirname(folderOf(programPath));
  const isOurs = basename(parent) === "openhook-otel" || parent === copiesDir || parent === stateDir;
  return isOurs && isVersion(basename(folderOf(programPath)));
};

/** Whether a folder's name is that of a version: `0.1.0`, `0.1.0-1a2b3c4d`. */
export const isVersion = (name: string): boolean => /^\d+\.\d+\.\d+([-+][\w.+-]*)?$/.test(name);

/**
 * Whether there are folders beside a copy that `tidyCopies` may remove: most drains find none, and need not load it.
 *
 * @returns false if the program is no copy, or the folder cannot be read
 */
export function mayHaveOldCopies(programPath: string, places: Pick<Places, "copiesDir" | "stateDir">): boolean {
  if (!isCopy(programPath, places)) return false;
  try {
    const names = readdirSync(dirname(folderOf(programPath)));
    return names.filter((name) => isVersion(name) || name.startsWith(UNFINISHED)).length > 1;
  } catch {
    return false;
  }
}
