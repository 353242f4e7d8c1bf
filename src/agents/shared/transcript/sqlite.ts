import { lstatSync } from "node:fs";
import { pathToFileURL } from "node:url";
import Libsql from "libsql";
import { watched } from "#kit/foreign-databases.ts";
import { ExcessError } from "#kit/json-limits.ts";
import { checkedPath, RefusedError } from "#kit/open.ts";
import { replaced, type SafeSelect, safeSelect } from "#kit/texts-as-bytes.ts";

/** A value of a row as SQLite returns it. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

/** A snapshot of an agent's database: queries do not see later changes. */
export interface View {
  all(sql: string, ...values: readonly Value[]): readonly Row[];
  get(sql: string, ...values: readonly Value[]): Row | undefined;
}

interface OpenedDatabase extends View {
  close(): void;
}

export interface DatabaseQuery {
  readonly path: string;
  /** Folders that must contain it, after links are resolved. Absent: anywhere. */
  readonly roots?: readonly string[] | undefined;
  /** The tables that will be queried, in lower case. They must be plain tables without computed columns; triggers are not run by reading. */
  readonly tables: readonly string[];
}

/**
 * Opens a database for reading while its agent may be writing. The -wal beside it is read; nothing is created or changed except
 * the -shm that SQLite needs. Nothing in the file is trusted: no extension is loaded, no function of its schema runs, and views
 * are not queried.
 *
 * @throws RefusedError for anything but a regular file of this user in one of the folders, with plain tables; Error for a file that is no
 *         database, or is locked for 2 s. Queries throw an ExcessError if they take too long or return too much.
 */
export async function openDatabase({ path, roots, tables }: DatabaseQuery): Promise<OpenedDatabase> {
  const real = await checkedPath(path, roots);
  const before = lstatSync(real);
  // SQLite opens these files too, and would block on a FIFO
  for (const beside of ["-wal", "-shm", "-journal"]) {
    const found = lstatSync(`${real}${beside}`, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw notRegular(`${path}${beside}`);
  }
  const watch = await watched(path);
  // libsql ignores `readonly`, but not the mode in SQLite's URI
  let raw: Libsql.Database;
  try {
    raw = new Libsql(`${pathToFileURL(real).href}?mode=ro`, {});
  } catch (error) {
    watch?.close(error);
    throw error;
  }
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
    const columns = prepared("SELECT hidden FROM pragma_table_xinfo(?)");
    refuseForeign(path, prepared(schemaOf(tables)).all(), (table) => columns.all(table));
  } catch (error) {
    closeFully(raw);
    watch?.close(error);
    throw error;
  }
  const query = (sql: string): SafeStatement => {
    watch?.query();
    return prepared(sql);
  };
  return {
    all: (sql, ...values) => query(sql).all(...values),
    get: (sql, ...values) => query(sql).get(...values),
    close() {
      closeFully(raw);
      watch?.close();
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

/**
 * Limits a row's JSON to 32 MiB, of the 512 MiB that SQLite allows, and to as many values as are read in a moment. SQLite knows the length
 * without reading the row.
 */
export const isReadableJson = (column: string): string =>
  `CASE WHEN octet_length(${column}) <= ${MAX_JSON_BYTES} THEN ${hasFewValues(column)} AND json_valid(${column}) ELSE 0 END`;

/** The same for a list whose parts are rows of a query: SQLite takes quadratic time for long ones. */
export const isReadableList = (column: string): string =>
  `CASE WHEN ${isReadableJson(column)} THEN json_type(${column}) = 'array' AND json_array_length(${column}) <= ${MAX_PARTS} ELSE 0 END`;

/** The JSON text of a record whose kind is not one of these, unless it is too long to have only usage; else NULL. */
export const ifUnknown = (text: string, kind: string, known: readonly string[]): string =>
  `CASE WHEN ${kind} NOT IN (${known.map((one) => `'${one}'`).join(", ")}) AND octet_length(${text}) <= ${MAX_UNKNOWN_BYTES} THEN ${text} END`;

/** Why a row's JSON is not read. */
export const UNREADABLE_ROW = "it is larger than 32 MiB, has too many parts, or is no JSON";

// --- internal ---

const MAX_JSON_BYTES = 32 << 20;
const MAX_UNKNOWN_BYTES = 65_536;
/** Parts of a message: steps, calls and results of one answer. */
const MAX_PARTS = 10_000;
/** Commas of a JSON text, those in its texts included: more than in 30 MB of prose. */
const MAX_COMMAS = 500_000;
const hasFewValues = (column: string): string =>
  `(octet_length(${column}) < ${MAX_COMMAS} OR length(${column}) - length(replace(${column}, ',', '')) < ${MAX_COMMAS})`;

/** Limits of one query. The processor's time counts: a slow disk is no fault of the database. */
const MAX_QUERY_MS = 5_000;
const MAX_ROWS = 500_000;
const MAX_CHARACTERS = 64 << 20;

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
  return {
    all: (...values) => [...limited(statement, values, safe)],
    get(...values) {
      for (const row of limited(statement, values, safe)) return row;
      return undefined;
    },
  };
}

/** The rows of a query, within its limits. @throws ExcessError */
function* limited(statement: Libsql.Statement, values: readonly Value[], safe: SafeSelect | undefined): Generator<Row> {
  const before = process.cpuUsage();
  let [rows, characters] = [0, 0];
  for (const row of statement.iterate(...values) as IterableIterator<Record<string, Value>>) {
    safe?.row(row, replaced);
    rows++;
    for (const value of Object.values(row)) if (typeof value === "string") characters += value.length;
    if (rows > MAX_ROWS || characters > MAX_CHARACTERS) throw new ExcessError("a query of it has too many rows");
    if (rows % ROWS_PER_LOOK === 1 && spentMs(before) > MAX_QUERY_MS)
      throw new ExcessError("a query of it takes too long");
    yield row;
  }
}

const ROWS_PER_LOOK = 50;

function spentMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
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

/** All tables and views with the names that are queried. @param tables names from our code */
const schemaOf = (tables: readonly string[]): string =>
  `SELECT type, name, sql, rootpage FROM sqlite_master
    WHERE type IN ('table', 'view') AND lower(name) IN (${tables.map((table) => `'${table}'`).join(", ")})`;

/** A view, a virtual table or a computed column can make a query run forever. SQLite says what a column is: its text can hide it. */
function refuseForeign(path: string, schema: readonly Row[], columns: (table: string) => readonly Row[]): void {
  for (const { type, name, sql, rootpage } of schema) {
    // The library would abort the process because of such a column name
    if (`${name}${sql}`.includes("\ufffd")) {
      throw new RefusedError(`${JSON.stringify(path)} is not read: the names in it are no UTF-8, it may be damaged`);
    }
    // A virtual table has no page of its own
    const isPlain = type === "table" && rootpage !== 0;
    if (isPlain && columns(String(name)).every(({ hidden }) => hidden === 0)) continue;
    const what = isPlain ? "has a computed column" : type === "table" ? "is virtual" : "is a view";
    throw new RefusedError(
      `${JSON.stringify(path)} is not read: ${String(name)} in it ${what}, and is not a plain table`,
    );
  }
}

const notRegular = (path: string): RefusedError =>
  new RefusedError(`${JSON.stringify(path)} is not read: it is not a regular file, or was just replaced`);
