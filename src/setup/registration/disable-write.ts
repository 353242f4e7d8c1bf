import { stat } from "node:fs/promises";
import { dropBackup, saveBackup, sha256 } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { type DisablePlan, type FilePlan, isChanged } from "./disable-plan.ts";
import { allOrNone, apply, type FileChange, restoreRecord, reversed, type Step } from "./settings-write.ts";

/** Writes a plan's files, all of them or none; last file first, because later files refer to earlier ones. */
export async function writeDisable({ files, enabled }: DisablePlan, { places }: Context): Promise<void> {
  if (enabled) await allOrNone(files.map((file) => stepOf(file, places.backupDir)).reverse());
}

// --- internal ---

function stepOf(plan: FilePlan, backupDir: string): Step {
  const { file, record, original, after } = plan;
  const { path, bytes } = file;
  let change: FileChange = { path, before: bytes, after, madeDirectory: record?.madeDirectory };
  return {
    async run() {
      if (bytes !== undefined) change = { ...change, modes: { mode: (await stat(path)).mode & 0o7777 } };
      if (isChanged(plan)) await apply(change);
      await removeRecord(plan, backupDir);
    },
    async undo() {
      if (isChanged(plan)) await apply(reversed(change));
      await restoreRecord(backupDir, path, record, original);
    },
  };
}

/** Removes the record with the last registration of the file; until then it describes the file after our last edit. */
async function removeRecord(
  { file, record, original, others, isOurs, after }: FilePlan,
  backupDir: string,
): Promise<void> {
  if (record === undefined) return;
  if (others.length === 0) return dropBackup(backupDir, file.path);
  if (!isOurs) return;
  const wasAsLeft = file.bytes !== undefined && sha256(file.bytes) === record.afterSha256;
  const afterSha256 = wasAsLeft && after !== undefined ? sha256(after) : record.afterSha256;
  await saveBackup(backupDir, { ...record, holders: [...others], afterSha256 }, original);
}
