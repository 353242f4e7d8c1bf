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

/** A file that must not be read: what a path leads to is not what an agent writes. The message says which and why. */
export class RefusedError extends Error {
  readonly code = "E_REFUSED";
}

export interface Opened {
  readonly file: FileHandle;
  readonly stats: Stats;
}

/**
 * Opens a file that somebody named to us, for reading: a regular file, in one of the agent's folders, of this user. Links
 * are resolved first and must stay inside; nothing else is ever opened, so that no device is touched and no FIFO waited for.
 *
 * @param roots folders the file must lie in, links in their own paths resolved; without them it can lie anywhere
 * @throws RefusedError with the reason; else what the file system throws
 */
export async function openRegular(path: string, roots?: readonly string[]): Promise<Opened> {
  // Agents replace files while we look: what was opened must be what was looked at
  for (let attempt = 1; ; attempt++) {
    const { real, before } = looked(path, roots);
    const file = await open(real, READ).catch((error: unknown) => {
      if (isNowALink(error)) return undefined;
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

/** The same for threads that have nothing else to do: a file of a few kilobytes is read before a promise comes back. */
export function openRegularNow(
  path: string,
  roots?: readonly string[],
): { readonly fd: number; readonly stats: Stats } {
  for (let attempt = 1; ; attempt++) {
    const { real, before } = looked(path, roots);
    const fd = opened(real);
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
 * The whole of a small file; `undefined` where there is none, and for one that is larger, or must not be read.
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
      return stats.size > maxBytes ? undefined : { bytes: await upTo(file, maxBytes), stats };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** The same, for threads that have nothing else to do. */
export function readSmallNow(path: string, maxBytes: number, roots: readonly string[] | undefined): Buffer | undefined {
  try {
    const { fd, stats } = openRegularNow(path, roots);
    try {
      if (stats.size > maxBytes) return undefined;
      return begins(fd, stats.size);
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}

/** The first bytes of a file, as many as there are; nothing of one that is not there or must not be read. Never throws. */
export function firstBytes(path: string, bytes: number, roots: readonly string[] | undefined): Buffer {
  try {
    // Thousands of files are looked at so: each is read before a promise comes back
    const { fd, stats } = openRegularNow(path, roots);
    try {
      return begins(fd, Math.min(stats.size, bytes));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

/**
 * Why a path must not be read; `undefined` for one that may be, and for one where there is nothing. Opens nothing.
 *
 * @throws never
 */
export async function refusalOf(path: string, roots: readonly string[] | undefined): Promise<string | undefined> {
  try {
    looked(path, roots);
    return undefined;
  } catch (error) {
    if (error instanceof RefusedError) return error.message;
    return codeOf(error) === "ENOENT" ? outside(path, roots) : undefined;
  }
}

/** Where a path really leads, checked as `openRegular` does, for those who must open it by themselves. */
export async function checkedPath(path: string, roots: readonly string[] | undefined): Promise<string> {
  return looked(path, roots).real;
}

// --- internal ---

const ATTEMPTS = 5;
// Where the system knows them: not through a link, and not waiting for anybody
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0) | (constants.O_NOCTTY ?? 0);
/** Files there look regular and are not: reading one can wait, take what is another's, or never end. */
const SPECIAL = ["/proc", "/sys", "/dev"];

interface Looked {
  readonly path: string;
  /** Without symbolic links. */
  readonly real: string;
  readonly before: Stats;
}

// Looked at without promises: each would take longer than what it asks for
function looked(path: string, roots: readonly string[] | undefined): Looked {
  const real = realOf(path);
  return { path, real, before: checked(path, real, roots) };
}

/** `undefined`: it became a symbolic link in this moment. */
function opened(real: string): number | undefined {
  try {
    return openSync(real, READ);
  } catch (error) {
    if (isNowALink(error)) return undefined;
    throw error;
  }
}

const isNowALink = (error: unknown): boolean => codeOf(error) === "ELOOP";

const isSame = (fd: number, stats: Stats, { path, real, before }: Looked): boolean =>
  stats.isFile() && stats.ino === before.ino && stats.dev === before.dev && liesAt(fd, path, real);

const replaced = (path: string): RefusedError => refused(path, "it was replaced again and again while it was opened");

function realOf(path: string): string {
  if (!isAbsolute(path)) throw refused(path, "it is no absolute path");
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (codeOf(error) === "ELOOP") throw refused(path, "its symbolic links lead in a circle");
    throw error;
  }
}

/** @returns what is there: a regular file of ours, in one of the roots */
function checked(path: string, real: string, roots: readonly string[] | undefined): Stats {
  const special = specialOf(real);
  if (special !== undefined) throw refused(path, `it leads to ${special}, where the system's own things are`);
  const root = roots === undefined ? undefined : rootOf(real, roots);
  if (roots !== undefined && root === undefined) {
    throw refused(path, real === resolve(path) ? OUTSIDE : `it is a link that leads elsewhere: ${OUTSIDE}`);
  }
  const stats = lstatSync(real);
  if (!stats.isFile()) throw new RefusedError(`${JSON.stringify(path)} is not a regular file but ${kindOf(stats)}`);
  if (root !== undefined && !isOurs(stats, root)) throw refused(path, "it belongs to another user");
  return stats;
}

const OUTSIDE = "it lies outside of the folders that this agent keeps its sessions in";

/** Of a path where nothing is: by the folder that is there. */
function outside(path: string, roots: readonly string[] | undefined): string | undefined {
  if (roots === undefined) return undefined;
  let [folder, rest] = [dirname(resolve(path)), ""];
  for (let depth = 0; depth < MAX_PARENTS; depth++) {
    const real = realIfThere(folder);
    if (real !== undefined) {
      // A folder that is not there yet can be the root itself
      const at = join(real, rest, "x");
      return rootOf(at, roots) === undefined ? refused(path, OUTSIDE).message : undefined;
    }
    rest = join(folder.slice(dirname(folder).length).replace(/^[/\\]+/, ""), rest);
    folder = dirname(folder);
  }
  return refused(path, OUTSIDE).message;
}
const MAX_PARENTS = 256;

/** The root, links resolved, that a resolved path lies in. */
function rootOf(real: string, roots: readonly string[]): string | undefined {
  for (const root of roots) {
    // What the beginning of a path without links is has none either
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
  // The usual case, without taking the paths apart
  if (path.startsWith(folder) && path.charAt(folder.length) === sep && !path.includes("..")) return true;
  const rest = relative(folder, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}

/** Of the user we run as, or of whoever the agent's folder belongs to: in containers that can be another one. */
function isOurs(stats: Stats, root: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined || stats.uid === uid) return true;
  return stats.uid === statSync(root, { throwIfNoEntry: false })?.uid;
}

/** Whether an open file lies where its path led, also when folders above it were exchanged meanwhile. */
function liesAt(fd: number, path: string, real: string): boolean {
  const said = process.platform === "linux" ? linkIfThere(`/proc/self/fd/${fd}`) : undefined;
  if (said !== undefined) return said === real || said === `${real} (deleted)`;
  return realIfThere(path) === real;
}

function linkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Up to so many bytes of a file, of one that was cut off meanwhile less. */
function begins(fd: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const more = readSync(fd, bytes, read, length - read, read);
    if (more === 0) break;
    read += more;
  }
  return bytes.subarray(0, read);
}

/** A file can grow while it is read; it is not read further than it was to be. */
async function upTo(file: FileHandle, maxBytes: number): Promise<Buffer> {
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

const refused = (path: string, why: string): RefusedError =>
  new RefusedError(`${JSON.stringify(path)} is not read: ${why}`);

/** The folder of the system's own that a resolved path lies in. */
const specialOf = (real: string): string | undefined =>
  process.platform === "win32"
    ? undefined
    : SPECIAL.find((folder) => real.startsWith(folder) && [undefined, "/"].includes(real[folder.length]));

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return stats.isCharacterDevice() || stats.isBlockDevice() ? "a device" : "something else";
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
