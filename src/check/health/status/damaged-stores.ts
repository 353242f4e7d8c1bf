import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Damaged stores beside the store, one line each, newest first: they stay until the user deletes them.
 *
 * @returns nothing if there are none, or the directory cannot be listed
 */
export function damagedStoreRemarks(storePath: string): readonly string[] {
  const before = `${basename(storePath)}.damaged-`;
  return namesIn(dirname(storePath))
    .filter((name) => name.startsWith(before) && name.endsWith("Z"))
    .sort()
    .reverse()
    .map((name) => {
      const path = join(dirname(storePath), name);
      const day = name.slice(before.length, before.length + "2026-11-21".length);
      return `a damaged store was set aside on ${day} as ${path}; drain.log lists what was recovered from it; delete it when you no longer need it`;
    });
}

// --- internal ---

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
