import { stat } from "node:fs/promises";
import {
  allRecords,
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
import { suggest } from "#kit/suggest.ts";
import { installerHere } from "./other-places.ts";
import {
  allOrNone,
  apply,
  edited,
  emptied,
  type FileChange,
  type InstallableAgent,
  listed,
  readSettingsFiles,
  restoreRecord,
  reversed,
  type Scope,
  type SettingsFile,
  type Step,
  targetOf,
} from "./settings.ts";
import { RECORDED_AS } from "./wrappers.ts";

/** What disabling one agent changes in its settings files. */
export interface DisablePlan extends InstallableAgent {
  readonly files: readonly FilePlan[];
  /** False when neither the files nor our records have a registration. */
  readonly enabled: boolean;
}

interface FilePlan {
  readonly file: SettingsFile;
  readonly record: BackupRecord | undefined;
  /** The bytes of the backup, if there are any. */
  readonly original: Buffer | undefined;
  /** Other registrations in the same file, and whether this one is in it. */
  readonly others: readonly Holder[];
  readonly isOurs: boolean;
  /** `undefined`: the file is removed. */
  readonly after: Uint8Array | undefined;
}

/**
 * Reads the settings files and computes the edit; writes nothing. An agent that was not named and is not registered is
 * skipped.
 *
 * @param everywhere also removes the registrations of other places, whose program is not on this machine
 * @throws UserError if a file cannot be edited; FileError if one cannot be read
 */
export async function planDisable(
  { agent, installer: of }: InstallableAgent,
  scope: Scope,
  context: Context,
  everywhere = false,
): Promise<DisablePlan> {
  const installer = everywhere ? of : installerHere(of, context);
  const { backupDir } = context.places;
  const target = targetOf(context);
  const self = { scope, ...(scope === "project" && { project: target.project }) };
  const now = await installer.paths(scope, target);
  // If an installer depends on which files exist, a recorded file may no longer be among them
  const then = (await allRecords(backupDir)).filter(
    (record) =>
      record.agent === agent.source &&
      !now.includes(record.path) &&
      record.holders?.some((holder) => isSameHolder(holder, self)) === true,
  );
  const files = await readSettingsFiles([...now, ...then.map(({ path }) => path)]);
  const known = await Promise.all(
    files.map(async (file): Promise<Known> => {
      const record = await recordOf(backupDir, file.path);
      const holders = record === undefined ? [] : holdersOf(record);
      return {
        file,
        record,
        original: record === undefined ? undefined : await originalOf(backupDir, record),
        others: holders.filter((holder) => !isSameHolder(holder, self)),
        isOurs: holders.some((holder) => isSameHolder(holder, self)),
      };
    }),
  );
  // Skip broken files that do not mention us
  const isNamed = known.some(namesUs) || installer.registered(files).length > 0;
  const isKnown = known.some(({ isOurs }) => isOurs);
  const asTheyAre = known.map((plan) => ({ ...plan, after: plan.file.bytes }));
  if (!isKnown && !isNamed) return { agent, installer, files: asTheyAre, enabled: false };
  // Files that are unchanged since, or never mentioned us, need not be parsed
  const mustEdit = known.some((plan) => !isUntouched(plan) && (plan.isOurs || namesUs(plan) || !isKnown));
  const without = mustEdit ? edited(files, () => installer.remove(files)) : files;
  const plans = known.map((plan, index) => ({ ...plan, after: afterOf(plan, without[index]?.text) }));
  return { agent, installer, files: plans, enabled: isKnown || plans.some(isChanged) };
}

type Known = Omit<FilePlan, "after">;

const namesUs = ({ file }: Known): boolean => file.text?.includes("openhook-otel") === true;

/** Only this registration has changed the file and its backup still exists: the original bytes are restored. */
const isUntouched = ({ file, record, original, others }: Known): boolean =>
  file.bytes === undefined ||
  (record !== undefined &&
    others.length === 0 &&
    sha256(file.bytes) === record.afterSha256 &&
    record.existed === (original !== undefined));

function afterOf(plan: Known, without: string | undefined): Uint8Array | undefined {
  const { file, record, original } = plan;
  if (file.bytes === undefined) return undefined;
  if (isUntouched(plan)) return original;
  if (without === file.text) return file.bytes;
  // A file that had settings before us is emptied rather than deleted
  const left = without === undefined && record?.existed !== false ? emptied(file) : without;
  return left === undefined ? undefined : Buffer.from(left);
}

/** Whether the plan changes or removes the file. */
function isChanged({ file, after }: FilePlan): boolean {
  if (file.bytes === undefined || after === undefined) return file.bytes !== after;
  return !file.bytes.equals(after);
}

export const changedPaths = ({ files }: DisablePlan): readonly string[] =>
  files.filter(isChanged).map(({ file }) => file.path);

/** One line: what was disabled, in which files. */
export function disabledText(plan: DisablePlan): string {
  const { agent, files, enabled } = plan;
  const there = files.filter(({ file }) => file.bytes !== undefined);
  const paths = (there.length > 0 ? there : files).map(({ file }) => file.path);
  if (!enabled) return `${agent.title}: not enabled in ${listed(paths)}\n`;
  const changed = files.filter(isChanged);
  if (changed.length === 0) return `${agent.title}: our entries were already gone from ${listed(paths)}\n`;
  const done = ["restored", "removed"].flatMap((verb) => {
    const those = changed.filter(({ after }) => (after === undefined) === (verb === "removed"));
    return those.length === 0 ? [] : [`${verb} ${listed(those.map(({ file }) => file.path))}`];
  });
  return `${agent.title}: disabled, ${done.join(", ")}\n`;
}

/** After the last user-scope registration: what still starts the hook program, which matters before an uninstall. */
export function remainingText(left: readonly BackupRecord[]): string {
  const holders = left.filter(({ agent }) => agent !== RECORDED_AS).flatMap(holdersOf);
  if (left.length === 0 || holders.some(({ scope }) => scope === "user")) return "";
  const projects = new Set(holders.map(({ project, files }) => project ?? listed(files)));
  const isWrapping = left.some(({ agent }) => agent === RECORDED_AS);
  const users = [
    ...[...projects].map((project) => `the settings of ${project} (there: ${suggest("disable --scope project")})`),
    ...(isWrapping ? [`wrapped programs (${suggest("unwrap")})`] : []),
  ];
  return `The hook program stays for ${users.join(", and for ")}.\n`;
}

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
