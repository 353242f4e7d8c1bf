// Loaded for a store that is new or older than this program; all others never need the schema

import type Libsql from "libsql";
import { INITIAL_VERSION, MIGRATIONS } from "./migrations.ts";
import { INITIAL_SCHEMA } from "./schema.ts";

/**
 * Brings the schema up to date. The caller has opened a transaction.
 *
 * @param from the version that it has: 0 for an empty store, otherwise at least `INITIAL_VERSION`
 */
export function runMigrations(raw: Libsql.Database, from: number): void {
  if (from === 0) raw.exec(INITIAL_SCHEMA);
  for (const sql of MIGRATIONS.slice(Math.max(0, from - INITIAL_VERSION))) raw.exec(sql);
  raw.exec(`PRAGMA user_version = ${INITIAL_VERSION + MIGRATIONS.length}`);
}
