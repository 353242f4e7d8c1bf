import { chmodSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { type Database, damagedError, newerError, preparerOf, StoreError, said } from "./connection.ts";
import { MIGRATIONS } from "./migrations.ts";

export { type Database, type Row, type Statement, StoreError, type Value } from "./connection.ts";

/**
 * Opens store.db, making or upgrading it as needed. WAL, every commit on disk before it returns, mode 0600.
 *
 * @throws StoreError `E_STORE_NEWER` when a later version of this program has written it, `E_STORE_DAMAGED` when it is
 *         no database, `E_STORE` for anything the file system says
 */
export function openDatabase(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let raw: Libsql.Database;
  try {
    raw = new Libsql(path, {});
    raw.exec(
      "PRAGMA busy_timeout = 10000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON",
    );
  } catch (error) {
    throw storeError(path, error);
  }
  try {
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    const database = wrap(raw);
    migrate(database, raw, path);
    return database;
  } catch (error) {
    raw.close();
    throw error instanceof StoreError ? error : storeError(path, error);
  }
}

/** Moves a damaged store out of the way; nothing of it is deleted. @returns where it lies now */
export function setAside(path: string, nowMs: number): string {
  const aside = `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(":", "")}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
  }
  return aside;
}

// --- internal ---

function wrap(raw: Libsql.Database): Database {
  let depth = 0;
  return {
    prepare: preparerOf(raw),
    transaction(work) {
      if (depth > 0) return work();
      raw.exec("BEGIN IMMEDIATE");
      depth++;
      try {
        const result = work();
        raw.exec("COMMIT");
        return result;
      } catch (error) {
        try {
          raw.exec("ROLLBACK");
        } catch {
          // The commit's own error is the one to tell; SQLite has rolled back by itself
        }
        throw error;
      } finally {
        depth--;
      }
    },
    close: () => raw.close(),
  };
}

function migrate(database: Database, raw: Libsql.Database, path: string): void {
  const version = (): number => Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  if (version() > MIGRATIONS.length) {
    throw newerError(path, version(), MIGRATIONS.length);
  }
  database.transaction(() => {
    for (const sql of MIGRATIONS.slice(version())) raw.exec(sql);
    raw.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function storeError(path: string, error: unknown): StoreError {
  const advice = "check that its folder can be written and the disk is not full";
  const text = `cannot open ${JSON.stringify(path)}: ${said(error).text}; ${advice}`;
  return damagedError(path, error) ?? new StoreError("E_STORE", text, { cause: error });
}
