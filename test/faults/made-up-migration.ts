import { INITIAL_VERSION, MIGRATIONS as REAL } from "#store/migrations.ts";

// Replaces `migrations.ts` and `schema-version.const.ts` of the store in a build, see build.mjs

export { INITIAL_VERSION };
/** The version before the update. */
export const VERSION_BEFORE = INITIAL_VERSION + REAL.length;
export const MIGRATIONS: readonly string[] = [
  ...REAL,
  `ALTER TABLE sessions ADD COLUMN season TEXT;
   UPDATE sessions SET season = 'autumn';
   CREATE TABLE fruits (name TEXT PRIMARY KEY);
   INSERT INTO fruits SELECT key FROM spans`,
];
export const SCHEMA_VERSION = INITIAL_VERSION + MIGRATIONS.length;
export const OLDEST_VERSION = INITIAL_VERSION;
