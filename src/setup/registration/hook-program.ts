import { accessSync, constants, statSync } from "node:fs";
import { chmod, mkdir, rmdir, stat } from "node:fs/promises";
import { dirname, join, posix, win32 } from "node:path";
import { posixCommand, projectLine, startIfThere } from "#agents/shared/settings/project-line.ts";
import {
  END,
  type SharedProgram,
  sharedWindowsCommand,
  type WindowsLine,
  windowsLine,
} from "#agents/shared/settings/windows-line.ts";
import { cannotCreate } from "#collect/intake/inbox-dirs.ts";
import { LOST_COUNT } from "#collect/intake/inbox-file.ts";
import type { Context } from "#config/context.ts";
import { readFileIfAny, removeFile, writeFileAtomic } from "#config/files.ts";
import { placesOf } from "#config/places.ts";
import type { HookCommand } from "#core/model/agent.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { summaryPath } from "#show/statusline/summary.ts";
import { makeSpareFiles } from "#store/spare-files.ts";
import { folderOf, isCopy } from "./copy-folders.ts";
import { readHookConf } from "./hook-conf.ts";
import { installCopy, noteChosen } from "./installed-copy.ts";
import { copiesIn, removeCopies, removeOldCopies } from "./old-copies.ts";
import { posixArgs, posixLine, quoted, shortPath } from "./posix-line.ts";
import { refuseSudo } from "./sudo.ts";
import { wrappedPrograms, wrapperPathOf, wrapperProgram } from "./wrappers.ts";

/**
 * The command line that agents run. The user's is short (at most 110 characters in the default location), because some agents show it to
 * the model.
 *
 * - On Linux and macOS the user's line runs in every shell that its agent may use: see `posixLine`.
 * - A project's line is the same on every machine and for every system, and contains no person's path: see `projectLine`.
 * - A missing program exits with 0: an uninstalled hook must not disturb the agent (Copilot would deny the tool).
 * - On Windows every shell that agents use runs it: see `windowsLine`.
 */
export function hookCommandOf(context: Context, scope: "user" | "project"): HookCommand {
  if (scope === "project") return projectCommandOf(context);
  const { places, platform, env } = context;
  if (platform === "win32") return (options) => windowsLine(onWindows(context), windowsArgs(options));
  const program = isStandard(places) ? STANDARD : quoted(places.hookPath);
  return (options) => posixLine(program, posixArgs(options), env, options.shell);
}

/** The command line of a status line. Like a hook's, it does nothing if the program is missing. */
export function statusLineCommandOf(context: Context, source: string): string {
  const { places, platform } = context;
  const path = statusLinePathOf(context);
  if (platform === "win32") return windowsLine({ ...onWindows(context), hookPath: path }, [source]);
  const standard = join(places.home, ".local", "share", "openhook-otel", "statusline") === path;
  const program = standard ? "~/.local/share/openhook-otel/statusline" : quoted(path);
  const line = startIfThere(program, [source]);
  return standard ? line : `${line} #openhook-otel`;
}

/** The program that prints status lines: beside the hook program, whose configuration it reads. */
export const statusLinePathOf = ({ places, platform }: Pick<Context, "places" | "platform">): string =>
  join(dirname(places.hookPath), platform === "win32" ? "statusline.cjs" : "statusline");

/** A copy of the hook program for shells that read it: see `readIfThere`. On Windows there is none. */
export const readHookPathOf = ({ hookPath }: Pick<Context["places"], "hookPath">): string => `${hookPath}.sh`;

/** For `windowsLine`. */
export const onWindows = (context: Context): WindowsLine => ({
  hookPath: context.places.hookPath,
  nodePath: shortPath(context.nodePath, context),
});

/**
 * Installs the program that agents start, a copy of this program for its drains, its configuration and its directories, and the programs
 * for wrappers and status lines if they are used. Correct files are not rewritten.
 *
 * @param hookSource the shipped program, absolute
 * @returns whether anything was missing or different
 * @throws UserError if the shipped program is missing, `sudo` made this root, or the location does not allow programs; FileError
 *         if a location cannot be written
 */
