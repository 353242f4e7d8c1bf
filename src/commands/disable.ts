import { rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { allRecords, type BackupRecord, dropBackup, originalOf, recordOf, sha256 } from "../config/backup.ts";
import { removeFile, writeFileAtomic } from "../config/files.ts";
import type { Installer } from "../model/agent.ts";
import type { Context } from "./context.ts";
import { unifiedDiff } from "./diff.ts";
import type { EnableOptions } from "./enable.ts";
import { removeHookProgram } from "./hook-program.ts";
import {
  type AgentLookup,
  agreed,
  edited,
  type InstallableAgent,
  installableAgents,
  namedAgents,
  readSettingsFile,
  type Scope,
  type SettingsFile,
  targetOf,
  withUserErrors,
} from "./settings-edit.ts";

export type DisableOptions = Omit<EnableOptions, "hookSource">;

/**
 * Takes our registrations out of agents' settings: byte for byte as they were, where nobody else changed the file since.
 * With the last agent the hook program goes too; collected data stays.
 *
 * @param names agents by source; none: all that are enabled in this scope
 * @returns the exit code: 0 done or nothing to do, 1 when the user said no
 * @throws UserError for anything the user can mend
 */
export async function disable(
  names: readonly string[],
  options: DisableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const chosen =
      names.length > 0
        ? await namedAgents(names, options.scope, agents)
        : await installableAgents(options.scope, agents);
    const plans = await Promise.all(chosen.map((one) => planOf(one, options.scope, context)));
    const enabled = plans.filter((plan) => plan.enabled);
    const shown = names.length > 0 ? plans : enabled;
    if (options.dryRun) return showDryRun(shown, context);

    const files = enabled.flatMap((plan) => (plan.changes ? [plan.file.path] : [])).join(" and ");
    if (files !== "" && !(await agreed(`Take the hook out of ${files}?`, options.yes || names.length > 0, context))) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    for (const plan of shown) {
      if (plan.enabled) await carryOut(plan, context);
      context.stdout.write(reportOf(plan));
    }
    if (enabled.length === 0) {
      if (shown.length === 0) context.stdout.write(`No agent is enabled in its ${options.scope} settings.\n`);
      return 0;
    }
    if ((await allRecords(context.places.backupDir)).length === 0) {
      await removeHookProgram(context);
      const { stateDir } = context.places;
      context.stdout.write(
        `The hook program is removed. Collected data stays in ${stateDir}; delete that directory to be rid of it.\n`,
      );
    }
    return 0;
  });
}

// --- internal ---

interface Plan extends InstallableAgent {
  readonly file: SettingsFile;
  readonly record: BackupRecord | undefined;
  /** False when neither the file nor our records know of us. */
  readonly enabled: boolean;
  readonly changes: boolean;
  /** `undefined`: the file goes. */
  readonly after: Uint8Array | undefined;
}

async function planOf({ agent, installer }: InstallableAgent, scope: Scope, context: Context): Promise<Plan> {
  const { backupDir } = context.places;
  const file = await readSettingsFile(installer.path(scope, targetOf(context)));
  const record = await recordOf(backupDir, file.path);
  const plan = { agent, installer, file, record };
  const { bytes, text } = file;
  if (bytes === undefined || text === undefined) {
    return { ...plan, enabled: record !== undefined, changes: false, after: undefined };
  }
  if (record !== undefined && sha256(bytes) === record.afterSha256) {
    const original = await originalOf(backupDir, record);
    if (record.existed === (original !== undefined)) {
      return { ...plan, enabled: true, changes: original?.equals(bytes) !== true, after: original };
    }
  }
  // a broken file that does not even name us is none of our business
  if (record === undefined && !text.includes("openhook-otel") && installer.registered(text).length === 0) {
    return { ...plan, enabled: false, changes: false, after: bytes };
  }
  const left = edited(file.path, () => withoutUs(installer, text, record));
  const changes = left !== text;
  const after = left === undefined ? undefined : changes ? Buffer.from(left) : bytes;
  return { ...plan, enabled: record !== undefined || changes, changes, after };
}

/** A file that held settings before us is left with an empty object rather than deleted. */
function withoutUs(installer: Installer, text: string, record: BackupRecord | undefined): string | undefined {
  const left = installer.remove(text);
  return left === undefined && record?.existed !== false ? "{}\n" : left;
}

async function carryOut({ file, record, changes, after }: Plan, { places }: Context): Promise<void> {
  if (changes) {
    if (after !== undefined) await writeFileAtomic(file.path, after, { expect: file.bytes ?? null });
    else {
      await removeFile(file.path);
      await removeMadeDirectories(file.path, record);
    }
  }
  if (record !== undefined) await dropBackup(places.backupDir, file.path);
}

/** Directories that were made for the file, up to the topmost, as long as they are empty. */
async function removeMadeDirectories(path: string, record: BackupRecord | undefined): Promise<void> {
  const top = record?.madeDirectory;
  if (top === undefined) return;
  for (let at = dirname(path); at.startsWith(top); at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

function showDryRun(plans: readonly Plan[], { stdout }: Context): number {
  for (const plan of plans) {
    const { path, text } = plan.file;
    const after = plan.after === undefined ? undefined : Buffer.from(plan.after).toString();
    stdout.write(plan.changes ? unifiedDiff({ path, text }, { path, text: after }) : reportOf(plan));
  }
  stdout.write("Dry run: nothing was written.\n");
  return 0;
}

function reportOf({ agent, file, enabled, changes, after }: Plan): string {
  if (!enabled) return `${agent.title}: not enabled in ${file.path}\n`;
  if (!changes) return `${agent.title}: nothing of ours was left in ${file.path}\n`;
  return `${agent.title}: disabled, ${after === undefined ? "removed" : "restored"} ${file.path}\n`;
}
