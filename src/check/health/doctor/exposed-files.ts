import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import { openFiles } from "#config/file-owner.ts";

/** Each with the mode that it should have. */
export type ExposedFiles = readonly { readonly path: string; readonly mode: number }[];

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
      const is = await stat(path).catch(() => undefined);
      if (is !== undefined && (is.mode & 0o077) !== 0) found.push({ path, mode });
    }
  }
  for (const path of await openFiles(places.stateDir)) {
    if (!found.some((one) => one.path === path)) found.push({ path, mode: 0o600 });
  }
  return found;
}
