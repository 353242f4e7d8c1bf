import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { type Database, damagedError, newerError, preparerOf, type Row, StoreError, said } from "./connection.ts";
import { fileSystemOf } from "./file-system.ts";
import { MIGRATIONS } from "./migrations.ts";

/**
 * Looks at the store without touching it: nothing is made, upgraded or locked, and everything `look` asks for is of one
 * moment, while a drain may be at work.
 *
 * @returns what `look` returns; `undefined` when there is no store yet
 * @throws StoreError when it cannot be read, is damaged, or is of another version of this program
 */
export function readStore<T>(path: string, look: (db: Database) => T): T | undefined {
  if (!existsSync(path)) return undefined;
  const raw = openReadOnly(path);
  try {
    const version = Number(guarded(path, () => raw.prepare("PRAGMA user_version").get() as Row)["user_version"]);
    // A drain is just making it
    if (version === 0) return undefined;
    if (version !== MIGRATIONS.length) throw otherVersion(path, version);
    return guarded(path, () =>
      look({ prepare: preparerOf(raw), transaction: (work) => work(), close: () => raw.close() }),
    );
  } finally {
    release(raw);
  }
}

// --- internal ---

/**
 * The driver's own close leaves the connection open until its statements are collected as garbage, and with it the snapshot:
 * a drain that brings the log into the main file would wait for it, 10 s each.
 */
function release(raw: Libsql.Database): void {
  try {
    raw.exec("ROLLBACK");
  } catch {
    // Nothing was begun, or SQLite has ended it by itself
  }
  raw.close();
}

/** `mode=ro` keeps SQLite from making the file; libsql takes no option for it, but an address. */
function openReadOnly(path: string): Libsql.Database {
  return guarded(path, () => {
    const unlocked = fileSystemOf(dirname(path)).hasLocks ? "" : "&vfs=unix-none";
    const raw = new Libsql(`${pathToFileURL(path).href}?mode=ro${unlocked}`, {});
    try {
      // One snapshot for everything: a drain's commits do not show up half way
      raw.exec("PRAGMA busy_timeout = 10000; BEGIN");
      return raw;
    } catch (error) {
      raw.close();
      throw error;
    }
  });
}

/** What SQLite says becomes a StoreError; what the caller throws goes through as it is. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const damaged = damagedError(path, error);
    if (damaged !== undefined) throw damaged;
    const { code, text } = said(error);
    if (!code.startsWith("SQLITE_") && !/^ConnectionFailed/.test(text)) throw error;
    throw new StoreError("E_STORE", `cannot read ${JSON.stringify(path)}: ${text}`, { cause: error });
  }
}

const otherVersion = (path: string, version: number): StoreError =>
  version > MIGRATIONS.length
    ? newerError(path, version, MIGRATIONS.length)
    : new StoreError(
        "E_STORE",
        `${JSON.stringify(path)} was written by an earlier version of openhook-otel; the next drain brings it up to date: run openhook-otel drain`,
      );
