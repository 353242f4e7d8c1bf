import { allRecords, dropBackup, originalOf, recordOf, saveBackup, sha256 } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { missingParent } from "#config/files.ts";
import type { Agent } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import { apply, edited, emptied, readSettingsFiles, type SettingsFile, targetOf } from "./settings.ts";

// Entries of ours in agents' settings files beside the hooks. Each kind of them has its own backups, because several can change the same file

/** One kind of entries of an agent. */
export interface OwnEntries {
  readonly agent: Agent;
  /** Where its backups are. */
  readonly backups: string;
  path(target: InstallTarget): Promise<string>;
  remove(text: string, original: string | undefined): string | undefined;
  /** In texts with such entries. Settings without it need not be readable. */
  readonly mark: RegExp;
}

/** What removing them changes: each file that has some, and what is left of it; `undefined`: it is removed. */
export interface EntriesOff {
  readonly file: SettingsFile;
  readonly after: Uint8Array | undefined;
  readonly madeDirectory: string | undefined;
  /** Nobody has changed the file since. */
  readonly isUntouched: boolean;
}

/** Writes a settings file with our entries. It is backed up before the first change. @throws FileError if it changed since; nothing is changed */
export async function writeEntries(
  { agent, backups, remove }: OwnEntries,
  { path, bytes, text }: SettingsFile,
  after: string,
  context: Context,
): Promise<void> {
  const record = await recordOf(backups, path);
  const former = record === undefined ? undefined : await originalOf(backups, record);
  const isUntouched = record !== undefined && bytes !== undefined && sha256(bytes) === record.afterSha256;
  const without = text === undefined ? undefined : remove(text, former?.toString("utf8"));
  const original = isUntouched ? former : record === undefined ? bytes : without && Buffer.from(without);
  const madeDirectory = record?.madeDirectory ?? (await missingParent(path));
  const made = madeDirectory === undefined ? {} : { madeDirectory };
  const next = { path, afterSha256: sha256(after), at: new Date(context.now()).toISOString(), agent: agent.source };
  await saveBackup(backups, { ...next, scope: "user", ...made }, original || undefined);
  try {
    await apply({
      path,
      before: bytes,
      after: Buffer.from(after),
      madeDirectory,
      modes: { mode: 0o600, dirMode: 0o700 },
    });
  } catch (error) {
    if (record === undefined) await dropBackup(backups, path);
    else await saveBackup(backups, record, former);
    throw error;
  }
}

/** @throws UserError if a file cannot be edited; FileError if one cannot be read */
export async function planEntriesOff(
  { agent, backups, path: pathOf, remove, mark }: OwnEntries,
  context: Context,
): Promise<readonly EntriesOff[]> {
  const records = (await allRecords(backups)).filter((record) => record.agent === agent.source);
  const paths = new Set([...records.map(({ path }) => path), await pathOf(targetOf(context))]);
  const files = await readSettingsFiles([...paths]);
  const changes = await Promise.all(
    files.map(async (file): Promise<readonly EntriesOff[]> => {
      const { path, bytes, text } = file;
      if (bytes === undefined || text === undefined) return [];
      const record = await recordOf(backups, path);
      const original = record === undefined ? undefined : await originalOf(backups, record);
      const madeDirectory = record?.madeDirectory;
      if (record !== undefined && sha256(bytes) === record.afterSha256 && record.existed === (original !== undefined)) {
        return [{ file, after: original, madeDirectory, isUntouched: true }];
      }
      if (record === undefined && !mark.test(text)) return [];
      const left = edited([file], () => remove(text, original?.toString("utf8")));
      const kept = left === undefined && record?.existed !== false ? emptied(file) : left;
      const after = kept === undefined ? undefined : Buffer.from(kept);
      return after?.equals(bytes) ? [] : [{ file, after, madeDirectory, isUntouched: false }];
    }),
  );
  return changes.flat();
}

/** Restores the files, and forgets their backups. @returns the changed files */
export async function writeEntriesOff(
  { agent, backups }: Pick<OwnEntries, "agent" | "backups">,
  changes: readonly EntriesOff[],
): Promise<readonly string[]> {
  for (const { file, after, madeDirectory } of changes) {
    await apply({ path: file.path, before: file.bytes, after, madeDirectory });
  }
  for (const record of await allRecords(backups))
    if (record.agent === agent.source) await dropBackup(backups, record.path);
  return changes.map(({ file }) => file.path);
}
