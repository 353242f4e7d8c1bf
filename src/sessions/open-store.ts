import { type Context, UserError } from "../context.ts";
import { counts } from "../intake/inbox-dirs.ts";
import type { Behind } from "../model/behind.ts";
import { suggest } from "../model/suggest.ts";
import { type Database, StoreError } from "../store/database.ts";
import { readStore } from "../store/read-only.ts";
import { plural } from "../text/figures.ts";

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

/**
 * One line for an empty or missing store.
 *
 * @param behind what is being imported in the background
 */
export async function noStoreMessage({ places }: Pick<Context, "places">, behind?: Behind): Promise<string> {
  if (behind !== undefined) {
    const { sessions } = behind;
    const what = sessions === undefined ? "looking for past sessions" : `importing ${plural(sessions, "session")}`;
    return `${what}; run it again in a moment`;
  }
  const { inbox, claimed } = await counts(places).catch(() => ({ inbox: 0, claimed: 0 }));
  const waiting = inbox + claimed;
  return waiting > 0
    ? `no sessions yet, but ${plural(waiting, "queued event")}: run ${suggest("drain")}`
    : `no sessions yet: run ${suggest("start")} to enable your agents and import past sessions, or ${suggest("demo")} for an example`;
}
