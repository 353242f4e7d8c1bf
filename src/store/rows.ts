import type { Database, Value } from "./database.ts";

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

// --- internal ---

const ROWS_AT_ONCE = 24;
