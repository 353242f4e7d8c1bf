import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type BackupRecord, dropBackup, originalOf, recordOf, saveBackup, sha256 } from "../config/backup.ts";
import { missingParent, writeFileAtomic } from "../config/files.ts";
import { type Context, UserError } from "./context.ts";
import { unifiedDiff } from "./diff.ts";
import { hookCommandOf, installHookProgram } from "./hook-program.ts";
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

export type { AgentLookup } from "./settings-edit.ts";

export interface EnableOptions {
  readonly scope: Scope;
  /** Do not ask. Whoever names an agent is not asked either. */
  readonly yes: boolean;
  /** Show the diff, write nothing. */
  readonly dryRun: boolean;
  /** The shipped hook program, absolute: `hook.sh`, on Windows `hook.cjs`. */
  readonly hookSource: string;
}

/**
 * Registers the hook program with agents, so that their next session is collected.
 *
 * Every settings file is kept as it was before the first change, and its edit is the last step: what fails before
 * leaves no trace that an agent could stumble over.
 *
 * @param names agents by source; none: all that are found on this machine
 * @returns the exit code: 0 done or nothing to do, 1 when the user said no
 * @throws UserError for anything the user can mend
 */
export async function enable(
  names: readonly string[],
  options: EnableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const chosen =
      names.length > 0
        ? await namedAgents(names, options.scope, agents)
        : await presentAgents(options.scope, context, agents);
    const plans = await Promise.all(chosen.map((one) => planOf(one, options.scope, context)));
    const changing = plans.filter((plan) => plan.after !== plan.file.text);
    if (options.dryRun) return showDryRun(plans, context);

    const files = changing.map((plan) => plan.file.path).join(" and ");
    if (
      changing.length > 0 &&
      !(await agreed(`Register the hook in ${files}?`, options.yes || names.length > 0, context))
    ) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    await installHookProgram(context, options.hookSource);
    for (const plan of plans) {
      await carryOut(plan, options.scope, context);
      context.stdout.write(reportOf(plan));
    }
    if (changing.length > 0) {
      context.stdout.write(`The next session is collected. What is collected lies in ${context.places.stateDir}\n`);
    }
    return 0;
  });
}

// --- internal ---

interface Plan extends InstallableAgent {
  readonly version: string | undefined;
  readonly file: SettingsFile;
  readonly after: string;
}

/** Agents whose program answers or whose settings directory exists. */
async function presentAgents(
  scope: Scope,
  context: Context,
  agents: AgentLookup,
): Promise<readonly InstallableAgent[]> {
  const all = await installableAgents(scope, agents);
  const present = await Promise.all(
    all.map(async ({ installer }) => {
      const home = dirname(installer.path(installer.scopes.includes("user") ? "user" : scope, targetOf(context)));
      const hasHome = await stat(home).then(
        (found) => found.isDirectory(),
        () => false,
      );
      return hasHome || (await installer.detectVersion(context.env)) !== undefined;
    }),
  );
  const found = all.filter((_, index) => present[index]);
  if (found.length > 0) return found;
  const known = all.map((one) => one.agent.source).join(", ");
  throw new UserError("E_AGENT", `no agent was found on this machine; name the one you mean: ${known}`);
}

async function planOf({ agent, installer }: InstallableAgent, scope: Scope, context: Context): Promise<Plan> {
  // A project's settings are shared with machines whose agent may be older than ours, and one event name too new
  // switches off every hook there: no version means the events that all of them know.
  const version = scope === "user" ? await installer.detectVersion(context.env) : undefined;
  const file = await readSettingsFile(installer.path(scope, targetOf(context)));
  const after = edited(file.path, () => installer.add(file.text, hookCommandOf(context), version));
  return { agent, installer, version, file, after };
}

function showDryRun(plans: readonly Plan[], { stdout, places }: Context): number {
  for (const plan of plans) {
    const { path, text } = plan.file;
    const diff = unifiedDiff({ path, text }, { path, text: plan.after });
    stdout.write(diff === "" ? reportOf(plan) : diff);
  }
  stdout.write(`Dry run: nothing was written. The hook program would be ${places.hookPath}\n`);
  return 0;
}

/** Backup, record, edit; a failed edit leaves the former backup and record. */
async function carryOut({ agent, installer, file, after }: Plan, scope: Scope, context: Context): Promise<void> {
  const { backupDir } = context.places;
  const record = await recordOf(backupDir, file.path);
  const changed = after !== file.text;
  if (!changed && record !== undefined) return;

  const former = record === undefined ? undefined : await originalOf(backupDir, record);
  const original = originalBytes(file, record, former, (text) => edited(file.path, () => installer.remove(text)));
  const madeDirectory = record?.madeDirectory ?? (await missingParent(file.path));
  const next = {
    path: file.path,
    afterSha256: sha256(after),
    at: new Date(context.now()).toISOString(),
    agent: agent.source,
    scope,
    ...(madeDirectory === undefined ? {} : { madeDirectory }),
  };
  await saveBackup(backupDir, next, original);
  if (!changed) return;
  const modes = scope === "user" ? { mode: 0o600, dirMode: 0o700 } : { mode: 0o644, dirMode: 0o755 };
  try {
    await writeFileAtomic(file.path, after, { ...modes, expect: file.bytes ?? null });
  } catch (error) {
    // a record whose bytes are lost must not come back as "there was no file": disable would delete the user's
    if (record === undefined || record.existed !== (former !== undefined)) await dropBackup(backupDir, file.path);
    else await saveBackup(backupDir, record, former);
    throw error;
  }
}

/**
 * What `disable` shall put back.
 *
 * While the file is as we left it, the bytes from before our first edit stay the original. Once somebody else has
 * changed it (the agent itself does, when the user answers "always allow"), those bytes would undo that change; the
 * original is then the file as it is now without our entries.
 */
function originalBytes(
  { bytes, text }: SettingsFile,
  record: BackupRecord | undefined,
  former: Buffer | undefined,
  remove: (text: string) => string | undefined,
): Uint8Array | undefined {
  if (bytes === undefined || text === undefined) return undefined;
  if (record !== undefined && sha256(bytes) === record.afterSha256 && record.existed === (former !== undefined)) {
    return former;
  }
  const foreign = remove(text);
  if (foreign === text) return bytes;
  if (foreign !== undefined) return Buffer.from(foreign);
  return record?.existed === false ? undefined : Buffer.from("{}\n");
}

function reportOf({ agent, installer, version, file, after }: Plan): string {
  if (after === file.text) return `${agent.title}: already enabled in ${file.path}\n`;
  const events = installer.registered(after).length;
  const known = version === undefined ? "" : ` of ${agent.title} ${version}`;
  return `${agent.title}: enabled in ${file.path} (${events} events${known})\n`;
}
