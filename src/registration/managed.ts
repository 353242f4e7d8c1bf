import { realpath, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readFileIfAny, removeFile, writeFileAtomic } from "../config/files.ts";
import { distrust } from "../config/machine-file.ts";
import { type Context, UserError } from "../context.ts";
import type { Agent, HookCommand } from "../model/agent.ts";
import type { ManagedInstaller } from "../model/managed.ts";
import { type AgentLookup, edited } from "./settings-edit.ts";

/** The hook program for all users of a machine, with its configuration beside it. */
export const MANAGED_FOLDER = "/usr/local/lib/openhook-otel";

/** An agent with a place for an administrator's hooks, and the file there. */
export interface ManagedFile {
  readonly agent: Agent;
  readonly managed: ManagedInstaller;
  readonly path: string;
  /** `undefined` if there is no file. */
  readonly text: string | undefined;
}

/** @param names none: every agent with such a place @throws UserError for an agent without one, and on Windows */
export async function managedFiles(
  names: readonly string[],
  { platform }: Pick<Context, "platform">,
  agents: AgentLookup,
): Promise<readonly ManagedFile[]> {
  if (platform === "win32") {
    throw new UserError("E_MANAGED", "--managed is for Linux and macOS; on Windows enable each user's hooks", 2);
  }
  const all: Omit<ManagedFile, "text">[] = [];
  for (const agent of await agents.list()) {
    const managed = (await agent.installer?.())?.default.managed;
    const path = managed?.path(platform);
    if (managed !== undefined && path !== undefined) all.push({ agent, managed, path });
  }
  const unknown = names.find((name) => !all.some(({ agent }) => agent.source === name));
  if (unknown !== undefined) {
    const known = all.map(({ agent }) => agent.source).join(", ");
    throw new UserError("E_AGENT", `${unknown} documents no place for an administrator's hooks; these do: ${known}`, 2);
  }
  const chosen = names.length === 0 ? all : all.filter(({ agent }) => names.includes(agent.source));
  return Promise.all(chosen.map(async (one) => ({ ...one, text: (await readFileIfAny(one.path))?.toString("utf8") })));
}

/** The file with our hooks in it. @throws UserError that names the file */
export const withHooks = ({ path, text, managed }: ManagedFile): string =>
  edited([{ path, text }], () => managed.add(text, managedCommand));

export const withoutHooks = ({ managed, text }: ManagedFile): string | undefined =>
  text === undefined ? undefined : managed.remove(text);

/** Whether our hooks are registered for all users. */
export const isManaged = ({ managed, text }: Pick<ManagedFile, "managed" | "text">): boolean =>
  text !== undefined && managed.registered(text).length > 0;

/** Writes or removes an administrator's file; all users can read it. */
export async function writeManaged(path: string, text: string | undefined): Promise<void> {
  if (text === undefined) return removeFile(path);
  await writeFileAtomic(path, text, { mode: 0o644, dirMode: 0o755 });
}

/**
 * The configuration of the hook program: each user's own state. What a user's own `enable` recorded counts; otherwise the usual places,
 * without the variable that a repository could set.
 */
export const managedConf = ({ nodePath, programPath }: Pick<Context, "nodePath" | "programPath">): string =>
  [
    "# Written by enable --managed: each user's hooks use that user's own state",
    `[ ! -r "\${HOME-}/.local/share/openhook-otel/hook.conf" ] || command . "\${HOME-}/.local/share/openhook-otel/hook.conf"`,
    '[ -n "$state" ] || unset OPENHOOK_OTEL_HOME',
    `node=${quoted(nodePath)}`,
    `program=${quoted(programPath)}`,
    "",
  ].join("\n");

/** @throws UserError for a program in a package manager's cache: every user's hooks would end with it */
export function needLastingProgram({ programPath }: Pick<Context, "programPath">): void {
  if (!CACHE.test(programPath)) return;
  const what = `all users' hooks would run ${programPath}, which is in a cache that may be emptied at any time`;
  const advice = "install the package first (npm install --global openhook-otel), then use the installed program";
  throw new UserError("E_MANAGED", `${what}: ${advice}`, 1);
}

/**
 * Installs the hook program for all users.
 *
 * @throws UserError unless root runs it, and if users cannot run Node and the program, or somebody else than root could replace them
 */
export async function installManagedProgram(context: Context, hookSource: string): Promise<void> {
  const { nodePath, programPath } = context;
  for (const path of [nodePath, programPath]) {
    const problem = await unusable(path);
    if (problem === undefined) continue;
    const advice = "install Node and openhook-otel for all users, e.g. below /usr/local";
    throw new UserError("E_MANAGED", `all users would run ${path}, but ${problem}: ${advice}`, 1);
  }
  const program = await readFileIfAny(hookSource);
  if (program === undefined) throw new UserError("E_INSTALLATION", `${hookSource} is missing: install again`, 1);
  const [conf, hook] = ["hook.conf", "hook"].map((name) => join(MANAGED_FOLDER, name)) as [string, string];
  await writeFileAtomic(conf, managedConf(context), { mode: 0o644, forceMode: true, dirMode: 0o755 });
  await writeFileAtomic(hook, program, { mode: 0o755, forceMode: true, dirMode: 0o755 });
}

export async function removeManagedProgram(): Promise<void> {
  for (const name of ["hook", "hook.conf"]) await removeFile(join(MANAGED_FOLDER, name));
  // Fails if something else is in it, which must stay
  await rmdir(MANAGED_FOLDER).catch(() => {});
}

/** @throws UserError unless this is root */
export function needRoot(what: string): void {
  if (process.geteuid?.() === 0) return;
  throw new UserError("E_ROOT", `${what} changes settings of all users: run it as root (sudo), or add --print`, 1);
}

/** As `hookCommandOf`, for a program at fixed places. @param start the beginning of the line, up to the program */
export const posixCommand =
  (start: string): HookCommand =>
  ({ source, event, reply, drain }) => {
    const flags = { yes: ["-d"], "if-waiting": ["-w"], soon: ["-s"], no: [] } as const;
    const args = [
      ...(event === undefined && reply === undefined ? [] : [word(event ?? "")]),
      ...(reply === undefined ? [] : [word(reply)]),
    ];
    return [start, ...flags[drain], source, ...args].join(" ");
  };

// --- internal ---

/** A missing program exits with 0. */
const managedCommand: HookCommand = (options) => {
  const program = `${MANAGED_FOLDER}/hook`;
  const start =
    options.shell === "user" ? `[ ! -x ${program} ]||exec ${program}` : `h=${program};[ ! -x "$h" ]||exec "$h"`;
  return posixCommand(start)(options);
};

/** Folders of npx, pnpm dlx, yarn dlx and bunx. */
const CACHE = /[\\/](?:_npx|dlx|dlx-[^\\/]+|bunx-[^\\/]+|_cacache)[\\/]/;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const word = (text: string): string => (text !== "" && /^[\w.:/-]+$/.test(text) ? text : quoted(text));

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

async function unusable(path: string): Promise<string | undefined> {
  const target = await realpath(path);
  const problem = await distrust(target);
  if (problem !== undefined) return problem;
  if (((await stat(target)).mode & OTHERS_READ) === 0) return "they cannot read it";
  for (const start of [target, path]) {
    for (let folder = dirname(start); ; folder = dirname(folder)) {
      if (((await stat(folder)).mode & OTHERS_ENTER) === 0) return `they cannot enter ${folder}`;
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}
