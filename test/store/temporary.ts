import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { type Database, openDatabase } from "#store/database.ts";
import { removeFolder } from "../support/remove.ts";

/** A separate directory for each test, with stores that are closed afterwards. */
export function temporaryStores() {
  let dir: string | undefined;
  let opened: Database[] = [];
  const folder = (): string => {
    dir ??= mkdtempSync(join(tmpdir(), "openhook-store-"));
    return dir;
  };
  afterEach(() => {
    for (const db of opened) db.close();
    opened = [];
    if (dir !== undefined) removeFolder(dir);
    dir = undefined;
  });
  return {
    folder,
    path: (): string => join(folder(), "state", "store.db"),
    open(path = join(folder(), "state", "store.db")): Database {
      const db = openDatabase(path);
      opened.push(db);
      return db;
    },
  };
}

/** All rows of a table, for comparison. */
export const rowsOf = (db: Database, table: string): readonly unknown[] =>
  db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all();
