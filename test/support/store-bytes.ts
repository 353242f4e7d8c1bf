import { readFileSync } from "node:fs";
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
