import { closeSync, openSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { foreignFile, whyNotOwn } from "#kit/own-file.ts";
import { suggest } from "#kit/suggest.ts";
import {
  checkNames,
  checkSchema,
  codeAndText,
  type Database,
  damagedError,
  preparerOf,
  type Row,
  StoreError,
} from "./connection.ts";
import { filesOf } from "./database.ts";
import { fileSystemOf } from "./file-system.ts";
import { SCHEMA_VERSION } from "./schema-version.const.ts";

/**
 * Opens the store read-only: nothing is created, upgraded or locked, and all queries see one snapshot, even while a drain is
 * running.
 *
 * @returns what `look` returns; `undefined` if there is no store yet
 * @throws StoreError if it cannot be read, is damaged, or has another version's schema
 */
export function readStore<T>(path: string, look: (db: Database) => T): T | undefined {
  if (fileAt(path) === undefined) return undefined;
  assertOwnStore(path);
  const { raw, version, state, assertUnchanged } = openReadOnly(path);
  const { prepare, release } = preparerOf(raw);
  try {
    // A drain is just creating it
    if (version === 0) return undefined;
    checkSchema(path, version);
    if (version !== SCHEMA_VERSION) throw olderError(path);
    const seen = guarded(path, () => {
      // The names of a file that has not changed since were checked by this process
      if (lastChecked !== state) checkNames(prepare);
      lastChecked = state;
      return look({ prepare, transaction: (work) => work(), close: () => raw.close(), release });
    });
    assertUnchanged();
    return seen;
  } finally {
    endSnapshot(raw);
    release();
  }
}

// --- internal ---

/** SQLite opens these files by itself, and would wait for a pipe. */
function assertOwnStore(path: string): void {
  const foreign = filesOf(path).flatMap((file) => {
    const why = whyNotOwn(file);
    return why === undefined ? [] : [foreignFile(file, why)];
  })[0];
  if (foreign !== undefined) throw new StoreError("E_STORE", foreign);
}

let lastChecked: string | undefined;

/**
 * Ends the transaction before closing. The driver closes a connection only when its statements are garbage collected, and keeps
 * the snapshot until then: a drain's checkpoint would wait for it, 10 s each.
 */
function endSnapshot(raw: Libsql.Database): void {
  try {
    raw.exec("ROLLBACK");
  } catch {
    // No transaction is open, or SQLite has ended it already
  }
  raw.close();
}

interface Opened {
  readonly raw: Libsql.Database;
  readonly version: number;
  /** The path, and what changes with the file. */
  readonly state: string;
  /** Throws if another process may have written meanwhile, so that the queries saw two states. */
  readonly assertUnchanged: () => void;
}

/** `mode=ro` keeps SQLite from creating the file; libsql has no option for it, but accepts a URI. */
function openReadOnly(path: string): Opened {
  const unlocked = fileSystemOf(dirname(path)).hasLocks ? "" : "&vfs=unix-none";
  const address = `${pathToFileURL(path).href}?mode=ro${unlocked}`;
  try {
    const before = stateOf(path);
    try {
      return { ...connect(address), state: before, assertUnchanged: () => {} };
    } catch (error) {
      // To read a store in WAL mode, SQLite writes beside it. If it must not (another user's store, a read-only disk) and there is no
      // log, the main file contains everything
      const isPlaceClosed = /^SQLITE_(READONLY|CANTOPEN)/.test(codeAndText(error).code);
      if (!isPlaceClosed || logSize(path) > 0) throw error;
      const assertUnchanged = (): void => {
        if (stateOf(path) === before) return;
        throw new StoreError("E_STORE", `${JSON.stringify(path)} was written to while it was read: try again`);
      };
      return { ...connect(`${address}&immutable=1`), state: before, assertUnchanged };
    }
  } catch (error) {
    // The driver has its own messages for some system errors, such as too many open files
    throw damagedError(path, error) ?? unreadable(path, error);
  }
}

function connect(address: string): Pick<Opened, "raw" | "version"> {
  const raw = new Libsql(address, {});
  try {
    // One snapshot for all queries: a drain's commits do not show up in between
    raw.exec("PRAGMA busy_timeout = 10000; BEGIN");
    return { raw, version: Number((raw.prepare("PRAGMA user_version").get() as Row)["user_version"]) };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** @returns `undefined` if there is no file. @throws StoreError if that cannot be determined */
function fileAt(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeAndText(error).code === "ENOTDIR") return undefined;
    throw unreadable(path, error);
  }
}

const logSize = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;

function stateOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${path} ${size} ${mtimeMs} ${logSize(path)}`;
}

/** SQLite's errors are thrown as StoreError; what the caller throws stays as it is. */
function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const damaged = damagedError(path, error);
    if (damaged !== undefined) throw damaged;
    if (!codeAndText(error).code.startsWith("SQLITE_")) throw error;
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): StoreError {
  const { code, text } = codeAndText(fileSystemError(path) ?? error);
  const isForbidden = code === "EACCES" || code === "EPERM";
  const reason = isForbidden
    ? "permission denied; check the owner and mode of the file and its folder"
    : code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")
      ? `${text}; SQLite writes beside it to read it: check that its folder can be written`
      : text;
  return new StoreError("E_STORE", `cannot read ${JSON.stringify(path)}: ${reason}`, { cause: error });
}

/** The file system's error, which is more specific than SQLite's; `undefined` if there is none. */
function fileSystemError(path: string): unknown {
  try {
    // Opening a pipe would wait for a writer
    if (statSync(path).isFile()) closeSync(openSync(path, "r"));
    return undefined;
  } catch (error) {
    return error;
  }
}

const olderError = (path: string): StoreError =>
  new StoreError(
    "E_STORE_OLDER",
    `${JSON.stringify(path)} was written by an earlier version of openhook-otel; the next drain brings it up to date: run ${suggest("drain")}`,
  );
