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
} from "../config/backup.ts";
import type { Context } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { complainTo, forEachAgent } from "../registration/for-each-agent.ts";
import { removeHookProgram } from "../registration/hook-program.ts";
import {
  type AgentLookup,
  agreed,
  edited,
  emptied,
  type InstallableAgent,
  installableAgents,
  listed,
  namedAgents,
  readSettingsFiles,
  type Scope,
  type SettingsFile,
  scopeOf,
  targetOf,
  withUserErrors,
} from "../registration/settings-edit.ts";
import {
  allOrNone,
  apply,
  type FileChange,
  restoreRecord,
  reversed,
  type Step,
} from "../registration/settings-write.ts";
import { RECORDED_AS } from "../registration/wrappers.ts";
import { unifiedDiff } from "../text/diff.ts";
import type { EnableOptions } from "./enable.ts";

export type DisableOptions = Omit<EnableOptions, "hookSource">;

/**
 * Takes our registrations out of agents' settings: byte for byte as they were, where nobody else changed the file since.
 * With the last agent the hook program goes too; collected data stays.
 *
 * @param names agents by source; none: all that are enabled in this scope
 * @returns the exit code: 0 done or nothing to do, 1 when the user said no, or nobody was named and one of them could not be
 *          taken out, which is told
 * @throws UserError for anything the user can mend
 */
export async function disable(
  names: readonly string[],
  options: DisableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const scope = await scopeOf(names, options.scope, agents);
    const isNamed = names.length > 0;
    const chosen = isNamed ? await namedAgents(names, scope, agents) : await installableAgents(scope, agents);
    // Whoever wants all of them out is not held up by one, and least by one that we were never in
    const failed: string[] = [];
    const complain = complainTo(context);
    const records = await allRecords(context.places.backupDir);
    const spare = (error: unknown, { agent: { source } }: InstallableAgent): void => {
      if (!records.some(({ agent }) => agent === source)) return;
      failed.push(source);
      complain(error);
    };
    const spared = isNamed ? undefined : spare;
    const plans = await forEachAgent(chosen, spared, (one) => planOf(one, scope, context));
    const enabled = plans.filter((plan) => plan.enabled);
    const shown = isNamed ? plans : enabled;
    if (options.dryRun) {
      showDryRun(shown, context);
      return failed.length === 0 ? 0 : 1;
    }
    const files = listed(enabled.flatMap(changedPaths));
    if (files !== "" && !(await agreed(`Take the hook out of ${files}?`, options.yes || isNamed, context))) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    await forEachAgent(shown, spared, async (plan) => {
      await carryOut(plan, context);
      context.stdout.write(reportOf(plan));
    });
    if (shown.length === 0 && failed.length === 0)
      context.stdout.write(`No agent is enabled in its ${scope} settings.\n`);
    const left = await allRecords(context.places.backupDir);
    context.stdout.write(whatStays(left));
    if (enabled.length > 0 && left.length === 0) {
      await removeHookProgram(context);
      const { stateDir } = context.places;
      context.stdout.write(
        `The hook program is removed. Collected data stays in ${stateDir}; delete that directory to be rid of it.\n`,
      );
    }
    return failed.length === 0 ? 0 : 1;
  });
}

// --- internal ---

