/** `user_version` of a store with `INITIAL_SCHEMA` and no migration. A store with a lower one cannot be brought up to date. */
export const INITIAL_VERSION = 24;

/**
 * What brings a store up to date, one migration per version: `user_version` `INITIAL_VERSION + n` means that the first n were run. A
 * new store gets all of them. Never change a released migration; add another one.
 */
export const MIGRATIONS: readonly string[] = [];
