import { rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import { type BackupRecord, dropBackup, saveBackup } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { FileError, readFileIfAny, refuseOdd, removeFile, type WriteOptions, writeFileAtomic } from "#config/files.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Installer, InstallTarget, SettingsText } from "#core/model/installer.ts";
import { meantAgent } from "#core/rules/cards.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { suggest, suggestAnywhere } from "#kit/suggest.ts";

// What `enable` and `disable` share: agents and their settings files

/** Access to the agents; see `agents/registry.ts`. */
export interface AgentLookup {
  list(): Promise<readonly Agent[]>;
  find(source: string): Promise<Agent | undefined>;
}

export type Scope = "user" | "project";

export interface InstallableAgent {
  readonly agent: Agent;
  readonly installer: Installer;
}

export interface SettingsFile extends SettingsText {
  /** `undefined` if there is no file. */
  readonly bytes: Buffer | undefined;
}

export const targetOf = ({ places, cwd, env }: Pick<Context, "places" | "cwd" | "env">): InstallTarget => ({
  home: places.home,
  project: cwd,
  env,
});

/** Named agents, each once. @throws UserError for an unknown name, or an agent without settings in this scope */
export async function namedAgents(
  names: readonly string[],
  scope: Scope,
  agents: AgentLookup,
): Promise<readonly InstallableAgent[]> {
  const chosen: InstallableAgent[] = [];
  for (const name of new Set(names)) {
    const agent = await agents.find(name);
    if (agent === undefined) {
      const known = (await installableAgents(scope, agents)).map((known) => known.agent.source);
      const hint = meantAgent(name, await agents.list());
      throw new UserError("E_AGENT", `unknown agent ${JSON.stringify(name)}${hint}; known are: ${known.join(", ")}`);
    }
    const installer = (await agent.installer?.())?.default;
    if (installer === undefined) {
      throw new UserError("E_AGENT", byHand(agent, await agents.list()));
    }
    if (!installer.scopes.includes(scope)) {
      throw new UserError(
        "E_SCOPE",
        `${agent.title} has no ${scope} settings; use --scope ${installer.scopes.join(" or ")}`,
      );
    }
    chosen.push({ agent, installer });
  }
  return chosen;
}

/** The scope if none is given: the user's, or the project's if the named agents have no others. */
export async function scopeOf(names: readonly string[], named: Scope | undefined, agents: AgentLookup): Promise<Scope> {
  if (named !== undefined) return named;
  const cards = await Promise.all(names.map((name) => agents.find(name)));
  const installers = await Promise.all(cards.map(async (card) => (await card?.installer?.())?.default));
  const isProjects = (installer: (typeof installers)[number]) => installer?.scopes.includes("user") === false;
  return names.length > 0 && installers.every(isProjects) ? "project" : "user";
}

/** All agents that have an installer for this scope. */
export async function installableAgents(scope: Scope, agents: AgentLookup): Promise<readonly InstallableAgent[]> {
  const found: InstallableAgent[] = [];
  for (const agent of await agents.list()) {
    const installer = (await agent.installer?.())?.default;
    if (installer?.scopes.includes(scope)) found.push({ agent, installer });
  }
  return found;
}

/** @throws FileError if one cannot be read; UserError if one is not UTF-8, which an edit would damage */
export const readSettingsFiles = (paths: readonly string[]): Promise<readonly SettingsFile[]> =>
  Promise.all(paths.map(readSettingsFile));

/** Runs an installer's edit; its error becomes one line with the file's name. */
export function edited<T>(files: readonly SettingsText[], edit: () => T): T {
  try {
    return edit();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    // Only the installer knows which of several files it was
    const named = "path" in error && typeof error.path === "string" ? [error.path] : files.map(({ path }) => path);
    throw new UserError(error.code, `${named.join(" or ")}, ${error.message}; nothing was changed`, 2, {
      cause: error,
    });
  }
}

/**
 * What to leave of a file that existed before `enable`, when nothing remains in it without our entries.
 *
 * @returns an empty document; `undefined` if the file must be deleted: it is a script, or has our name
 */
export function emptied({ path, text }: SettingsText): string | undefined {
  if (text?.startsWith("#!") || basename(path).includes("openhook-otel")) return undefined;
  return /\.jsonc?$/.test(path) ? "{}\n" : "";
}

/** Paths as a list for messages; more than two in one folder are shown as the folder. */
export function listed(paths: readonly string[]): string {
  const [first] = paths;
  if (first === undefined || paths.length <= 2) return paths.join(" and ");
  const folder = dirname(first);
  if (paths.every((path) => dirname(path) === folder)) return `${folder} (${paths.length} files)`;
  return `${paths.slice(0, -1).join(", ")} and ${paths.at(-1)}`;
}

/** Turns file system errors into the one line that `program.ts` prints. */
export async function withUserErrors<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof FileError) throw new UserError(error.code, error.message, 1, { cause: error });
    throw error;
  }
}

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

/** Runs something for each agent in turn. With `complain` a failed one is skipped, otherwise the first failure ends it. */
export async function forEachAgent<T, R>(
  all: readonly T[],
  complain: ((error: unknown, one: T) => void) | undefined,
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (const item of all) {
    try {
      done.push(await work(item));
    } catch (error) {
      if (complain === undefined || !(error instanceof UserError || error instanceof FileError)) throw error;
      complain(error, item);
    }
  }
  return done;
}

/** Prints an error on stderr and continues. */
export const complainTo =
  ({ stderr }: Pick<Context, "stderr">) =>
  (error: unknown): void => {
    stderr.write(`openhook-otel: ${error instanceof Error ? error.message : String(error)}\n`);
  };

// --- internal ---

/** How to record an agent whose settings no installer edits. */
function byHand({ title, docs, source, callsModels, known, runsHooksOf = [] }: Agent, all: readonly Agent[]): string {
  const others = all.filter((other) => runsHooksOf.includes(other.source));
  if (others.length > 0) {
    const commands = others.map(({ source }) => suggest(`enable ${source}`));
    return `${title} also runs the hooks of ${others.map((other) => other.title).join(" and of ")}; one is enough: run ${commands.join(" or ")}`;
  }
  if (callsModels === false) return `${title} are recorded by wrappers: run ${suggest("wrap")}`;
  const events = known?.events.filter((event) => known.notNeeded?.includes(event) !== true) ?? [];
  const [example = "<event>"] = events;
  return (
    `${title} has no settings that enable can change. In its own hook settings (${docs}), paste this command for each ` +
    `event${events.length === 0 ? "" : ` that it has of ${events.join(", ")}`}, with the event's name at the end: ` +
    suggestAnywhere(`hook --source ${source} --event ${example}`)
  );
}

async function readSettingsFile(path: string): Promise<SettingsFile> {
  await refuseOdd(path);
  const bytes = await readFileIfAny(path);
  if (bytes === undefined) return { path, bytes, text: undefined };
  try {
    return { path, bytes, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    const isUtf16 = bytes.length > 1 && [0xfffe, 0xfeff].includes(bytes.readUInt16BE(0));
    const what = isUtf16 ? "is UTF-16, as Windows PowerShell's > writes it; save it as UTF-8" : "is not UTF-8 text";
    throw new UserError("E_SETTINGS", `${path} ${what}; nothing was changed`, 2, { cause: error });
  }
}

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
