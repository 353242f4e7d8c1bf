import { readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { allRecords, type BackupRecord, dropBackup } from "../config/backup.ts";
import { removeFile } from "../config/files.ts";
import { type Context, UserError } from "../context.ts";
import { removeHookProgram } from "../registration/hook-program.ts";
import { withUserErrors } from "../registration/settings-edit.ts";
import { isWrapper, ownBinOf, pathOf, RECORDED_AS, wrapperPathOf, wrappersHere } from "../registration/wrappers.ts";

export interface UnwrapOptions {
  /** Say what would be done, do nothing. */
  readonly dryRun: boolean;
}

/**
 * `openhook-otel unwrap gh`: takes wrappers away, and the directories that were made for them. What the user has put in a
 * wrapper's place stays. With the last one the wrapper program goes, and the hook program where no agent is enabled.
 *
 * @param names none: all
 * @returns the exit code: 0, also where nothing was wrapped
 * @throws UserError for anything the user can mend
 */
export async function unwrap(names: readonly string[], { dryRun }: UnwrapOptions, context: Context): Promise<number> {
  return withUserErrors(async () => {
    const { places, stdout } = context;
    const records = (await allRecords(places.backupDir)).filter(({ agent }) => agent === RECORDED_AS);
    const recorded = new Map(records.map((record) => [record.path, record]));
    const chosen = names.length > 0 ? names : [...new Set(records.map(({ path }) => basename(path)))].sort();
    if (chosen.length === 0) stdout.write("No program is wrapped.\n");
    for (const name of new Set(chosen)) {
      const paths = await placesOf(name, [...recorded.keys()], context);
      if (paths.length === 0) stdout.write(`${name}: not wrapped\n`);
      for (const path of paths) {
        const isOurs = await isWrapper(path, places);
        if (!dryRun) await takeAway(path, isOurs, recorded.get(path), context);
        const did = isOurs ? `${dryRun ? "would be " : ""}unwrapped, ${path} removed` : `nothing of ours is at ${path}`;
        stdout.write(`${name}: ${did}\n`);
      }
    }
    if (dryRun) stdout.write("Dry run: nothing was removed.\n");
    else if ((await wrappersHere(context)).length === 0) await removePrograms(context);
    return 0;
  });
}

// --- internal ---

/** Where a wrapper of that name is, or was put by us. */
async function placesOf(name: string, recorded: readonly string[], context: Context): Promise<readonly string[]> {
  const known = recorded.filter((path) => basename(path) === name);
  const possible = [...pathOf(context), ownBinOf(context.places)].map((directory) => join(directory, name));
  const found: string[] = [];
  for (const path of possible) if (await isWrapper(path, context.places)) found.push(path);
  return [...new Set([...known, ...found])];
}

async function takeAway(
  path: string,
  isOurs: boolean,
  record: BackupRecord | undefined,
  { places }: Context,
): Promise<void> {
  if (isOurs) {
    // the link, never what it leads to
    await unlink(path).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError("E_FILE", `cannot remove ${path}: ${reason}`, 1, { cause: error });
    });
    await removeMade(dirname(path), record?.madeDirectory ?? (dirname(path) === ownBinOf(places) ? dirname(path) : ""));
  }
  await dropBackup(places.backupDir, path);
}

/** Directories that were made for it, from the lowest to the topmost, as long as they are empty. */
async function removeMade(from: string, top: string): Promise<void> {
  for (let at = from; top !== "" && at.startsWith(top); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

async function removePrograms(context: Context): Promise<void> {
  const { places } = context;
  const path = wrapperPathOf(places);
  if (await isWrapper(path, places)) await removeFile(path);
  const left = await readdir(ownBinOf(places)).catch(() => ["?"]);
  if (left.length === 0) await rmdir(ownBinOf(places)).catch(() => {});
  if ((await allRecords(places.backupDir)).length === 0) await removeHookProgram(context);
}
