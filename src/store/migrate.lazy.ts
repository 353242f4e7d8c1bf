// Loaded for a store that is new or older than this program; all others never need the migrations

import type Libsql from "libsql";
import { MIGRATIONS } from "./migrations.ts";

/** Brings the schema up to date, from the version that it has. The caller has opened a transaction. */
export function runMigrations(raw: Libsql.Database, from: number): void {
  for (const sql of MIGRATIONS.slice(from)) raw.exec(sql);
  raw.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
}
