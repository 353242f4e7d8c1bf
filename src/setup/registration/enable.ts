import { variableFiles } from "#agents/registry.ts";
import { allowedNodeOptions } from "#collect/intake/inbox-file.ts";
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
import { doubtfulVariables, foldersOfAgents, recordVariables } from "#config/variables.ts";
import type { SettingsText } from "#core/model/installer.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { diffOfFile } from "#kit/text/diff.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { loadNativePart } from "#store/native-part.ts";
import { hookCommandOf, installHookProgram, statusLineCommandOf, statusLinePathOf } from "./hook-program.ts";
import { installerHere } from "./other-places.ts";
import type { PresentAgent } from "./present-agents.ts";
import {
  type AgentLookup,
  allOrNone,
  apply,
  edited,
  emptied,
  type FileChange,
  listed,
  namedAgents,
  readSettingsFiles,
  restoreRecord,
  reversed,
  type Scope,
  type SettingsFile,
  type Step,
  targetOf,
} from "./settings.ts";

/** What enabling one agent changes in its settings files. */
interface EnablePlan extends PresentAgent {
  readonly files: readonly SettingsFile[];
  /** The same files with our registrations, and without them. */
  readonly after: readonly SettingsText[];
  readonly without: readonly SettingsText[];
}

/**
 * Reads the settings files and computes the edit; writes nothing.
 *
 * @param statusLine whether the agent's status line is wanted too, in user scope
 * @throws UserError when a file cannot be edited; FileError when one cannot be read
 */
export async function planEnable(
  present: PresentAgent,
  scope: Scope,
  context: Context,
  statusLine = false,
): Promise<EnablePlan> {
  const installer = installerHere(present.installer, context);
  const target = targetOf(context);
  // Project settings are shared with machines whose agent may be older, where one unknown event name disables all hooks.
  // Without a version the installer uses only events that every version knows.
  const version = scope === "user" ? (present.version ?? (await installer.detect(target)).version) : undefined;
  const files = await readSettingsFiles(await installer.paths(scope, target));
  const registration = {
    scope,
    target,
    version,
    command: hookCommandOf(context, scope),
    ...(statusLine && { statusLine: statusLineCommandOf(context, present.agent.source) }),
  };
  const [after, without] = edited(files, () => [installer.add(files, registration), installer.remove(files)] as const);
  return { ...present, installer, ...(version !== undefined && { version }), files, after, without };
}

/** False when the settings hold our registrations already. */
export const hasChanges = ({ files, after }: EnablePlan): boolean =>
  files.some(({ text }, index) => text !== after[index]?.text);

/** One line: what was enabled, in which files. */
export function enabledText(plan: EnablePlan): string {
  const { agent, installer, version, files, after } = plan;
  if (!hasChanges(plan)) {
    const ours = files.filter((file, index) => plan.without[index]?.text !== file.text);
    return `${agent.title}: already enabled in ${listed((ours.length > 0 ? ours : files).map(({ path }) => path))}\n`;
  }
  const changed = files.filter(({ text }, index) => text !== after[index]?.text).map(({ path }) => path);
  const events = installer.registered(after).length;
  const known = version === undefined ? "" : ` of ${agent.title} ${version}`;
  return `${agent.title}: enabled in ${listed(changed)} (${plural(events, "event")}${known})\n`;
}

/** What enabling would change, as diffs. @param isFull also all lines of long new files */
export function dryRunText(plans: readonly EnablePlan[], hookPath: string, isFull: boolean): string {
  const texts = plans.map((plan) => {
    const diffs = plan.files.map((file, index) =>
      diffOfFile(file, { path: file.path, text: plan.after[index]?.text }, isFull),
    );
    return `${hasChanges(plan) ? "" : enabledText(plan)}${diffs.join("")}`;
  });
  return `${texts.join("")}Dry run: nothing was written. The hook program would be ${hookPath}\n`;
}

