import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { step } from "../model/fault-points.ts";
import {
  checkNames,
  codeAndText,
  type Database,
  damagedError,
  newerError,
  preparerOf,
  StoreError,
  unusableError,
} from "./connection.ts";
import { fileSystemOf } from "./file-system.ts";
import { MIGRATIONS } from "./migrations.ts";

export { type Database, type Row, type Statement, StoreError, type Value } from "./connection.ts";

/**
 * Opens store.db, making or upgrading it as needed. WAL, every commit on disk before it returns, mode 0600.
 *
 * @throws StoreError `E_STORE_NEWER` when a later version of this program has written it, `E_STORE_DAMAGED` when it is
 *         no database, `E_STORE` for anything the file system says
 */
export function openDatabase(path: string): Database {
  let raw: Libsql.Database;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Before it is opened: one that we must not write would be opened to be read
    restrictMode(path);
    raw = step("store.open", () => connect(path));
  } catch (error) {
    throw openError(path, error);
  }
  try {
    restrictMode(path);
    const database = wrap(raw, path);
    checkNames(database.prepare);
    migrate(database, raw, path);
    return database;
  } catch (error) {
    raw.close();
    throw error instanceof StoreError ? error : openError(path, error);
  }
}

/**
 * Brings what was committed into the main file, and empties the log beside it. What is in the log alone can go unseen: SQLite
 * takes a torn log for one that was not finished. What is in the main file is there, or SQLite says that it is damaged.
 * Emptied as well, since an older commit that is left in a torn log would hide what the main file has.
 */
export function checkpoint(db: Database): void {
  step("store.checkpoint", () => db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
}

/**
 * From now on a commit is on disk with the next checkpoint, not before it returns: for what can be read again. A power
 * failure undoes the last commits, whole and in their order; without a log beside the file that could not be said, and
 * nothing changes.
 */
export function deferSync(db: Database): void {
  if (db.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal")
    db.prepare("PRAGMA synchronous = NORMAL").get();
}

/** From now on a commit is on disk before it returns again, and with the first one all that were made before it. */
export function syncEveryCommit(db: Database): void {
  db.prepare("PRAGMA synchronous = FULL").get();
}

/** Moves the files of a store to another name, the main file first. Nothing of them is deleted. */
export function moveStore(from: string, to: string): void {
  const there = filesOf(to);
  for (const [i, file] of filesOf(from).entries()) if (existsSync(file)) renameSync(file, there[i] ?? to);
}

/** The main file, its log, and the log's index. */
export const filesOf = (path: string): readonly [string, string, string] => [path, `${path}-wal`, `${path}-shm`];

// --- internal ---

function restrictMode(path: string): void {
  for (const file of filesOf(path)) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile() === true && (found.mode & 0o777) !== 0o600) chmodSync(file, 0o600);
  }
}

function connect(path: string): Libsql.Database {
  const { isShared, hasLocks } = fileSystemOf(dirname(path));
  // Without a lock service every lock of SQLite's fails; the drain's own lock keeps others out then
  const raw = new Libsql(hasLocks ? path : `${pathToFileURL(path).href}?vfs=unix-none`, {});
  // WAL needs memory that all who have the store open share: not to be had between machines
  const journal = isShared
    ? "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL"
    : "PRAGMA journal_mode = WAL";
  try {
    raw.exec("PRAGMA busy_timeout = 10000");
    // Of a new store alone, elsewhere it would write a page for nothing: what pruning frees can be given back a few pages at a time
    if (isEmpty(raw)) raw.exec("PRAGMA auto_vacuum = INCREMENTAL");
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
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw damagedError(path, error) ?? unusableError("use", path, error) ?? error;
    }
  };
  return {
    prepare: preparerOf(raw, {
      read: told,
      write: (work) => told(() => (depth > 0 ? work() : step("store.write", work))),
    }),
    transaction(work, faultPoint = "commit.note") {
      if (depth > 0) return work();
      told(() => raw.exec("BEGIN IMMEDIATE"));
      depth++;
      try {
        const result = work();
        commit(raw, path, () => step(faultPoint, () => raw.exec("COMMIT")));
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
    close: () => step("store.close", () => raw.close()),
  };
}

/** Whatever fails here, it is the store that failed, not the work. */
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
  if (version() > MIGRATIONS.length) {
    throw newerError(path, version(), MIGRATIONS.length);
  }
  if (version() === MIGRATIONS.length) return;
  database.transaction(() => {
    for (const sql of MIGRATIONS.slice(version())) raw.exec(sql);
    raw.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  }, "commit.schema");
}

function openError(path: string, error: unknown): StoreError {
  const advice = "check that its folder can be written and the disk is not full";
  const text = `cannot open ${JSON.stringify(path)}: ${codeAndText(error).text}; ${advice}`;
  return damagedError(path, error) ?? new StoreError("E_STORE", text, { cause: error });
}
