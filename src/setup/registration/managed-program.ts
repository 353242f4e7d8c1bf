import { existsSync } from "node:fs";
import { chown, mkdir, readdir, realpath, rmdir, stat } from "node:fs/promises";
import { dirname, join, win32 } from "node:path";
import type { Context } from "#config/context.ts";
import { readFileIfAny, removeFile, writeFileAtomic } from "#config/files.ts";
import { distrust, distrustFolder } from "#config/machine-file.ts";
import { isProgram } from "#config/programs.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { readHookConf } from "./hook-conf.ts";
import { copyTo, noteChosen } from "./installed-copy.ts";
import { FOLDERS_RECORD } from "./managed-folders.ts";
import { managedConf, managedConfPathOf, managedFolderOf, managedHookOf } from "./managed-places.ts";
import { copiesIn, removeCopies, removeOldCopies } from "./old-copies.ts";

/**
 * Installs the hook program for all users, and a copy of this program. A copy that is no longer used stays for an hour, for drains.
 *
 * @returns the program that hooks start now, and whether they started another one before
 * @throws UserError if users cannot run Node, or somebody else than root could replace what they run
 */
export async function installManagedProgram(
  context: Context,
  hookSource: string,
): Promise<{ readonly program: string; readonly isNew: boolean }> {
  const { nodePath, platform, now } = context;
  const problem = await unusableNode(context);
  if (problem !== undefined) throw new UserError("E_MANAGED", problem, 1);
  const hook = await readFileIfAny(hookSource);
  if (hook === undefined) throw new UserError("E_INSTALLATION", `${hookSource} is missing: install again`, 1);
  const folder = managedFolderOf(platform);
  await needRootsFolder(folder, platform);
  const [hookPath, confPath] = [managedHookOf(platform), managedConfPathOf(platform)];
  const { program: before } = await readHookConf(confPath);
  const program = await copyTo(folder, context, {
    isUsable: async (copy) => platform === "win32" || isRootsAndReadable(copy),
    mode: 0o755,
  });
  if (program !== before) await noteChosen(program, now());
  // The hook program reads its configuration, so that is written first
  for (const [path, content, mode] of [
    [confPath, managedConf(nodePath, program, platform), 0o644],
    [hookPath, hook, 0o755],
  ] as const) {
    await writeFileAtomic(path, content, { mode, forceMode: true });
    // An existing file keeps its owner. Windows has access lists, which files inherit from their folder
    if (platform !== "win32") await chown(path, 0, 0);
  }
  if (platform !== "win32" && !isProgram(hookPath)) {
    throw new UserError("E_MANAGED", `${hookPath} cannot be executed: its folder does not allow programs (noexec)`, 1);
  }
  await removeOldCopies(program, context);
  return { program, isNew: program !== before };
}

/** What `enable --managed` has installed: the files, the copies, and what killed processes left of them. */
export async function managedProgramFiles(
  platform: NodeJS.Platform,
): Promise<{ readonly files: readonly string[]; readonly folders: readonly string[] }> {
  const folder = managedFolderOf(platform);
  const names = await readdir(folder).catch(() => []);
  const { copies, unfinished } = await copiesIn(folder);
  return {
    files: names.filter(isOwnFile).map((name) => join(folder, name)),
    folders: [...copies, ...unfinished],
  };
}

/** @returns what was removed, and copies that stay because a process runs them */
export async function removeManagedProgram(
  platform: NodeJS.Platform,
): Promise<{ readonly removed: boolean; readonly running: readonly string[] }> {
  const { files, folders } = await managedProgramFiles(platform);
  for (const path of files) await removeFile(path);
  const running = await removeCopies(folders, platform);
  // Fails if something else is in it, which must stay
  await rmdir(managedFolderOf(platform)).catch(() => {});
  return { removed: files.length + folders.length > running.length, running };
}

/** Why other users could not run this Node, or could replace it, with the remedy; `undefined` if all is well. */
export async function unusableNode({
  nodePath,
  programPath,
  platform,
}: Pick<Context, "nodePath" | "programPath" | "platform">): Promise<string | undefined> {
  if (platform === "win32") return unusableOnWindows(nodePath);
  const problem = await unusable(nodePath);
  if (problem === undefined) return undefined;
  const others = await Promise.all(
    USUAL_NODES.map(async (path) => ((await unusable(path)) === undefined ? [path] : [])),
  );
  const [usable] = others.flat();
  const remedy =
    usable === undefined
      ? `install Node for all users and start this command with it, for example: ${USUAL_NODES[platform === "darwin" ? 0 : 1]} ${programPath} enable --managed`
      : `start this command with a Node for all users: ${usable} ${programPath} enable --managed`;
  return `all users' hooks would start ${nodePath}, but ${problem}; ${remedy}`;
}

