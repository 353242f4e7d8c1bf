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
} from "../config/backup.ts";
import { missingParent } from "../config/files.ts";
import type { Context } from "../context.ts";
import type { SettingsText } from "../model/agent.ts";
import { complainTo, forEachAgent } from "../registration/for-each-agent.ts";
import { hookCommandOf, installHookProgram } from "../registration/hook-program.ts";
import { chosenByUser, type PresentAgent, presentAgents, sayFindings } from "../registration/present-agents.ts";
import {
  type AgentLookup,
  edited,
  emptied,
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
import { loadNativePart } from "../store/native-part.ts";
import { unifiedDiff } from "../text/diff.ts";
import { plural } from "../text/figures.ts";

export type { AgentLookup } from "../registration/settings-edit.ts";

export interface EnableOptions {
  /** Absent: the user's, or the project's where the named agents have no others. */
  readonly scope?: Scope | undefined;
  /** Take all that are found, do not ask. Whoever names an agent is not asked either. */
  readonly yes: boolean;
  /** Show the diff, write nothing. */
  readonly dryRun: boolean;
  /** The shipped hook program, absolute: `hook.sh`, on Windows `hook.cjs`. */
  readonly hookSource: string;
}

/**
 * Registers the hook program with agents, so that their next session is collected.
 *
 * Every settings file is kept as it was before the first change. An agent's files are written in the order that its
 * installer gives, all of them or none.
 *
 * @param names agents by source; none: those found on this machine, of which the user chooses
 * @returns the exit code: 0 done or nothing to do, 1 when the user chose none, or when one of several that nobody named
 *          could not be enabled (the others are)
 * @throws UserError for anything the user can mend
 */
export async function enable(
  names: readonly string[],
  options: EnableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const { dryRun } = options;
    const scope = await scopeOf(names, options.scope, agents);
    const isNamed = names.length > 0;
    const found: readonly PresentAgent[] = isNamed
      ? await namedAgents(names, scope, agents)
      : await presentAgents(scope, context, agents);
    const chosen = isNamed || options.yes || dryRun ? found : await chosenByUser(found, scope, context);
    if (chosen.length === 0) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    // whoever takes all that there is, is not held up by one of them
    const spared = isNamed ? undefined : complainTo(context);
    const plans = await forEachAgent(chosen, spared, (one) => planOf(one, scope, context));
    if (dryRun) {
      showDryRun(plans, context);
      return plans.length === chosen.length ? 0 : 1;
    }
    // What could never be stored is not collected either
    await loadNativePart();
    if (plans.length > 0) await installHookProgram(context, options.hookSource);
    const done = await forEachAgent(plans, spared, async (plan) => {
      await carryOut(plan, scope, context);
      context.stdout.write(reportOf(plan));
      return { isNew: isChange(plan), runs: await sayFindings(plan, context) };
    });
    const fresh = done.filter(({ isNew }) => isNew);
    if (fresh.length > 0) {
      const next = fresh.some(({ runs }) => runs)
        ? "The next session is collected."
        : "Until then nothing is collected.";
      context.stdout.write(`${next} What is collected lies in ${context.places.stateDir}\n`);
    }
    return done.length === chosen.length ? 0 : 1;
  });
}

// --- internal ---

interface Plan extends PresentAgent {
  readonly files: readonly SettingsFile[];
  /** The same files with our registrations, and without any of ours. */
  readonly after: readonly SettingsText[];
  readonly without: readonly SettingsText[];
}

async function planOf(one: PresentAgent, scope: Scope, context: Context): Promise<Plan> {
  const { installer } = one;
  const target = targetOf(context);
  // A project's settings are shared with machines whose agent may be older than ours, and one event name too new
  // switches off every hook there: no version means the events that all of them know.
  const version = scope === "user" ? (one.version ?? (await installer.detect(target)).version) : undefined;
  const files = await readSettingsFiles(await installer.paths(scope, target));
  const registration = { scope, target, version, command: hookCommandOf(context) };
  const [after, without] = edited(files, () => [installer.add(files, registration), installer.remove(files)] as const);
  return { ...one, ...(version !== undefined && { version }), files, after, without };
}

const isChange = ({ files, after }: Plan): boolean => files.some(({ text }, index) => text !== after[index]?.text);

function showDryRun(plans: readonly Plan[], { stdout, places }: Context): void {
  for (const plan of plans) {
    if (!isChange(plan)) stdout.write(reportOf(plan));
    for (const [index, file] of plan.files.entries()) {
      stdout.write(unifiedDiff(file, { path: file.path, text: plan.after[index]?.text }));
    }
  }
  stdout.write(`Dry run: nothing was written. The hook program would be ${places.hookPath}\n`);
}

async function carryOut(plan: Plan, scope: Scope, context: Context): Promise<void> {
  const steps = await Promise.all(plan.files.map((_, index) => stepOf(plan, index, scope, context)));
  await allOrNone(steps.filter((step) => step !== undefined));
}

/** Backup, record, edit of one file; `undefined` when nothing of it has to be done. */
async function stepOf(plan: Plan, index: number, scope: Scope, context: Context): Promise<Step | undefined> {
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
    files: plan.files.map((one) => one.path),
  };
  const holders = record === undefined ? [] : holdersOf(record);
  const isKnown = holders.some((one) => isSameHolder(one, holder));
  // as it shall be, and known already or nothing of ours
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
            holders: [...holders.filter((one) => !isSameHolder(one, holder)), holder],
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

/** Of what we make: the user's own files are private, a project's are shared; a script must be one that can run. */
function modesOf(scope: Scope, text: string | undefined): { readonly mode: number; readonly dirMode: number } {
  const isScript = text?.startsWith("#!") === true;
  return scope === "user"
    ? { mode: isScript ? 0o700 : 0o600, dirMode: 0o700 }
    : { mode: isScript ? 0o755 : 0o644, dirMode: 0o755 };
}

/**
 * What `disable` shall put back.
 *
 * While the file is as we left it, the bytes from before our first edit stay the original. Once somebody else has
 * changed it (the agent itself does, when the user answers "always allow"), those bytes would undo that change; the
 * original is then the file as it is now without our entries.
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

function reportOf(plan: Plan): string {
  const { agent, installer, version, files, after } = plan;
  if (!isChange(plan)) {
    const ours = files.filter((file, index) => plan.without[index]?.text !== file.text);
    return `${agent.title}: already enabled in ${listed((ours.length > 0 ? ours : files).map(({ path }) => path))}\n`;
  }
  const changed = files.filter(({ text }, index) => text !== after[index]?.text).map(({ path }) => path);
  const events = installer.registered(after).length;
  const known = version === undefined ? "" : ` of ${agent.title} ${version}`;
  return `${agent.title}: enabled in ${listed(changed)} (${plural(events, "event")}${known})\n`;
}
