import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/** A file that must not be read, because its path leads to something that no agent writes. The message has the path and reason. */
export class RefusedError extends Error {
  readonly code = "E_REFUSED";
}

export interface Opened {
  readonly file: FileHandle;
  readonly stats: Stats;
}

/**
 * Opens a file for reading whose path comes from a payload or setting. It must be a regular file of this user in one of the
 * agent's folders, after links are resolved. Nothing else is ever opened, so no device is touched and no FIFO blocks.
 *
 * @param roots folders that must contain the file, with links in their own paths resolved; absent: anywhere
 * @throws RefusedError with the reason; otherwise the file system's error
 */
export async function openRegular(path: string, roots?: readonly string[]): Promise<Opened> {
  // Agents can replace files at any time, so the opened file is compared with the checked one
  for (let attempt = 1; ; attempt++) {
    const { real, before } = checkPath(path, roots);
    const file = await open(real, READ).catch((error: unknown) => {
      if (isLinkError(error)) return undefined;
      throw error;
    });
    try {
      const stats = file === undefined ? undefined : fstatSync(file.fd);
      if (file !== undefined && stats !== undefined && isSame(file.fd, stats, { path, real, before })) {
        return { file, stats };
      }
    } catch (error) {
      await file?.close();
      throw error;
    }
    await file?.close();
    if (attempt === ATTEMPTS) throw replaced(path);
  }
}

/** The same, synchronously, for threads that do nothing else: a small file is read faster than a promise resolves. */
export function openRegularSync(
  path: string,
  roots?: readonly string[],
): { readonly fd: number; readonly stats: Stats } {
  for (let attempt = 1; ; attempt++) {
    const { real, before } = checkPath(path, roots);
    const fd = openUnlessLink(real);
    try {
      const stats = fd === undefined ? undefined : fstatSync(fd);
      if (fd !== undefined && stats !== undefined && isSame(fd, stats, { path, real, before })) return { fd, stats };
    } catch (error) {
      if (fd !== undefined) closeSync(fd);
      throw error;
    }
    if (fd !== undefined) closeSync(fd);
    if (attempt === ATTEMPTS) throw replaced(path);
  }
}

/**
 * The content of a small file; `undefined` if it does not exist, is larger, or must not be read.
 *
 * @throws never
 */
