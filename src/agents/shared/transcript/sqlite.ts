import { lstatSync } from "node:fs";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { replaced, safeSelect } from "../../../model/texts-as-bytes.ts";
import { checkedPath, RefusedError } from "./open.ts";

/** A value of a row as SQLite returns it. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** A snapshot of an agent's database: queries do not see later changes. */
export interface View {
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  get(sql: string, ...values: readonly Value[]): Row | undefined;
}

export interface OpenedDatabase extends View {
  close(): void;
}

export interface DatabaseQuery {
  readonly path: string;
  /** Folders that must contain it, after links are resolved. Absent: anywhere. */
  readonly roots?: readonly string[] | undefined;
  /** The tables that will be queried, in lower case. They must be plain tables, not views; triggers are not run by reading. */
  readonly tables: readonly string[];
}

/**
 * Opens a database for reading while its agent may be writing. The -wal beside it is read; nothing is created or changed except
 * the -shm that SQLite needs. Nothing in the file is trusted: no extension is loaded, no function of its schema runs, and views
 * are not queried.
 *
 * @throws RefusedError for anything but a regular file of this user in one of the folders; Error for a file that is no database,
 *         or is locked for 2 s
 */
export async function openDatabase({ path, roots, tables }: DatabaseQuery): Promise<OpenedDatabase> {
  const real = await checkedPath(path, roots);
  const before = lstatSync(real);
  // SQLite opens these files too, and would block on a FIFO
  for (const beside of ["-wal", "-shm", "-journal"]) {
    const found = lstatSync(`${real}${beside}`, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw notRegular(`${path}${beside}`);
  }
  // libsql ignores `readonly`, but not the mode in SQLite's URI
  const raw = new Libsql(`${pathToFileURL(real).href}?mode=ro`, {});
  const statements = new Map<string, SafeStatement>();
  const prepared = (sql: string): SafeStatement => {
    const statement = statements.get(sql) ?? prepareSafely(raw, sql);
    statements.set(sql, statement);
    return statement;
  };
  try {
    raw.exec(`PRAGMA busy_timeout = 2000; PRAGMA trusted_schema = OFF; PRAGMA query_only = ON; PRAGMA cell_size_check = ON;
      PRAGMA mmap_size = 0; PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; BEGIN`);
    const after = lstatSync(real);
    if (after.ino !== before.ino || after.dev !== before.dev) throw notRegular(path);
    refuseForeign(path, prepared(schemaOf(tables)).all());
  } catch (error) {
    closeFully(raw);
    throw error;
  }
  return {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    close() {
      closeFully(raw);
      // libsql keeps the files open until the statements are garbage collected
      statements.clear();
    },
  };
}

/** Opens a database, queries it and closes it. */
export async function queryDatabase<T>(query: DatabaseQuery, select: (db: View) => T): Promise<T> {
  const db = await openDatabase(query);
  try {
    return select(db);
  } finally {
    db.close();
  }
}

/** The columns of a table, which differ between versions of an agent; empty if there is no such table. */
export const columnsOf = (db: View, table: string): ReadonlySet<string> =>
  new Set(db.all("SELECT name FROM pragma_table_info(?)", table).map(({ name }) => String(name)));

/** Limits rows to 32 MiB, of the 512 MiB that SQLite allows. SQLite knows the length without reading the row. */
export const isReadableJson = (column: string): string =>
  `octet_length(${column}) <= 33554432 AND json_valid(${column})`;

// --- internal ---

interface SafeStatement {
  all(...values: readonly Value[]): readonly Row[];
  get(...values: readonly Value[]): Row | undefined;
}

/** Statements that accept texts with invalid UTF-8, which agents write when they cut a surrogate pair in half. */
function prepareSafely(raw: Libsql.Database, sql: string): SafeStatement {
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

/**
 * Ends the transaction first: otherwise the snapshot stays open until garbage collection, and the agent cannot shorten
 * its -wal.
 */
function closeFully(raw: Libsql.Database): void {
  try {
    if (raw.inTransaction) raw.exec("ROLLBACK");
  } finally {
    raw.close();
  }
}

/** All objects with the names that are queried. @param tables names from our code */
function schemaOf(tables: readonly string[]): string {
  const names = tables.map((table) => `'${table}'`).join(", ");
  return `SELECT type, name, sql FROM sqlite_master
    WHERE lower(name) IN (${names}) OR type IN ('view', 'trigger') AND lower(tbl_name) IN (${names})`;
}

/** A view, a virtual table or a generated column can make a query run forever. */
function refuseForeign(path: string, schema: readonly Row[]): void {
  for (const { type, name, sql } of schema) {
    // The library would abort the process because of such a column name
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