/**
 * Writes a plan's files in the order of the installer, all of them or none. The first time, each file is backed up.
 *
 * @throws FileError when a file changed since the plan was made, or cannot be written
 */
export async function writeEnable(plan: EnablePlan, scope: Scope, context: Context): Promise<void> {
  const steps = await Promise.all(plan.files.map((_, index) => stepOf(plan, index, scope, context)));
  await allOrNone(steps.filter((step) => step !== undefined));
}

/** @throws UserError for project settings, which other people share */
export function refuseStatusLineOf(scope: Scope): void {
  if (scope === "project") {
    throw new UserError("E_SCOPE", "a status line can only be set in the user's settings; leave out --scope project");
  }
}

/** One line about an agent's status line; empty if the agent has none that programs fill. */
export function statusLineText({ agent, installer, files, after }: EnablePlan, context: Context): string {
  if (installer.statusLine === undefined) return "";
  switch (installer.statusLine(files)) {
    case "ours":
      return "  its status line already shows cost, context and limits\n";
    case "other":
      return `  ! ${agent.title} already has a status line, which stays as it is; to show both, let its script pass its input to ${statusLineProgram(context)} ${agent.source}\n`;
    default:
      return installer.statusLine(after) === "ours" ? "  its status line shows cost, context and limits\n" : "";
  }
}

/** How shells and tmux show the line. */
export const plainStatusLineText = (context: Context): string =>
  context.platform === "win32"
    ? `In other places: ${statusLineProgram(context)}\n`
    : `In tmux: set -g status-right '#(${statusLineProgram(context)})'\n`;

/**
 * Registers one agent again, as `enable` did before.
 *
 * @param project the project's folder; `null` for the user's settings
 * @returns one line: what was enabled, in which files
 * @throws UserError or FileError when it cannot be registered
 */
export async function restoreRegistration(
  source: string,
  { scope, project }: { readonly scope: Scope; readonly project: string | null },
  context: Context,
  agents: AgentLookup,
  hookSource: string,
): Promise<string> {
  const there = project === null ? context : { ...context, cwd: project };
  await loadNativePart();
  const [agent] = await namedAgents([source], scope, agents);
  if (agent === undefined) return "";
  const first = await planEnable(agent, scope, there);
  const hasStatusLine = first.installer.statusLine?.(first.files) === "ours";
  const plan = hasStatusLine ? await planEnable(agent, scope, there, true) : first;
  await installHookProgram(there, hookSource);
  await writeEnable(plan, scope, there);
  return enabledText(plan).trim();
}

/**
 * The variables that `enable` records. Variables that a file of the current folder's repository names are left out, because an agent
 * may have started the command with them.
 *
 * @returns `own`: what can be recorded; `theirs`: variable name → file
 */
export async function variablesToRecord({ env: all, cwd, places }: Context) {
  const env = { ...all, NODE_OPTIONS: allowedNodeOptions(all["NODE_OPTIONS"]) };
  const searched = { folders: [cwd, ...foldersOfAgents(all)], home: places.home, files: await variableFiles() };
  const theirs = await doubtfulVariables(env, places.stateDir, searched);
  return { own: Object.fromEntries(Object.entries(env).filter(([name]) => !theirs.has(name))), theirs };
}

/** Records them, so that drains that hooks start recognise the user's values, also where a repository names the same variable. */
export async function recordOwnVariables(context: Context): Promise<void> {
  const { own, theirs } = await variablesToRecord(context);
  await recordVariables(own, context.places.stateDir);
  const lines = [...theirs].map(([name, path]) => {
    // The folder that is HOME is searched wherever enable runs
    const remedy = name === "HOME" ? `write ~ instead of $HOME there` : "run enable in your home folder instead";
    return `! ${name} is not recorded, because ${path} names it: ${remedy}`;
  });
  printLines(context, lines.map(printable));
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

const statusLineProgram = (context: Context): string =>
  context.platform === "win32" ? `node "${statusLinePathOf(context)}"` : statusLinePathOf(context);
