import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, open, readdir, readFile, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Context } from "#config/context.ts";
import { replaceFile } from "#config/files.ts";
import { folderOf, isCopy, isVersion, UNFINISHED } from "./copy-folders.ts";
import { managedFolderOf } from "./managed-places.ts";

/**
 * Removes the copies beside `current` that nothing uses: hooks have started `current` for an hour, and no process runs them. Also what killed
 * processes left.
 *
 * @param current the program that hooks start; it is a copy
 * @returns the folders that were removed
 */
export async function removeOldCopies(
  current: string,
  { now, platform }: Pick<Context, "now" | "platform">,
): Promise<readonly string[]> {
  const oldest = now() - UNUSED_MS;
  if ((await ageOf(folderOf(current))) > oldest) return [];
  const { copies, unfinished } = await copiesIn(dirname(folderOf(current)));
  const removed: string[] = [];
  for (const folder of [...copies.filter((copy) => copy !== folderOf(current)), ...unfinished]) {
    if ((await ageOf(folder)) <= oldest && (await removeCopy(folder, platform))) removed.push(folder);
  }
  return removed;
}

/** The same for a drain that a hook started. @throws never */
export async function tidyCopies({ programPath, places, now, platform }: Context): Promise<void> {
  if (!isCopy(programPath, places)) return;
  // Only root can remove copies that serve all users. Windows does not say before the attempt, which takes seconds
  const copiesDir = dirname(folderOf(programPath));
  if (platform === "win32" ? copiesDir === managedFolderOf(platform) : !(await isWritable(copiesDir))) return;
  await removeOldCopies(programPath, { now, platform }).catch(() => []);
}

/** Every copy in this folder, and what killed processes left there. */
export async function copiesIn(
  copiesDir: string,
): Promise<{ readonly copies: readonly string[]; readonly unfinished: readonly string[] }> {
  const names = await readdir(copiesDir).catch(() => []);
  const paths = (isOne: (name: string) => boolean) =>
    names
      .filter(isOne)
      .sort()
      .map((name) => join(copiesDir, name));
  return { copies: paths(isVersion), unfinished: paths((name) => name.startsWith(UNFINISHED)) };
}

/**
 * Removes copies, and waits for processes that run them and end within five seconds: a drain rarely takes as long.
 *
 * @returns those that are left
 */
export async function removeCopies(folders: readonly string[], platform: NodeJS.Platform): Promise<readonly string[]> {
  let left = folders;
  for (let tries = 1; left.length > 0; tries++) {
    const tried = await Promise.all(left.map(async (folder) => ((await removeCopy(folder, platform)) ? [] : [folder])));
    left = tried.flat();
    if (left.length === 0 || tries === RUNNING_TRIES) break;
    await sleep(RUNNING_RETRY_MS);
  }
  return left;
}

// --- internal ---

/**
 * Removes a copy, unless a process runs it.
 *
 * @returns whether it is gone
 */
async function removeCopy(folder: string, platform: NodeJS.Platform): Promise<boolean> {
  const isUsed = platform === "win32" ? hasLoadedPart(folder) : isRunning(folder);
  if (await isUsed.catch(() => true)) return false;
  const away = join(dirname(folder), `${UNFINISHED}old-${process.pid}-${Date.now()}`);
  try {
    // In one step: a killed process leaves no part under the name of a copy
    await replaceFile(folder, away, platform);
    // On Windows a virus scanner can have a file open
    await rm(away, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch {
    // What is left under the other name is removed the next time
    return false;
  }
  await rmdir(dirname(folder)).catch(() => {});
  return true;
}

const RUNNING_TRIES = 25;
const RUNNING_RETRY_MS = 200;

/** Longer than a drain runs, also on another machine that shares this home, whose processes we cannot see. */
const UNUSED_MS = 3_600_000;

const isWritable = (folder: string): Promise<boolean> =>
  access(folder, constants.W_OK).then(
    () => true,
    () => false,
  );

/** When the copy was chosen, or an unfinished one begun. */
const ageOf = (folder: string): Promise<number> =>
  stat(folder).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );

/** Whether a process has loaded the native part: Windows opens no loaded library for writing. */
async function hasLoadedPart(folder: string): Promise<boolean> {
  const paths = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of paths.filter((path) => path.name.endsWith(".node"))) {
    const part = await open(join(parentPath, name), "r+").catch((error: NodeJS.ErrnoException) => error.code);
    if (typeof part === "object") await part.close();
    else if (part === "EBUSY") return true;
  }
  return false;
}

async function isRunning(folder: string): Promise<boolean> {
  const own = String(process.pid);
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name) && name !== own);
  if (pids.length === 0) {
    const { stdout } = await promisify(execFile)("/bin/ps", ["-axww", "-o", "pid=,args="], { maxBuffer: 1 << 26 });
    return stdout.split("\n").some((line) => line.includes(`${folder}/`) && Number.parseInt(line, 10) !== process.pid);
  }
  for (const pid of pids) {
    const command = await readFile(join("/proc", pid, "cmdline"), "utf8").catch(() => "");
    if (command.includes(`${folder}/`)) return true;
  }
  return false;
}
