import type { Database, Value } from "./database.ts";

/**
 * Writes rows some at a time: a statement takes as long for one as for ten. Call it inside a transaction.
 *
 * @param into what stands before the rows, up to `VALUES`
 * @param row one of them, with a `?` for each value
 * @param values of all rows, one row after the other
 * @param then what stands behind them
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

/** `(?, ?, ?)` */
export const rowOf = (columns: number): string => `(${Array.from({ length: columns }, () => "?").join(", ")})`;

// --- internal ---

const ROWS_AT_ONCE = 24;