export async function installHookProgram(
  context: Context,
  hookSource: string,
  { statusLine = false }: { readonly statusLine?: boolean } = {},
): Promise<boolean> {
  const { places, nodePath, platform } = context;
  await refuseSudo(context);
  const program = await shipped(hookSource);
  for (const path of [places.stateDir, places.inboxDir, places.claimedDir, places.quarantineDir]) {
    await makePrivate(path, platform);
  }
  makeSpareFiles(places.stateDir, LOST_COUNT);
  const { program: before } = await readHookConf(places.hookConfPath);
  const copy = await installCopy(context);
  if (copy !== before && isCopy(copy, places)) await noteChosen(copy, context.now());
  const conf = `state=${quoted(places.stateDir)}\nnode=${quoted(nodePath)}\nprogram=${quoted(copy)}\n`;
  // The program reads its configuration, so that is written first
  const written = [
    await writeIfDifferent(places.hookConfPath, Buffer.from(conf), platform === "win32" ? 0 : 0o600),
    // Windows has no modes
    await writeIfDifferent(places.hookPath, program, platform === "win32" ? 0 : 0o755),
  ];
  if (platform !== "win32") written.push(await writeIfDifferent(readHookPathOf(places), program, 0o600));
  const wrapper = wrapperPathOf(places);
  if ((await readFileIfAny(wrapper)) !== undefined) {
    const content = wrapperProgram(context, await wrappedPrograms(context));
    written.push(await writeIfDifferent(wrapper, Buffer.from(content), 0o755));
  }
  if (statusLine || (await readFileIfAny(summaryPath(places.stateDir))) !== undefined) {
    // Drains write the figures only if the file exists
    if (statusLine) written.push(await makeIfMissing(summaryPath(places.stateDir)));
    const content = await shipped(statusLineSource(hookSource, platform));
    written.push(await writeIfDifferent(statusLinePathOf(context), content, platform === "win32" ? 0 : 0o755));
  }
  if (isNoexec(places.hookPath, platform)) throw new UserError("E_INSTALLATION", noexecText(places.hookPath), 1);
  if (isCopy(copy, places)) await removeOldCopies(copy, context);
  return written.includes(true);
}

/** Whether the installed programs are the shipped ones; updating this program does not replace them. */
export async function isHookCurrent(
  { places, platform }: Pick<Context, "places" | "platform">,
  hookSource: string,
): Promise<boolean> {
  const program = await shipped(hookSource);
  for (const path of [places.hookPath, ...(platform === "win32" ? [] : [readHookPathOf(places)])]) {
    if ((await readFileIfAny(path))?.equals(program) !== true) return false;
  }
  const statusLine = await readFileIfAny(statusLinePathOf({ places, platform }));
  return statusLine?.equals(await shipped(statusLineSource(hookSource, platform))) !== false;
}

/** Whether a program cannot be started although its mode allows it, as on a `noexec` file system. */
export function isNoexec(path: string, platform: NodeJS.Platform): boolean {
  // On Windows Node runs it
  if (platform === "win32") return false;
  try {
    accessSync(path, constants.X_OK);
    return false;
  } catch {
    return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o111) === 0o111;
  }
}

/** The problem and its remedy. */
export const noexecText = (path: string): string =>
  `${path} cannot be executed: its folder does not allow programs (noexec), so agents could not be collected; set OPENHOOK_OTEL_HOME to a folder that allows programs, then: ${suggest("enable")}`;

/**
 * Removes the program, its configuration and the copies for its drains. The state stays.
 *
 * @returns copies that could not be removed, because a process runs them
 */
export async function removeHookProgram(context: Context): Promise<readonly string[]> {
  const { places, platform } = context;
  const folders = await installedFolders(places);
  await removeFile(statusLinePathOf(context));
  await removeFile(summaryPath(places.stateDir));
  await removeFile(readHookPathOf(places));
  await removeFile(places.hookPath);
  await removeFile(places.hookConfPath);
  const left = await removeCopies(folders, platform);
  const directory = dirname(places.hookPath);
  // Fails if the user has files in it, which must stay
  if (directory !== places.stateDir) await rmdir(directory).catch(() => {});
  return left;
}

