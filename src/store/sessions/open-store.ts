import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { type Database, StoreError } from "../database.ts";
import { readStore } from "../read-only.ts";

/**
 * Opens the store read-only for a command. Never creates it; a drain may be running.
 *
 * @returns what `query` returns; `undefined` if there is no store yet
 * @throws UserError with a remedy if there is a store that cannot be read
 */
export function withOpenStore<T>({ places }: Pick<Context, "places">, query: (db: Database) => T): T | undefined {
  try {
    return readStore(places.storePath, query);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new UserError(error.code, describeStoreError(error), 1, { cause: error });
  }
}

/** The store's problem, with the remedy if there is one, in one line. */
export const describeStoreError = (error: StoreError): string =>
  error.code === "E_STORE_DAMAGED" ? `${error.message}; ${repairHint()}` : error.message;

/** The remedy for a damaged store. A drain does not read old transcripts again; an import does. */
export const repairHint = (): string =>
  `${suggest("drain")} moves it aside and starts a new one with everything that can still be read; then ${suggest("import")} reads ` +
  "lost sessions again from their transcripts";
