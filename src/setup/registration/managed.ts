import { mkdtemp, rmdir } from "node:fs/promises";
import { win32 } from "node:path";
import { type WindowsLine, windowsLine } from "#agents/shared/settings/windows-line.ts";
import type { Context } from "#config/context.ts";
import { removeFile, writeFileAtomic } from "#config/files.ts";
import type { Agent, HookCommand } from "#core/model/agent.ts";
import type { ManagedInstaller } from "#core/model/installer.ts";
import { meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { unifiedDiff } from "#kit/text/diff.ts";
import { VERSION } from "#kit/version.ts";
import { folderOf, UNFINISHED } from "./copy-folders.ts";
import { windowsArgs } from "./hook-program.ts";
import { programIn } from "./installed-copy.ts";
import {
  managedConf,
  managedConfPathOf,
  managedFolderOf,
  managedHookOf,
  managedMachine,
  pathsOf,
} from "./managed-places.ts";
import { posixArgs, posixLine, shortPath, word } from "./posix-line.ts";
import { type AgentLookup, edited, readSettingsFiles } from "./settings.ts";

/** An agent with a place for an administrator's hooks, and the file there. */
export interface ManagedFile {
  readonly agent: Agent;
  readonly managed: ManagedInstaller;
  readonly path: string;
  /** `undefined` if there is no file. */
  readonly text: string | undefined;
}

/** @param names none: every agent with such a place @throws UserError for an agent without one */
export async function managedFiles(
  names: readonly string[],
  { platform }: Pick<Context, "platform">,
  agents: AgentLookup,
): Promise<readonly ManagedFile[]> {
  const all: Omit<ManagedFile, "text">[] = [];
  for (const agent of await agents.list()) {
    const managed = (await agent.installer?.())?.default.managed;
    const path = managed?.path(platform);
    if (managed !== undefined && path !== undefined) all.push({ agent, managed, path });
  }
  const unknown = names.find((name) => !all.some(({ agent }) => agent.source === name));
  if (unknown !== undefined) {
    const known = all.map(({ agent }) => agent.source);
    const these = `agents with a place for an administrator's hooks: ${known.join(", ")}`;
    const agent = await agents.find(unknown);
    const problem =
      agent === undefined
        ? `unknown agent ${JSON.stringify(unknown)}${meantAgent(unknown, await agents.list())}`
        : `${agent.title} documents no place for an administrator's hooks, so each user must run ${suggest(`enable ${unknown}`)}`;
    throw new UserError("E_AGENT", `${problem}; ${these}`, 2);
  }
  const chosen = names.length === 0 ? all : all.filter(({ agent }) => names.includes(agent.source));
  const read = await readSettingsFiles(chosen.map(({ path }) => path));
  return chosen.map((agent, index) => ({ ...agent, text: read[index]?.text }));
}

/** The file with our hooks in it. @throws UserError that names the file */
export const withHooks = ({ path, text, managed }: ManagedFile, context: ForLine): string =>
  edited([{ path, text }], () => managed.add(text, managedCommand(context), managedMachine(context.platform)));

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
 * @param otherwise what else the user can do
 * @throws UserError unless this is root, on Windows a process with an administrator's rights
 */
export async function needRoot(what: string, platform: NodeJS.Platform, otherwise = ""): Promise<void> {
  const isRoot = platform === "win32" ? await isElevated() : process.geteuid?.() === 0;
  if (isRoot) return;
  const how = platform === "win32" ? 'in a terminal that you open with "Run as administrator"' : "as root (sudo)";
  throw new UserError("E_ROOT", `${what} changes settings of all users: run it ${how}${otherwise}`, 1);
}

/** What an agent's line depends on. */
type ForLine = Pick<Context, "platform" | "nodePath" | "env">;

/** What all users' lines start on Windows. */
export const managedLine = (nodePath: string, context: Pick<Context, "platform" | "env">): WindowsLine => ({
  hookPath: managedHookOf("win32"),
  nodePath: shortPath(nodePath, context),
});

/** What a machine without such files gets. Comments come first, so that every line below a path belongs to that file. */
export function managedPrint(files: readonly ManagedFile[], hookSource: string, context: Context): string {
  const { platform, nodePath, programPath } = context;
  const program = programIn(pathsOf(platform).join(managedFolderOf(platform), VERSION));
  const isWindows = platform === "win32";
  const lines = [
    `# ${managedHookOf(platform)}: a copy of ${hookSource}${isWindows ? "" : "; mode 755"}`,
    `# ${folderOf(program)}: a copy of this program (${folderOf(programPath)}); only enable --managed makes it`,
    isWindows
      ? "# The files below: only administrators can write them, all users can read them"
      : "# The files below: mode 644; all belong to root",
    "",
    `==> ${managedConfPathOf(platform)}`,
    managedConf(nodePath, program, platform),
    ...files.flatMap((file) => [`==> ${file.path}`, withHooks({ ...file, text: undefined }, context).trimEnd(), ""]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What would change, for a dry run. */
export const managedDiff = (
  changes: readonly { readonly file: ManagedFile; readonly text: string | undefined }[],
): string =>
  changes
    .map(({ file, text }) =>
      text === file.text
        ? `${file.agent.title}: already enabled for all users in ${file.path}\n`
        : unifiedDiff(file, { path: file.path, text }),
    )
    .join("");

// --- internal ---

/** Only a process with an administrator's rights can write there; Node cannot ask Windows directly. */
async function isElevated(): Promise<boolean> {
  try {
    await rmdir(await mkdtemp(win32.join(win32.dirname(managedFolderOf("win32")), UNFINISHED)));
    return true;
  } catch {
    return false;
  }
}

/** A missing program exits with 0. */
const managedCommand = (context: ForLine): HookCommand => {
  const { platform, nodePath } = context;
  if (platform === "win32") {
    const line = managedLine(nodePath, context);
    return (options) => windowsLine(line, windowsArgs(options));
  }
  const program = word(managedHookOf(platform));
  // All users of the machine run this line, so it must not depend on the shell of one of them
  return (options) => posixLine(program, posixArgs(options), {});
};
