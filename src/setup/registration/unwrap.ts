import { readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { allRecords, type BackupRecord, dropBackup } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { removeFile } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";
import { removeHookProgram } from "./hook-program.ts";
import { isWrapper, ownBinOf, pathOf, wrapperPathOf } from "./wrappers.ts";

/** Paths at which a program of that name is wrapped, or was by our records. */
export async function wrapperPathsOf(
  name: string,
  recorded: readonly string[],
  context: Context,
): Promise<readonly string[]> {
  const known = recorded.filter((path) => basename(path) === name);
  const possible = [...pathOf(context), ownBinOf(context.places)].map((directory) => join(directory, name));
  const found: string[] = [];
  for (const path of possible) if (await isWrapper(path, context.places)) found.push(path);
  return [...new Set([...known, ...found])];
}

/**
 * Removes a wrapper and its record, and the directories that were made for it.
 *
 * @param isOurs false: something else is at that path now, which stays
 * @throws UserError when it cannot be removed
 */
export async function removeWrapper(
  path: string,
  isOurs: boolean,
  record: BackupRecord | undefined,
  { places }: Context,
): Promise<void> {
  if (isOurs) {
    // The link, never its target
    await unlink(path).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError("E_FILE", `cannot remove ${path}: ${reason}`, 1, { cause: error });
    });
    await removeMade(dirname(path), record?.madeDirectory ?? (dirname(path) === ownBinOf(places) ? dirname(path) : ""));
  }
  await dropBackup(places.backupDir, path);
}

/** Removes the wrapper program, and the hook program where no agent is enabled. */
export async function removeWrapperProgram(context: Context): Promise<void> {
  const { places } = context;
  const path = wrapperPathOf(places);
  if (await isWrapper(path, places)) await removeFile(path);
  const left = await readdir(ownBinOf(places)).catch(() => ["?"]);
  if (left.length === 0) await rmdir(ownBinOf(places)).catch(() => {});
  if ((await allRecords(places.backupDir)).length === 0) await removeHookProgram(context);
}

// --- internal ---

/** Directories that were made for it, from the lowest up to `top`, as long as they are empty. */
async function removeMade(from: string, top: string): Promise<void> {
  for (let at = from; top !== "" && at.startsWith(top); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
