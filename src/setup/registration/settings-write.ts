import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type BackupRecord, dropBackup, saveBackup } from "#config/backup.ts";
import { removeFile, type WriteOptions, writeFileAtomic } from "#config/files.ts";
import { messageOf, UserError } from "#kit/errors.ts";

/** One file's part of an edit and its reversal. Each happens completely, or throws and changes nothing. */
export interface Step {
  run(): Promise<void>;
  undo(): Promise<void>;
}

/**
 * Runs steps in order. If one fails, the earlier ones are reversed, last first.
 *
 * @throws the step's error; UserError with both reasons if the reversal failed too
 */
export async function allOrNone(steps: readonly Step[]): Promise<void> {
  const done: Step[] = [];
  try {
    for (const step of steps) {
      await step.run();
      done.unshift(step);
    }
  } catch (error) {
    const failures: string[] = [];
    for (const step of done) await step.undo().catch((reason: unknown) => failures.push(messageOf(reason)));
    if (failures.length === 0) throw error;
    const message = `${messageOf(error)}; earlier changes could not be undone: ${failures.join("; ")}`;
    throw new UserError("E_HALF_DONE", message, 1, { cause: error });
  }
}

/** What a file must contain and what it contained; `undefined`: no file. */
export interface FileChange {
  readonly path: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
  /** The topmost directory created for the file: removed with it if it is empty. */
  readonly madeDirectory?: string | undefined;
  /** For files and folders that have to be created. */
  readonly modes?: Pick<WriteOptions, "mode" | "dirMode">;
}

/** Makes a change if the file still has its old content. */
export async function apply({ path, before, after, madeDirectory, modes }: FileChange): Promise<void> {
  if (after !== undefined) return writeFileAtomic(path, after, { ...modes, expect: before ?? null });
  await removeFile(path);
  await removeMadeDirectories(path, madeDirectory);
}

/** The reverse of a change. */
export const reversed = (change: FileChange): FileChange => ({
  ...change,
  before: change.after,
  after: change.before,
});

/** Restores a record; `original`: its backup's bytes. */
export async function restoreRecord(
  backupDir: string,
  path: string,
  record: BackupRecord | undefined,
  original: Uint8Array | undefined,
): Promise<void> {
  // Do not restore a record without its backup as "there was no file": `disable` would delete the user's file
  if (record === undefined || record.existed !== (original !== undefined)) await dropBackup(backupDir, path);
  else await saveBackup(backupDir, record, original);
}

// --- internal ---

/** Removes empty directories that were created for the file, up to the topmost. */
async function removeMadeDirectories(path: string, top: string | undefined): Promise<void> {
  if (top === undefined) return;
  for (let at = dirname(path); at.startsWith(top); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}
