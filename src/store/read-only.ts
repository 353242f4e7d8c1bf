import { closeSync, openSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { suggest } from "../model/suggest.ts";
import {
  checkNames,
  codeAndText,
  type Database,
  damagedError,
  newerError,
  preparerOf,
  type Row,
  StoreError,
} from "./connection.ts";
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
  if (fileAt(path) === undefined) return undefined;
  const { raw, version, assertUnchanged } = openReadOnly(path);
  try {
    // A drain is just making it
    if (version === 0) return undefined;
    if (version !== MIGRATIONS.length) throw otherVersion(path, version);
    const seen = guarded(path, () => {
      const prepare = preparerOf(raw);
      checkNames(prepare);
      return look({ prepare, transaction: (work) => work(), close: () => raw.close() });
    });
    assertUnchanged();
    return seen;
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

interface Opened {
  readonly raw: Libsql.Database;
  readonly version: number;
  /** Throws where somebody may have written meanwhile, and what was seen may be of two moments. */
  readonly assertUnchanged: () => void;
}

/** `mode=ro` keeps SQLite from making the file; libsql takes no option for it, but an address. */
function openReadOnly(path: string): Opened {
  const unlocked = fileSystemOf(dirname(path)).hasLocks ? "" : "&vfs=unix-none";
  const address = `${pathToFileURL(path).href}?mode=ro${unlocked}`;
  try {
    const before = stateOf(path);
    try {
      return { ...connect(address), assertUnchanged: () => {} };
    } catch (error) {
      // To look at one in WAL mode SQLite writes beside it. Where it must not (another user's, a disk that cannot be written)
      // and no log is there, the main file has everything
      const isPlaceClosed = /^SQLITE_(READONLY|CANTOPEN)/.test(codeAndText(error).code);
      if (!isPlaceClosed || logSize(path) > 0) throw error;
      const assertUnchanged = (): void => {
        if (stateOf(path) === before) return;
        throw new StoreError("E_STORE", `${JSON.stringify(path)} was written to while it was read: try again`);
      };
      return { ...connect(`${address}&immutable=1`), assertUnchanged };
    }
  } catch (error) {
    // The driver has words of its own for some of what the system says, as that too many files are open
    throw damagedError(path, error) ?? unreadable(path, error);
  }
}

function connect(address: string): Omit<Opened, "assertUnchanged"> {
  const raw = new Libsql(address, {});
  try {
    // One snapshot for everything: a drain's commits do not show up half way
    raw.exec("PRAGMA busy_timeout = 10000; BEGIN");
    return { raw, version: Number((raw.prepare("PRAGMA user_version").get() as Row)["user_version"]) };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** @throws StoreError where it cannot be told whether there is one */
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
  return `${size} ${mtimeMs} ${logSize(path)}`;
}

/** What SQLite says becomes a StoreError; what the caller throws goes through as it is. */
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

/** What the file system says, which is more than SQLite does. */
function fileSystemError(path: string): unknown {
  try {
    // To open a pipe would wait for who writes to it
    if (statSync(path).isFile()) closeSync(openSync(path, "r"));
    return undefined;
  } catch (error) {
    return error;
  }
}

const otherVersion = (path: string, version: number): StoreError =>
  version > MIGRATIONS.length
    ? newerError(path, version, MIGRATIONS.length)
    : new StoreError(
        "E_STORE",
        `${JSON.stringify(path)} was written by an earlier version of openhook-otel; the next drain brings it up to date: run ${suggest("drain")}`,
      );