/**
 * Why users could replace this program of Windows, or only one of them could start it; `undefined` if all is well. Elsewhere users can
 * write, also in folders that they make at the top of a disk, and version managers install below one user's profile.
 */
export async function outsideProgramFiles(path: string): Promise<string | undefined> {
  const isIn = (file: string) =>
    PROGRAM_FILES.some((folder) => win32.normalize(file).toLowerCase().startsWith(`${folder.toLowerCase()}\\`));
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return "it does not exist";
  const outside = [path, target].find((file) => !isIn(file));
  if (outside === undefined) return undefined;
  const leads = outside === path ? "it" : `it leads to ${outside}, which`;
  return `${leads} is not in ${PROGRAM_FILES[0]}, where only administrators can write`;
}

// --- internal ---

const USUAL_NODES = ["/usr/local/bin/node", "/usr/bin/node"] as const;

const OWN_FILES = ["hook", "hook.cjs", "hook.conf", FOLDERS_RECORD];

/** Also what a killed process left of one. */
const isOwnFile = (name: string): boolean =>
  OWN_FILES.includes(name) || OWN_FILES.includes(/^\.(.+)\.[0-9a-f]{12}\.tmp$/.exec(name)?.[1] ?? "");

const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;
const GROUP_OR_OTHERS_WRITE = 0o022;

/** @throws UserError if somebody else than root could replace programs in it */
async function needRootsFolder(folder: string, platform: NodeJS.Platform): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 }).catch((error: unknown) => {
    throw new UserError("E_MANAGED", `cannot create ${folder} for all users: ${messageOf(error)}`, 1, { cause: error });
  });
  // In a folder of Windows' that only administrators can write
  if (platform === "win32") return;
  const target = await realpath(folder);
  const problem = (await distrustFolder(target)) ?? (await unenterable(target));
  if (problem === undefined) return;
  // It stays if there is something in it
  await rmdir(folder).catch(() => {});
  throw new UserError("E_MANAGED", `all users' hooks would start programs in ${folder}, but ${problem}`, 1);
}

/** Whether a folder and everything in it belong to root, are not writable by others, and readable by everybody. */
async function isRootsAndReadable(folder: string): Promise<boolean> {
  const names = await readdir(folder, { recursive: true });
  // Node's cache is for the user who made it only, here for root
  const ofProgram = names.filter((name) => !name.startsWith(COMPILE_CACHE));
  const found = await Promise.all(["", ...ofProgram].map((name) => stat(join(folder, name))));
  return found.every(
    ({ uid, mode }) => uid === 0 && (mode & GROUP_OR_OTHERS_WRITE) === 0 && (mode & OTHERS_READ) !== 0,
  );
}

/** See src/bin.cjs. */
const COMPILE_CACHE = join("node_modules", ".compile-cache");

/** Where only administrators can write, and every user can read. Fixed, because a variable could come from a repository. */
const PROGRAM_FILES = ["C:\\Program Files", "C:\\Program Files (x86)"] as const;

async function unusableOnWindows(nodePath: string): Promise<string | undefined> {
  const problem = await outsideProgramFiles(nodePath);
  if (problem === undefined) return undefined;
  const usual = win32.join(PROGRAM_FILES[0], "nodejs", "node.exe");
  const remedy = existsSync(usual)
    ? `start this command with a Node for all users: ${usual}`
    : "install Node for all users (its installer does) and start this command with it";
  return `all users' hooks would start ${nodePath}, but ${problem}; ${remedy}`;
}

async function unusable(path: string): Promise<string | undefined> {
  const target = await realpath(path).catch(() => undefined);
  if (target === undefined) return "it does not exist";
  const problem = await distrust(target);
  if (problem !== undefined) return problem;
  if (((await stat(target)).mode & OTHERS_ENTER) === 0) return "they cannot execute it";
  return (await unenterable(dirname(target))) ?? unenterable(dirname(path));
}

/** The first folder, from here up, that others than root cannot enter. */
async function unenterable(start: string): Promise<string | undefined> {
  for (let folder = start; ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & OTHERS_ENTER) === 0) return `they cannot enter ${folder}`;
    if (folder === dirname(folder)) return undefined;
  }
}
