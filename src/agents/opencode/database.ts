import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";

/** A value of a row as SQLite gives it. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** OpenCode's database, one moment of it: what is asked for does not change while it is looked at. */
export interface View {
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  get(sql: string, ...values: readonly Value[]): Row | undefined;
}

export interface Opened extends View {
  close(): void;
}

/**
 * Opens a database for reading while OpenCode may be writing. What stands in the -wal beside it is seen; nothing is made or
 * changed but the -shm that SQLite itself needs for that.
 *
 * @throws Error when it is no database, or stays locked for 2 s
 */
export function openDatabase(path: string): Opened {
  // libsql passes over `readonly`; SQLite's own address does it
  const raw = new Libsql(`${pathToFileURL(path).href}?mode=ro`, {});
  const statements = new Map<string, Libsql.Statement<unknown[]>>();
  const prepared = (sql: string): Libsql.Statement<unknown[]> => {
    const statement = statements.get(sql) ?? raw.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  try {
    raw.exec("PRAGMA busy_timeout = 2000; BEGIN");
  } catch (error) {
    raw.close();
    throw error;
  }
  return {
    all: (sql, ...values) => prepared(sql).all(...values) as Row[],
    get: (sql, ...values) => prepared(sql).get(...values) as Row | undefined,
    close: () => raw.close(),
  };
}

/**
 * Databases that can hold a session: the one that was told, those beside it, and those at the usual place. A build of another
 * channel than the stable one has a name of its own.
 *
 * @returns paths that exist, the likeliest first
 */
export function databasesFor(home: string, told?: string): readonly string[] {
  const usual = join(home, ".local", "share", "opencode");
  const folders = told === undefined ? [usual] : [dirname(told), usual];
  const found = folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
  const all = told !== undefined && existsSync(told) ? [told, ...found] : found;
  return [...new Set(all)];
}

// --- internal ---

const STABLE = "opencode.db";

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^opencode(?:-[\w.-]+)?\.db$/.test(basename(name)))
      .sort((a, b) => Number(b === STABLE) - Number(a === STABLE) || (a < b ? -1 : 1));
  } catch {
    return [];
  }
}