/** What still starts the hook program where no agent's user settings do: whoever goes on to uninstall must know. */
function whatStays(left: readonly BackupRecord[]): string {
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

interface Plan extends InstallableAgent {
  readonly files: readonly FilePlan[];
  /** False when neither the files nor our records know of us. */
  readonly enabled: boolean;
}

interface FilePlan {
  readonly file: SettingsFile;
  readonly record: BackupRecord | undefined;
  /** The backup's bytes, where the record has any. */
  readonly original: Buffer | undefined;
  /** Other registrations that have something in the file, and whether this one has. */
  readonly others: readonly Holder[];
  readonly isOurs: boolean;
  /** `undefined`: the file goes. */
  readonly after: Uint8Array | undefined;
}

async function planOf({ agent, installer }: InstallableAgent, scope: Scope, context: Context): Promise<Plan> {
  const { backupDir } = context.places;
  const target = targetOf(context);
  const self = { scope, ...(scope === "project" && { project: target.project }) };
  const now = await installer.paths(scope, target);
  // where an installer goes by what it finds, a file of then may be none of now
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
  // broken files that do not even name us are none of our business
  const isNamed = known.some(namesUs) || installer.registered(files).length > 0;
  const isKnown = known.some(({ isOurs }) => isOurs);
  const asTheyAre = known.map((one) => ({ ...one, after: one.file.bytes }));
  if (!isKnown && !isNamed) return { agent, installer, files: asTheyAre, enabled: false };
  // files that are as we left them, or never named us, need not be understood
  const mustEdit = known.some((one) => !isUntouched(one) && (one.isOurs || namesUs(one) || !isKnown));
  const without = mustEdit ? edited(files, () => installer.remove(files)) : files;
  const plans = known.map((one, index) => ({ ...one, after: afterOf(one, without[index]?.text) }));
  return { agent, installer, files: plans, enabled: isKnown || plans.some(isChanged) };
}

type Known = Omit<FilePlan, "after">;

const namesUs = ({ file }: Known): boolean => file.text?.includes("openhook-otel") === true;

/** Only this registration has changed it, and what it was is still there: its first bytes come back. */
const isUntouched = ({ file, record, original, others }: Known): boolean =>
  file.bytes === undefined ||
  (record !== undefined &&
    others.length === 0 &&
    sha256(file.bytes) === record.afterSha256 &&
    record.existed === (original !== undefined));

function afterOf(one: Known, without: string | undefined): Uint8Array | undefined {
  const { file, record, original } = one;
  if (file.bytes === undefined) return undefined;
  if (isUntouched(one)) return original;
  if (without === file.text) return file.bytes;
  // a file that held settings before us is left with nothing in it rather than deleted
  const left = without === undefined && record?.existed !== false ? emptied(file) : without;
  return left === undefined ? undefined : Buffer.from(left);
}

function isChanged({ file, after }: FilePlan): boolean {
  if (file.bytes === undefined || after === undefined) return file.bytes !== after;
  return !file.bytes.equals(after);
}

const changedPaths = ({ files }: Plan): readonly string[] => files.filter(isChanged).map(({ file }) => file.path);

/** Last file first: what was written last leans on what was written before it. */
async function carryOut({ files, enabled }: Plan, { places }: Context): Promise<void> {
  if (enabled) await allOrNone(files.map((one) => stepOf(one, places.backupDir)).reverse());
}

function stepOf(plan: FilePlan, backupDir: string): Step {
  const { file, record, original, after } = plan;
  const { path, bytes } = file;
  let change: FileChange = { path, before: bytes, after, madeDirectory: record?.madeDirectory };
  return {
    async run() {
      if (bytes !== undefined) change = { ...change, modes: { mode: (await stat(path)).mode & 0o7777 } };
      if (isChanged(plan)) await apply(change);
      await forget(plan, backupDir);
    },
    async undo() {
      if (isChanged(plan)) await apply(reversed(change));
      await restoreRecord(backupDir, path, record, original);
    },
  };
}

/** The record goes with the last registration that the file holds; until then it tells how we left the file. */
async function forget({ file, record, original, others, isOurs, after }: FilePlan, backupDir: string): Promise<void> {
  if (record === undefined) return;
  if (others.length === 0) return dropBackup(backupDir, file.path);
  if (!isOurs) return;
  const wasAsLeft = file.bytes !== undefined && sha256(file.bytes) === record.afterSha256;
  const afterSha256 = wasAsLeft && after !== undefined ? sha256(after) : record.afterSha256;
  await saveBackup(backupDir, { ...record, holders: [...others], afterSha256 }, original);
}

function showDryRun(plans: readonly Plan[], { stdout }: Context): void {
  for (const plan of plans) {
    if (changedPaths(plan).length === 0) stdout.write(reportOf(plan));
    for (const { file, after } of plan.files) {
      const text = after === undefined ? undefined : Buffer.from(after).toString();
      stdout.write(unifiedDiff(file, { path: file.path, text }));
    }
  }
  stdout.write("Dry run: nothing was written.\n");
}

function reportOf(plan: Plan): string {
  const { agent, files, enabled } = plan;
  const there = files.filter(({ file }) => file.bytes !== undefined);
  const paths = (there.length > 0 ? there : files).map(({ file }) => file.path);
  if (!enabled) return `${agent.title}: not enabled in ${listed(paths)}\n`;
  const changed = files.filter(isChanged);
  if (changed.length === 0) return `${agent.title}: nothing of ours was left in ${listed(paths)}\n`;
  const done = ["restored", "removed"].flatMap((verb) => {
    const those = changed.filter(({ after }) => (after === undefined) === (verb === "removed"));
    return those.length === 0 ? [] : [`${verb} ${listed(those.map(({ file }) => file.path))}`];
  });
  return `${agent.title}: disabled, ${done.join(", ")}\n`;
}
