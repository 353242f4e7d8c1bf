import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { step } from "#kit/fault-points.ts";
import {
  checkNames,
  checkSchema,
  codeAndText,
  type Database,
  damagedError,
  preparerOf,
  StoreError,
  unusableError,
} from "./connection.ts";
import { fileSystemOf } from "./file-system.ts";
import { runMigrations } from "./migrate.lazy.ts";
import { SCHEMA_VERSION } from "./schema-version.const.ts";
import { createFile } from "./spare-files.ts";

export { type Database, type Row, type Statement, StoreError, type Value } from "./connection.ts";

/**
 * Opens store.db, and creates or upgrades it if needed. WAL mode; every commit is on disk before it returns; mode 0600.
 *
 * @throws StoreError `E_STORE_NEWER` if a later version of this program wrote it, `E_STORE_DAMAGED` if it is damaged or not a
 *         database, `E_STORE` for errors of the file system and a schema from before the first release
 */
export function openDatabase(path: string): Database {
  let raw: Libsql.Database;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Before opening: SQLite opens a file that is not writable as read-only
    restrictMode(path);
    raw = step("store.open", () => connectWithSpares(path));
  } catch (error) {
    throw openError(path, error);
  }
  const database = wrap(raw, path);
  try {
    restrictMode(path);
    checkNames(database.prepare);
    migrate(database, raw, path);
    return database;
  } catch (error) {
    raw.close();
    database.release();
    throw error instanceof StoreError ? error : openError(path, error);
  }
}

/**
 * Writes all commits into the main file and empties the log. Commits that are only in the log can get lost unnoticed, because
 * SQLite treats a torn log as unfinished; in the main file SQLite notices damage. The log is emptied because an older commit left
 * in a torn log would hide newer data in the main file.
 */
export function checkpoint(db: Database): void {
  step("store.checkpoint", () => db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
}

/**
 * From now on commits are on disk with the next checkpoint only, for data that can be read again. A power failure undoes the last
 * commits completely and in order. Without WAL this cannot be guaranteed, so nothing changes.
 */
export function deferSync(db: Database): void {
  if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal")
    db.prepare("PRAGMA synchronous = NORMAL").get();
}

/** From now on each commit is on disk before it returns; the first one also writes all earlier ones. */
export function syncEveryCommit(db: Database): void {
  db.prepare("PRAGMA synchronous = FULL").get();
}

/** Renames the files of a store, the main file first. Deletes nothing. */
export function moveStore(from: string, to: string): void {
  const there = filesOf(to);
  for (const [i, file] of filesOf(from).entries()) if (existsSync(file)) renameSync(file, there[i] ?? to);
}

/** The main file, its log, and the log's index. */
export const filesOf = (path: string): readonly [string, string, string] => [path, `${path}-wal`, `${path}-shm`];

// --- internal ---

/** On Windows the access list of the user's profile keeps others out: there are no modes, and files in use cannot be changed. */
function restrictMode(path: string): void {
  if (process.platform === "win32") return;
  for (const file of filesOf(path)) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() === true && (found.mode & 0o777) !== 0o600) chmodSync(file, 0o600);
  }
}

/**
 * Connects. If SQLite cannot create its files because the disk has no inode left, spare files become them. More than once: SQLite
 * deletes the log of an empty store, and another program can be faster than its next attempt to create it.
 */
function connectWithSpares(path: string, attempts = 3): Libsql.Database {
  try {
    return connect(path);
  } catch (error) {
    const isPlaceClosed = codeAndText(error).code.startsWith("SQLITE_CANTOPEN");
    if (!isPlaceClosed || attempts === 1 || !createStoreFiles(path)) throw error;
  }
  const raw = connectWithSpares(path, attempts - 1);
  raw.exec("PRAGMA temp_store = MEMORY");
  return raw;
}

/** @returns whether files were missing for which there was no room */
function createStoreFiles(path: string): boolean {
  const stateDir = dirname(path);
  const files = fileSystemOf(stateDir).isShared ? [path, `${path}-journal`] : filesOf(path);
  try {
    return files.map((file) => createFile(file, stateDir)).includes(true);
  } catch {
    return false;
  }
}

function connect(path: string): Libsql.Database {
  const { isShared, hasLocks } = fileSystemOf(dirname(path));
  // Without a lock service all of SQLite's locks fail; the drain's own lock keeps other drains out
  const raw = new Libsql(hasLocks ? path : `${pathToFileURL(path).href}?vfs=unix-none`, {});
  // WAL needs shared memory, which machines do not share
  const journal = isShared
    ? "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL"
    : "PRAGMA journal_mode = WAL";
  try {
    raw.exec("PRAGMA busy_timeout = 10000");
    // For new stores only, elsewhere this writes a page without effect: freed pages can then be released in small steps
    // Nothing can be lost from an empty store, so this needs no file for a journal
    if (isEmpty(raw)) raw.exec("PRAGMA journal_mode = MEMORY; PRAGMA auto_vacuum = INCREMENTAL");
    raw.exec(`${journal}; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON`);
    return raw;
  } catch (error) {
    raw.close();
    throw error;
  }
}

function isEmpty(raw: Libsql.Database): boolean {
  const row = raw.prepare("PRAGMA page_count").get() as { readonly page_count: number };
  return row.page_count === 0;
}

function wrap(raw: Libsql.Database, path: string): Database {
  let depth = 0;
  const asStoreError = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw damagedError(path, error) ?? unusableError("use", path, error) ?? error;
    }
  };
  return {
    ...preparerOf(raw, {
      read: asStoreError,
      write: (work) => asStoreError(() => (depth > 0 ? work() : step("store.write", work))),
    }),
    transaction(work, faultPoint = "commit.note") {
      if (depth > 0) return work();
      asStoreError(() => raw.exec("BEGIN IMMEDIATE"));
      depth++;
      try {
        const result = work();
        commit(raw, path, () => step(faultPoint, () => raw.exec("COMMIT")));
        return result;
      } catch (error) {
        try {
          raw.exec("ROLLBACK");
        } catch {
          // Report the commit's own error; SQLite has rolled back already
        }
        throw error;
      } finally {
        depth--;
      }
    },
    close: () => step("store.close", () => raw.close()),
  };
}

/** An error here is the store's, not the work's. */
function commit(raw: Libsql.Database, path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    const whole = raw.inTransaction ? "nothing of it is kept" : "it is kept";
    const text = `cannot commit to ${JSON.stringify(path)}: ${codeAndText(error).text}; ${whole}`;
    throw (
      damagedError(path, error) ??
      unusableError("commit to", path, error) ??
      new StoreError("E_STORE", text, { cause: error })
    );
  }
}

function migrate(database: Database, raw: Libsql.Database, path: string): void {
  const version = (): number => Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
  const found = version();
  if (found === SCHEMA_VERSION) return;
  if (found !== 0) checkSchema(path, found);
  database.transaction(() => {
    runMigrations(raw, version());
  }, "commit.schema");
}

function openError(path: string, error: unknown): StoreError {
  const advice = "check that its folder can be written and the disk is not full";
  const text = `cannot open ${JSON.stringify(path)}: ${codeAndText(error).text}; ${advice}`;
  return damagedError(path, error) ?? new StoreError("E_STORE", text, { cause: error });
}