/** Every copy of this program, in use or not, and what killed processes left of one. */
export async function installedFolders(places: Context["places"]): Promise<readonly string[]> {
  const { program } = await readHookConf(places.hookConfPath);
  const recorded = program !== null && isCopy(program, places) ? [dirname(folderOf(program))] : [];
  const all = await Promise.all([...new Set([places.copiesDir, ...recorded])].map(copiesIn));
  return all.flatMap(({ copies, unfinished }) => [...copies, ...unfinished]);
}

/** The words of a line for Windows. The program knows the agents' replies; no quoting of one is the same in all shells there. */
export const windowsArgs = ({ source, event, drain }: HookOptions): readonly string[] => [
  ...["--source", source, "--drain", drain],
  ...(event === undefined ? [] : ["--event", event]),
];

// --- internal ---

async function shipped(hookSource: string): Promise<Buffer> {
  const program = await readFileIfAny(hookSource);
  if (program !== undefined) return program;
  throw new UserError("E_INSTALLATION", `${hookSource} is missing: build or install openhook-otel again`, 1);
}

/** Where it is on every POSIX system, unless `OPENHOOK_OTEL_HOME` moves it. */
const STANDARD = "~/.local/share/openhook-otel/hook";

const isStandard = ({ home, hookPath }: Context["places"]): boolean =>
  join(home, ".local", "share", "openhook-otel", "hook") === hookPath;

type HookOptions = Parameters<HookCommand>[0];

function projectCommandOf(context: Context): HookCommand {
  const { places, platform } = context;
  const moved = movedProgram(context);
  const posixProgram = moved === undefined || platform === "win32" ? STANDARD : moved.posix;
  const windowsProgram: SharedProgram =
    moved === undefined || platform !== "win32" ? { in: "usual folder" } : moved.windows;
  if (!/^[\w.:/-]+$/.test(posixProgram.replace(/^~/, ""))) {
    throw new UserError(
      "E_STATE",
      `a project's settings cannot name ${places.hookPath} for every shell: set OPENHOOK_OTEL_HOME to a folder whose name has only ASCII letters, digits, and . _ -`,
    );
  }
  return (options) => {
    const line = { posixProgram, posixArgs: posixArgs(options), windowsProgram, windowsArgs: windowsArgs(options) };
    if (options.system === "posix") return posixCommand(line);
    if (options.system === "windows") return `${sharedWindowsCommand(windowsProgram, line.windowsArgs)} ${END}`;
    return projectLine(line);
  };
}

/** Where `OPENHOOK_OTEL_HOME` has moved the program to, without the home's own path; `undefined` if it is at its usual place. */
function movedProgram(context: Context): { readonly posix: string; readonly windows: SharedProgram } | undefined {
  const { env, places, platform } = context;
  const usual = placesOf({ env: { ...env, OPENHOOK_OTEL_HOME: undefined }, home: places.home, platform });
  const path = slashed(places.hookPath);
  if (slashed(usual.hookPath) === path) return undefined;
  const below = slashed((platform === "win32" ? win32 : posix).relative(places.home, path));
  const isInHome = !below.startsWith("../") && !/^(?:[A-Za-z]:)?\//.test(below);
  return isInHome
    ? { posix: `~/${below}`, windows: { in: "home", path: below } }
    : { posix: path, windows: { in: "machine", path } };
}

const slashed = (path: string): string => path.replaceAll("\\", "/");

async function makePrivate(path: string, platform: NodeJS.Platform): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (platform !== "win32" && ((await stat(path)).mode & 0o077) !== 0) await chmod(path, 0o700);
  } catch (error) {
    throw new UserError("E_STATE", await cannotCreate(path, error), 1, { cause: error });
  }
}

const statusLineSource = (hookSource: string, platform: NodeJS.Platform): string =>
  join(dirname(hookSource), platform === "win32" ? "statusline.cjs" : "statusline.sh");

/** @returns whether it was written */
async function makeIfMissing(path: string): Promise<boolean> {
  if ((await readFileIfAny(path)) !== undefined) return false;
  await writeFileAtomic(path, "");
  return true;
}

/** @returns whether it was written */
async function writeIfDifferent(path: string, content: Buffer, mode: number): Promise<boolean> {
  const now = await readFileIfAny(path);
  const right = now?.equals(content) === true && ((await stat(path)).mode & mode) === mode;
  if (!right) await writeFileAtomic(path, content, { mode, forceMode: true });
  return !right;
}
