import { MIGRATIONS } from "./migrations.ts";

/** The schema that this program reads and writes: `user_version` of a store. */
export const SCHEMA_VERSION = MIGRATIONS.length;
