import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { openFiles } from "#config/file-owner.ts";
import { StoreError } from "#store/database.ts";
import { checkIntegrity, lastActivityMs, type SourceActivity, sourceActivity } from "#store/health.ts";
import { readStore } from "#store/read-only.ts";
import type { Examined } from "./examined.ts";
import type { Facts } from "./shape.ts";

/** With what only `doctor` finds out. */
export interface Tried extends Examined {
  readonly exposed: ExposedFiles;
  readonly checked: CheckedStore;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
}

/** The store, checked by SQLite itself. */
interface CheckedStore {
  /** `undefined` if there is none, or it could not be read. */
  readonly integrity?: ReturnType<typeof checkIntegrity>;
  /** Why it could not be read. */
  readonly error?: StoreError;
  /** Of each agent that was seen. */
  readonly activity: ReadonlyMap<string, SourceActivity>;
  readonly newestMs?: number | undefined;
}

/** Has SQLite check the store, read-only. */
export async function checkStore({ agents, store: { path: storePath } }: Facts): Promise<CheckedStore> {
  const sizeBytes = await stat(storePath).then(
    ({ size }) => size,
    () => 0,
  );
  const activity = new Map<string, SourceActivity>();
  try {
    const checked = readStore(storePath, (db) => {
      for (const { source } of agents) {
        const seen = sourceActivity(db, source);
        if (seen !== undefined) activity.set(source, seen);
      }
      return { integrity: checkIntegrity(db, sizeBytes), newestMs: lastActivityMs(db) };
    });
    return { ...checked, activity };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { error, activity: new Map() };
  }
}

/** Each with the mode that it should have. */
type ExposedFiles = readonly { readonly path: string; readonly mode: number }[];

/** Paths of the state that others can read, or that are not ours. Empty on Windows, which has no such modes. */
export async function exposedFiles({ places, platform }: Pick<Context, "places" | "platform">): Promise<ExposedFiles> {
  if (platform === "win32") return [];
  const folders = [places.stateDir, places.inboxDir, places.claimedDir, places.quarantineDir, places.backupDir];
  const files = ["", "-wal", "-shm"].map((suffix) => `${places.storePath}${suffix}`);
  const found: { path: string; mode: number }[] = [];
  for (const [paths, mode] of [
    [folders, 0o700],
    [[...files, join(places.stateDir, "drain.log")], 0o600],
  ] as const) {
    for (const path of paths) {
      const file = await stat(path).catch(() => undefined);
      if (file !== undefined && (file.mode & 0o077) !== 0) found.push({ path, mode });
    }
  }
  for (const path of await openFiles(places.stateDir)) {
    if (!found.some((file) => file.path === path)) found.push({ path, mode: 0o600 });
  }
  return found;
}
