import { INITIAL_VERSION, MIGRATIONS } from "./migrations.ts";

/** The schema that this program reads and writes: `user_version` of a store. */
export const SCHEMA_VERSION = INITIAL_VERSION + MIGRATIONS.length;

/** The oldest schema that can be brought up to date. */
export const OLDEST_VERSION = INITIAL_VERSION;
