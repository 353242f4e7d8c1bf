import type { Database, Row, Value } from "./database.ts";

/**
 * Inserts rows in batches: a statement with ten rows takes as long as one with one row. Call it inside a transaction.
 *
 * @param into the statement up to and including `VALUES`
 * @param row the placeholders of one row, a `?` for each value; see `rowOf`
 * @param values of all rows, one row after the other
 * @param then the end of the statement
 */
export function insertRows(db: Database, into: string, row: string, values: readonly Value[], then = ""): void {
  const columns = row.split("?").length - 1;
  let at = 0;
  for (const rows of [ROWS_AT_ONCE, 1]) {
    const length = rows * columns;
    if (at + length > values.length) continue;
    const insert = db.prepare(`${into} ${Array.from({ length: rows }, () => row).join(", ")} ${then}`);
    for (; at + length <= values.length; at += length) insert.run(...values.slice(at, at + length));
  }
}

/**
 * Inserts one row, with the name of each value beside it.
 *
 * @param row by column; `undefined` is stored as null, `true` as 1
 * @param onConflict the end of the statement
 */
export function insertRow(
  db: Database,
  table: string,
  row: Readonly<Record<string, Value | boolean | undefined>>,
  onConflict: string,
): void {
  const columns = Object.keys(row);
  const values = Object.values(row).map((value) => (typeof value === "boolean" ? Number(value) : (value ?? null)));
  db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${rowOf(columns.length)} ${onConflict}`).run(
    ...values,
  );
}

/** Placeholders of one row, e.g. `(?, ?, ?)`. */
export const rowOf = (columns: number): string => `(${Array.from({ length: columns }, () => "?").join(", ")})`;

/** The first column of all rows of a query, as numbers; null is 0. */
export const numbers = (db: Pick<Database, "prepare">, sql: string, ...values: readonly Value[]): readonly number[] =>
  column(db, sql, values).map(Number);

/** The first column of all rows of a query, as texts. */
export const texts = (db: Pick<Database, "prepare">, sql: string, ...values: readonly Value[]): readonly string[] =>
  column(db, sql, values).map(String);

/** A column of a row as text; `undefined` for null. */
export const textIn = (row: Row, name: string): string | undefined =>
  typeof row[name] === "string" ? row[name] : undefined;

/** A column of a row as number; `undefined` for null. */
export const numberIn = (row: Row, name: string): number | undefined =>
  row[name] === null ? undefined : Number(row[name]);

/** An SQL expression for each value of a row. */
export type Columns<T extends readonly unknown[]> = { readonly [K in keyof T]: string };

/**
 * All rows of a query, read as one text: libsql takes longer to hand over one row than SQLite to find it.
 *
 * @param columns SQL expressions without fractions, because JSON of SQLite rounds them; for times see `timeUnits`
 * @param from what follows FROM
 * @returns an array of values per row, in no order
 */
export function jsonRows<T extends readonly (string | number | null)[]>(
  db: Database,
  columns: Columns<T>,
  from: string,
): readonly T[] {
  const row = db.prepare(`SELECT json_group_array(json_array(${columns.join(", ")})) AS found FROM ${from}`).get();
  return JSON.parse(String(row?.["found"])) as T[];
}

/** The SQL expression of a time for `jsonRows`. */
export const timeUnits = (column: string): string => `CAST(${column} * ${TIME_UNITS} AS INTEGER)`;

/** The time of such an expression's value, in milliseconds. */
export const fromTimeUnits = (units: number): number => units / TIME_UNITS;

// --- internal ---

const column = (db: Pick<Database, "prepare">, sql: string, values: readonly Value[]): readonly unknown[] =>
  db
    .prepare(sql)
    .all(...values)
    .map((row) => Object.values(row)[0]);

const ROWS_AT_ONCE = 24;

/** Units of a millisecond. A power of two: the product is exact, and an integer for every time since February 1970. */
const TIME_UNITS = 2 ** 21;
