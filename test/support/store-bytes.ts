import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "#config/places.ts";
import { checkpoint, openDatabase } from "#store/database.ts";

/**
 * The bytes of a store's main file, with everything that is still in its write-ahead log. The driver closes a connection only
 * when it is garbage collected, so nobody knows when SQLite merges the log and removes it.
 */
export function storeBytes(storePath: string): Buffer {
  const db = openDatabase(storePath);
  checkpoint(db);
  db.close();
  return readFileSync(storePath);
}

/** Every file of the state directory with a digest of its bytes; what the store's log has is in the store's bytes. */
export const stateFiles = ({ stateDir, storePath }: Pick<Places, "stateDir" | "storePath">): readonly string[] =>
  readdirSync(stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = path === storePath ? storeBytes(path) : readFileSync(path);
      return `${path} ${createHash("sha256").update(bytes).digest("hex")}`;
    })
    .sort();