export async function readSmall(
  path: string,
  maxBytes: number,
  roots: readonly string[] | undefined,
): Promise<{ readonly bytes: Buffer; readonly stats: Stats } | undefined> {
  try {
    const { file, stats } = await openRegular(path, roots);
    try {
      return stats.size > maxBytes ? undefined : { bytes: await readUpTo(file, maxBytes), stats };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** The same, synchronously, for threads that do nothing else. */
export function readSmallSync(
  path: string,
  maxBytes: number,
  roots: readonly string[] | undefined,
): Buffer | undefined {
  try {
    const { fd, stats } = openRegularSync(path, roots);
    try {
      if (stats.size > maxBytes) return undefined;
      return readStart(fd, stats.size);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** The text of a settings file; `undefined` if it does not exist, is no regular file, or is larger than any that a person keeps. Never throws. */
export const readSettingsText = async (path: string): Promise<string | undefined> =>
  (await readSmall(path, MAX_SETTINGS_BYTES, undefined))?.bytes.toString("utf8");

/** The first bytes of a file, fewer if it is shorter; empty if it does not exist or must not be read. Never throws. */
export function firstBytes(path: string, bytes: number, roots: readonly string[] | undefined): Buffer {
  try {
    // Called for thousands of files: reading is faster than a promise resolves
    const { fd, stats } = openRegularSync(path, roots);
    try {
      return readStart(fd, Math.min(stats.size, bytes));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Why a path must not be read; `undefined` if it may be, and if nothing exists there. Opens nothing.
 *
 * @throws never
 */
export async function refusalOf(path: string, roots: readonly string[] | undefined): Promise<string | undefined> {
  try {
    checkPath(path, roots);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    return codeOf(error) === "ENOENT" ? outsideReason(path, roots) : undefined;
  }
}

/** The resolved path, checked as `openRegular` does, for libraries that open files themselves. */
export async function checkedPath(path: string, roots: readonly string[] | undefined): Promise<string> {
  return checkPath(path, roots).real;
}

/** The beginning of an open file, not further than its size at the call: it can grow while it is read. */
export async function readUpTo(file: FileHandle, maxBytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  let read = 0;
  while (read < bytes.length) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

// --- internal ---

const ATTEMPTS = 5;
const MAX_SETTINGS_BYTES = 16 << 20;
// As far as the system supports it: do not follow a link, do not block
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);
/** Files there look regular, but reading one can block, consume data of another process, or never end. */
const SYSTEM_FOLDERS = ["/proc", "/sys", "/dev"];

interface CheckedPath {
  readonly path: string;
  /** With symbolic links resolved. */
  readonly real: string;
  readonly before: Stats;
}

// Synchronous: promises would take longer than these calls
function checkPath(path: string, roots: readonly string[] | undefined): CheckedPath {
  const real = realOf(path);
  return { path, real, before: checkedStats(path, real, roots) };
}

/** `undefined`: a symbolic link replaced it since the check. */
function openUnlessLink(real: string): number | undefined {
  try {
    return openSync(real, READ);
  } catch (error) {
    if (isLinkError(error)) return undefined;
    throw error;
  }
}

const isLinkError = (error: unknown): boolean => codeOf(error) === "ELOOP";

const isSame = (fd: number, stats: Stats, checked: CheckedPath): boolean =>
  stats.isFile() && isSameFile(stats, checked) && isStillAt(fd, checked.path, checked.real);

/**
 * Whether the opened file is the checked one. On Windows some versions of Node (22.12 to 22.16, 24.0 and 24.1) report another
 * volume for an open file than for its path (github.com/libuv/libuv/pull/4698), so there the path's volume is compared with the
 * path's after opening.
 */
export function isSameFile(
  opened: Pick<Stats, "dev" | "ino">,
  { real, before }: { readonly real: string; readonly before: Pick<Stats, "dev" | "ino"> },
  platform: NodeJS.Platform = process.platform,
): boolean {
  if (opened.ino !== before.ino) return false;
  if (opened.dev === before.dev) return true;
  const after = platform === "win32" ? lstatSync(real, { throwIfNoEntry: false }) : undefined;
  return after !== undefined && after.ino === before.ino && after.dev === before.dev;
}

const replaced = (path: string): RefusedError => refused(path, "it was replaced repeatedly while it was being opened");

function realOf(path: string): string {
  if (!isAbsolute(path)) throw refused(path, "it is not an absolute path");
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (codeOf(error) === "ELOOP") throw refused(path, "its symbolic links form a cycle");
    throw error;
  }
}

/** @returns its stats, if it is a regular file of ours in one of the roots */
function checkedStats(path: string, real: string, roots: readonly string[] | undefined): Stats {
  const systemFolder = systemFolderOf(real);
  if (systemFolder !== undefined) throw refused(path, `it leads to ${systemFolder}, a system folder`);
  const root = roots === undefined ? undefined : rootOf(real, roots);
  if (roots !== undefined && root === undefined) {
    throw refused(
      path,
      real === resolve(path) ? `it is ${OUTSIDE}` : `it is a link that leads elsewhere: its target is ${OUTSIDE}`,
    );
  }
  const stats = lstatSync(real);
  if (!stats.isFile()) throw new RefusedError(`${JSON.stringify(path)} is not a regular file but ${kindOf(stats)}`);
  if (root !== undefined && !isOurs(stats, root)) throw refused(path, "it belongs to another user");
  return stats;
}

const OUTSIDE = "outside this agent's session folders; the setting transcripts.folders can add the folder";

/** The reason for a path where nothing exists, by its closest existing folder. */
function outsideReason(path: string, roots: readonly string[] | undefined): string | undefined {
  if (roots === undefined) return undefined;
  let [folder, rest] = [dirname(resolve(path)), ""];
  for (let depth = 0; depth < MAX_PARENTS; depth++) {
    const real = realIfThere(folder);
    if (real !== undefined) {
      // A missing folder can be the root itself
      const at = join(real, rest, "x");
      return rootOf(at, roots) === undefined ? refused(path, `it is ${OUTSIDE}`).message : undefined;
    }
    rest = join(folder.slice(dirname(folder).length).replace(/^[/\\]+/, ""), rest);
    folder = dirname(folder);
  }
  return refused(path, `it is ${OUTSIDE}`).message;
}
const MAX_PARENTS = 256;

/** The root, resolved, that contains a resolved path. */
function rootOf(real: string, roots: readonly string[]): string | undefined {
  for (const root of roots) {
    // A prefix of a path without links contains no links either
    if (root === resolve(root) && real.startsWith(root + sep)) return root;
    const resolved = realIfThere(root) ?? resolve(root);
    if (isIn(real, resolved)) return resolved;
  }
  return undefined;
}

function realIfThere(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function isIn(path: string, folder: string): boolean {
  // The usual case, without parsing the paths
  if (path.startsWith(folder) && path.charAt(folder.length) === sep && !path.includes("..")) return true;
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Whether our user or the owner of the agent's folder owns the file; in containers they can differ. */
function isOurs(stats: Stats, root: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined || stats.uid === uid) return true;
  return stats.uid === statSync(root, { throwIfNoEntry: false })?.uid;
}

/** Whether an open file is still at its resolved path: a folder above it can be replaced after the check. */
function isStillAt(fd: number, path: string, real: string): boolean {
  const openPath = process.platform === "linux" ? linkIfThere(`/proc/self/fd/${fd}`) : undefined;
  if (openPath !== undefined) return openPath === real || openPath === `${real} (deleted)`;
  return realIfThere(path) === real;
}

function linkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Up to `length` bytes from the start; fewer if the file was truncated since. */
function readStart(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const more = readSync(fd, bytes, read, length - read, read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}

const refused = (path: string, why: string): RefusedError =>
  new RefusedError(`${JSON.stringify(path)} is not read: ${why}`);

/** The system folder that contains a resolved path. */
const systemFolderOf = (real: string): string | undefined =>
  process.platform === "win32"
    ? undefined
    : SYSTEM_FOLDERS.find((folder) => real.startsWith(folder) && [undefined, "/"].includes(real[folder.length]));

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "something else";
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
