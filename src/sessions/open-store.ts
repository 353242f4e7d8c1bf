import { type Context, UserError } from "../context.ts";
import { counts } from "../intake/inbox.ts";
import { type Database, StoreError } from "../store/database.ts";
import { readStore } from "../store/read-only.ts";
import { plural } from "../text/figures.ts";

/**
 * Looks at the store for a command that shows something. Never makes it; a drain may be at work meanwhile.
 *
 * @returns what `look` returns; `undefined` when there is no store yet
 * @throws UserError with what the user can do, when there is one and it cannot be read
 */
export function withOpenStore<T>({ places }: Pick<Context, "places">, look: (db: Database) => T): T | undefined {
  try {
    return readStore(places.storePath, look);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new UserError(error.code, adviceOn(error), 1, { cause: error });
  }
}

/** What is wrong with the store and what to do about it, in one line. */
export const adviceOn = (error: StoreError): string =>
  error.code === "E_STORE_DAMAGED" ? `${error.message}; ${REPAIR}` : error.message;

/** What to do about a damaged store. A drain reads no transcript of which nobody tells it any more. */
export const REPAIR =
  "openhook-otel drain sets it aside and begins a new one with what can be read of it; openhook-otel import after it reads " +
  "the sessions again that it has lost";

/** One line for a user who has collected nothing yet. */
export async function noStoreMessage({ places }: Pick<Context, "places">): Promise<string> {
  const { inbox, claimed } = await counts(places).catch(() => ({ inbox: 0, claimed: 0 }));
  const waiting = inbox + claimed;
  return waiting > 0
    ? `nothing was converted yet and ${plural(waiting, "event")} ${waiting === 1 ? "waits" : "wait"}: openhook-otel drain`
    : "no session was collected yet: openhook-otel import for past ones, enable for those to come, or demo to see one";
}
