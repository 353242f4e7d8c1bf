import {
  type BackupRecord,
  dropBackup,
  type Holder,
  holdersOf,
  isSameHolder,
  originalOf,
  recordOf,
  saveBackup,
  sha256,
} from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { missingParent } from "#config/files.ts";
import type { EnablePlan } from "./enable-plan.ts";
import { emptied, type Scope, type SettingsFile, targetOf } from "./settings-edit.ts";
import { allOrNone, apply, type FileChange, restoreRecord, reversed, type Step } from "./settings-write.ts";

/**
 * Writes a plan's files in the order of the installer, all of them or none. The first time, each file is backed up.
 *
 * @throws FileError when a file changed since the plan was made, or cannot be written
 */
export async function writeEnable(plan: EnablePlan, scope: Scope, context: Context): Promise<void> {
  const steps = await Promise.all(plan.files.map((_, index) => stepOf(plan, index, scope, context)));
  await allOrNone(steps.filter((step) => step !== undefined));
}

// --- internal ---

/** Backup, record and edit of one file; `undefined` when there is nothing to do. */
async function stepOf(plan: EnablePlan, index: number, scope: Scope, context: Context): Promise<Step | undefined> {
  const { backupDir } = context.places;
  const file = plan.files[index];
  if (file === undefined) return undefined;
  const { path, bytes } = file;
  const after = plan.after[index]?.text;
  const without = plan.without[index]?.text;
  const record = await recordOf(backupDir, path);
  const isChanged = after !== file.text;
  const holder: Holder = {
    scope,
    ...(scope === "project" && { project: targetOf(context).project }),
    files: plan.files.map((file) => file.path),
    ...(await movedFolders(plan, context)),
  };
  const holders = record === undefined ? [] : holdersOf(record);
  const isKnown = holders.some((known) => isSameHolder(known, holder));
  // Already as planned, and either recorded or without any entry of ours
  if (!isChanged && (isKnown || without === file.text)) return undefined;

  const former = record === undefined ? undefined : await originalOf(backupDir, record);
  const madeDirectory = record?.madeDirectory ?? (await missingParent(path));
  const change: FileChange = {
    path,
    before: bytes,
    after: after === undefined ? undefined : Buffer.from(after),
    madeDirectory,
    modes: modesOf(scope, after),
  };
  const putRecordBack = (): Promise<void> => restoreRecord(backupDir, path, record, former);
  return {
    async run() {
      try {
        if (change.after === undefined) await dropBackup(backupDir, path);
        else {
          const next = {
            path,
            afterSha256: sha256(change.after),
            at: new Date(context.now()).toISOString(),
            agent: plan.agent.source,
            scope,
            holders: [...holders.filter((known) => !isSameHolder(known, holder)), holder],
            ...(madeDirectory === undefined ? {} : { madeDirectory }),
          };
          await saveBackup(backupDir, next, originalBytes(file, record, former, without));
        }
        if (isChanged) await apply(change);
      } catch (error) {
        await putRecordBack();
        throw error;
      }
    },
    async undo() {
      if (isChanged) await apply(reversed(change));
      await putRecordBack();
    },
  };
}

/** Where the agent's sessions are, if variables such as `CLAUDE_CONFIG_DIR` move them: a later import has no such variable. */
async function movedFolders(
  { agent }: EnablePlan,
  { places, env }: Context,
): Promise<Pick<Holder, "transcriptFolders">> {
  const reader = (await agent.transcript?.())?.default;
  if (reader === undefined) return {};
  const usual = reader.roots(places.home, {});
  const moved = reader.roots(places.home, env).filter((folder) => !usual.includes(folder));
  return moved.length === 0 ? {} : { transcriptFolders: moved };
}

/** Modes of new files: a user's are private, a project's shared, and scripts executable. */
function modesOf(scope: Scope, text: string | undefined): { readonly mode: number; readonly dirMode: number } {
  const isScript = text?.startsWith("#!") === true;
  return scope === "user"
    ? { mode: isScript ? 0o700 : 0o600, dirMode: 0o700 }
    : { mode: isScript ? 0o755 : 0o644, dirMode: 0o755 };
}

/**
 * The bytes that `disable` restores.
 *
 * While nothing else has changed the file: the bytes from before our first edit. Otherwise (an agent changes it when the
 * user answers "always allow") restoring them would undo that change, so: the current file without our entries.
 */
function originalBytes(
  file: SettingsFile,
  record: BackupRecord | undefined,
  former: Buffer | undefined,
  without: string | undefined,
): Uint8Array | undefined {
  const { bytes, text } = file;
  if (bytes === undefined || text === undefined) return undefined;
  if (record !== undefined && sha256(bytes) === record.afterSha256 && record.existed === (former !== undefined)) {
    return former;
  }
  if (without === text) return bytes;
  if (without !== undefined) return Buffer.from(without);
  const left = record?.existed === false ? undefined : emptied(file);
  return left === undefined ? undefined : Buffer.from(left);
}
