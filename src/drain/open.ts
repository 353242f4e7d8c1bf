import { type Database, openDatabase, StoreError, setAside } from "../store/database.ts";
import type { DrainDeps } from "./deps.ts";

/**
 * Opens the store. One that is damaged is set aside, never emptied: a new one begins, and the transcripts and the inbox
 * fill it again.
 *
 * @throws StoreError when it cannot be opened for another reason
 */
export function openStore(deps: Pick<DrainDeps, "places" | "now" | "log">): Database {
  const { storePath } = deps.places;
  try {
    return openDatabase(storePath);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "E_STORE_DAMAGED") throw error;
    const aside = setAside(storePath, deps.now());
    deps.log(`${error.message}; it was set aside as ${JSON.stringify(aside)} and a new store was begun`);
    return openDatabase(storePath);
  }
}
