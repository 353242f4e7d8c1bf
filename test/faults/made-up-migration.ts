import { INITIAL_VERSION } from "#store/migrations.ts";

// Replaces `migrations.ts` and `schema-version.const.ts` of the store in a build, see build.mjs

export { INITIAL_VERSION };
export const MIGRATIONS: readonly string[] = [
  `ALTER TABLE sessions ADD COLUMN season TEXT;
   UPDATE sessions SET season = 'autumn';
   CREATE TABLE fruits (name TEXT PRIMARY KEY);
   INSERT INTO fruits SELECT key FROM spans`,
];
export const SCHEMA_VERSION = INITIAL_VERSION + MIGRATIONS.length;
export const OLDEST_VERSION = INITIAL_VERSION;
