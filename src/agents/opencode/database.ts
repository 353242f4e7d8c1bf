import { existsSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { replaced, safeSelect } from "../../model/texts-as-bytes.ts";
import { checkedPath, RefusedError } from "../shared/transcript/open.ts";

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
 * changed but the -shm that SQLite itself needs for that. What the file itself wants to be done is not done: no extension
 * is loaded, no function of its schema trusted, and a table that is none is not asked.
 *
 * @param roots folders it must really lie in
 * @throws RefusedError for what is no regular file of this user in one of them; Error when it is no database, or stays
 *         locked for 2 s
 */
export async function openDatabase(path: string, roots?: readonly string[]): Promise<Opened> {
  const real = await checkedPath(path, roots);
  const before = lstatSync(real);
  // SQLite opens these by itself, and would wait for a FIFO
  for (const beside of ["-wal", "-shm", "-journal"]) {
    const found = lstatSync(`${real}${beside}`, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw notRegular(`${path}${beside}`);
  }
  // libsql passes over `readonly`; SQLite's own address does it
  const raw = new Libsql(`${pathToFileURL(real).href}?mode=ro`, {});
  const statements = new Map<string, Asked>();
  const prepared = (sql: string): Asked => {
    const statement = statements.get(sql) ?? askSafely(raw, sql);
    statements.set(sql, statement);
    return statement;
  };
  try {
    raw.exec(`PRAGMA busy_timeout = 2000; PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON;
      PRAGMA mmap_size = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; BEGIN`);
    const after = lstatSync(real);
    if (after.ino !== before.ino || after.dev !== before.dev) throw notRegular(path);
    refuseForeign(path, prepared(SCHEMA).all());
  } catch (error) {
    letGo(raw);
    throw error;
  }
  return {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    close: () => letGo(raw),
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

/** The names of databases, that of the stable build first. */
export const databasesAmong = (names: readonly string[]): readonly string[] =>
  names
    .filter((name) => /^opencode(?:-[\w.-]+)?\.db$/.test(name))
    .sort((a, b) => Number(b === STABLE) - Number(a === STABLE) || (a < b ? -1 : 1));

// --- internal ---

interface Asked {
  all(...values: readonly Value[]): readonly Row[];
  get(...values: readonly Value[]): Row | undefined;
}

/** Texts that are no UTF-8 are OpenCode's own: what was cut between the halves of a pair of surrogates. */
function askSafely(raw: Libsql.Database, sql: string): Asked {
  const names = raw
    .prepare(sql)
    .columns()
    .map(({ name }) => name);
  const safe = safeSelect(sql, names);
  const statement = raw.prepare(safe?.sql ?? sql);
  const read = (row: Record<string, Value>): Row => {
    safe?.row(row, replaced);
    return row;
  };
  return {
    all: (...values) => (statement.all(...values) as Record<string, Value>[]).map(read),
    get: (...values) => {
      const row = statement.get(...values) as Record<string, Value> | undefined;
      return row === undefined ? undefined : read(row);
    },
  };
}

/** Closing alone leaves the moment that is looked at open until memory is cleared up; OpenCode could not shorten its -wal. */
function letGo(raw: Libsql.Database): void {
  try {
    if (raw.inTransaction) raw.exec("ROLLBACK");
  } finally {
    raw.close();
  }
}

const STABLE = "opencode.db";

/** Whatever answers to the names we ask for. */
const SCHEMA = `SELECT type, name, sql FROM sqlite_master
  WHERE lower(name) IN ('session', 'session_v2', 'message', 'part') OR type IN ('view', 'trigger') AND lower(tbl_name) IN ('session', 'session_v2', 'message', 'part')`;

/** A view, a virtual table or a column that is computed can make one question run for ever. */
function refuseForeign(path: string, schema: readonly Row[]): void {
  for (const { type, name, sql } of schema) {
    // The library would end the process over the name of such a column
    if (`${name}${sql}`.includes("\ufffd")) {
      throw new RefusedError(`${JSON.stringify(path)} is not read: the names in it are no UTF-8, it may be damaged`);
    }
    const isComputed = /\bgenerated\s+always\b|\bas\s*\(|^\s*create\s+virtual\b/i.test(String(sql));
    if (type === "trigger" || (type === "table" && !isComputed)) continue;
    const what = type === "table" ? "is computed or virtual" : `is a ${String(type)}`;
    throw new RefusedError(`${JSON.stringify(path)} is not read: ${String(name)} in it ${what}, and not a plain table`);
  }
}

const notRegular = (path: string): RefusedError =>
  new RefusedError(`${JSON.stringify(path)} is not read: it is not a regular file, or was just replaced`);

function namesIn(folder: string): readonly string[] {
  try {
    return databasesAmong(readdirSync(folder));
  } catch {
    return [];
  }
}
