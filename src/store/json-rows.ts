import type { Database } from "./database.ts";

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

/** Units of a millisecond. A power of two: the product is exact, and an integer for every time since February 1970. */
const TIME_UNITS = 2 ** 21;
