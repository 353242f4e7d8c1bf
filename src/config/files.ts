import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, lstat, mkdir, open, readFile, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A file that could not be read or written. One line: what was being done, to which file, what was wrong. */
export class FileError extends Error {
  readonly code: "E_FILE" | "E_FILE_CHANGED";
  readonly path: string;
  constructor(message: string, path: string, code: FileError["code"] = "E_FILE", options?: ErrorOptions) {
    super(message, options);
    this.name = "FileError";
    this.code = code;
    this.path = path;
  }
}

export interface WriteOptions {
  /** For a new file; an existing one keeps its mode. @default 0o600 */
  readonly mode?: number;
  /** Sets `mode` on an existing file too. @default false */
  readonly forceMode?: boolean;
  /** For parent directories that are created. @default 0o700 */
  readonly dirMode?: number;
  /** What the file must contain just before it is replaced; `null`: it must not exist. */
  readonly expect?: Uint8Array | null;
}

/**
 * Replaces a file's content atomically: a reader sees the old bytes or the new ones, even after a power failure. A symbolic link stays
 * and its target is replaced; mode and owner stay.
 *
 * @param path absolute; parents are created
 * @throws FileError if it is not a regular file, is read-only, or changed in the meantime (`E_FILE_CHANGED`)
 */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  options: WriteOptions = {},
): Promise<void> {
  const target = await realTarget(path);
  const name = path === target ? JSON.stringify(path) : `${JSON.stringify(path)} (a link to ${JSON.stringify(target)})`;
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const existing = await stat(target).catch(unlessMissing);
    if (existing !== undefined) await assertWritable(name, target, existing);
    const mode = existing === undefined || options.forceMode ? (options.mode ?? 0o600) : existing.mode & 0o7777;
    await mkdir(dirname(target), { recursive: true, mode: options.dirMode ?? 0o700 });
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      if (existing !== undefined) await keepOwner(file, existing);
      // After the owner, because changing it clears set-id bits. Windows has no modes
      if (process.platform !== "win32") await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    if (options.expect !== undefined) await assertUnchanged(name, target, options.expect);
    await replaceFile(temporary, target);
    await syncDirectory(dirname(target));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error instanceof FileError ? error : fileError(`cannot write ${name}`, path, error);
  }
}

/**
 * @returns a file's bytes; `undefined` if there is none (a dangling link counts as none)
 * @throws FileError if it exists and cannot be read, or is a pipe, which might block forever
 */
export async function readFileIfAny(path: string): Promise<Buffer | undefined> {
  try {
    if ((await stat(path)).isFIFO()) throw new Error("it is a pipe");
    return await readFile(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw fileError(`cannot read ${JSON.stringify(path)}`, path, error);
  }
}

/**
 * For a file that the user did not name, such as one in the current directory.
 *
 * @throws FileError for a pipe or a device, which would block forever, and for files far too large for settings
 */
export async function refuseOdd(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return;
  const why = found.isFile()
    ? found.size > MAX_SETTINGS_BYTES && "it is larger than 16 MiB"
    : "it is not a regular file";
  if (why !== false) throw new FileError(`cannot read ${JSON.stringify(path)}: ${why}`, path);
}

/**
 * Removes a file. A link stays and its target is removed, as with `writeFileAtomic`.
 *
 * @throws FileError if it exists and cannot be removed
 */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(await realTarget(path), { force: true });
  } catch (error) {
    throw error instanceof FileError ? error : fileError(`cannot remove ${JSON.stringify(path)}`, path, error);
  }
}

/** The topmost directory that `mkdir -p` of a file's parent would create; `undefined` if the parent exists. */
export async function missingParent(path: string): Promise<string | undefined> {
  let missing: string | undefined;
  for (let at = dirname(await realTarget(path)); ; at = dirname(at)) {
    const found = await lstat(at).catch(unlessMissing);
    if (found !== undefined || at === dirname(at)) return missing;
    missing = at;
  }
}

/**
 * Renames a file onto another one. Windows refuses while any program has the other one open, for example a virus scanner or the
 * agent itself, so there this tries again.
 *
 * @throws what the file system throws; on Windows after two seconds of trying
 */
export async function replaceFile(
  from: string,
  to: string,
  platform: NodeJS.Platform = process.platform,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(from, to);
    } catch (error) {
      const isInUse = ["EBUSY", "EPERM", "EACCES"].includes(codeOf(error) ?? "");
      if (platform !== "win32" || !isInUse || attempt === REPLACE_ATTEMPTS) throw error;
    }
    await sleep(REPLACE_RETRY_MS);
  }
}

// --- internal ---

const REPLACE_ATTEMPTS = 20;
const REPLACE_RETRY_MS = 100;

const MAX_SETTINGS_BYTES = 1 << 24;

// Linux stops after 40
const MAX_LINKS = 40;

/** The path after following every link, even if the last target does not exist yet. */
async function realTarget(path: string): Promise<string> {
  let at = resolve(path);
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return await realpath(at);
    } catch (error) {
      const code = codeOf(error);
      if (code === "ELOOP") break;
      if (code !== "ENOENT") throw fileError(`cannot reach ${JSON.stringify(path)}`, path, error);
    }
    const link = await readlink(at).catch(() => undefined);
    if (link === undefined) return at;
    at = resolve(dirname(at), link);
  }
  throw new FileError(`cannot reach ${JSON.stringify(path)}: its links form a cycle`, path);
}

interface Existing {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** A rename would silently replace a read-only file, which its owner protected. */
async function assertWritable(name: string, target: string, existing: Existing): Promise<void> {
  if (existing.isDirectory()) throw new FileError(`cannot write ${name}: it is a directory`, target);
  if (!existing.isFile()) throw new FileError(`cannot write ${name}: it is not a regular file`, target);
  // root passes every access check, but the mode shows what the owner wants
  const readOnly = (existing.mode & 0o222) === 0;
  const denied = await access(target, constants.W_OK).then(
    () => false,
    () => true,
  );
  if (readOnly || denied) {
    throw new FileError(
      `cannot write ${name}: it is read-only; change its mode, or let its owner make the edit`,
      target,
    );
  }
}

async function assertUnchanged(name: string, target: string, expected: Uint8Array | null): Promise<void> {
  const now = await readFileIfAny(target);
  const same = expected === null ? now === undefined : now?.equals(expected) === true;
  if (same) return;
  const message = `did not write ${name}: another program changed it in the meantime; run the command again`;
  throw new FileError(message, target, "E_FILE_CHANGED");
}

async function keepOwner(
  file: { chown(uid: number, gid: number): Promise<void>; stat(): Promise<Existing> },
  existing: Existing,
): Promise<void> {
  const now = await file.stat();
  if (now.uid === existing.uid && now.gid === existing.gid) return;
  // Only root may change a file's owner; other users may set a group that they belong to
  await file.chown(existing.uid, existing.gid).catch(() => file.chown(now.uid, existing.gid).catch(() => {}));
}

/** Makes the rename itself durable. Windows and some network disks do not support it, which is no failure. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r").catch(() => undefined);
  await directory?.sync().catch(() => {});
  await directory?.close();
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: process.platform === "win32" ? "not permitted, or another program has it open" : "not permitted",
  EBUSY: "another program has it open",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is exceeded",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is a file, not a directory",
  EEXIST: "a part of its path is a file, not a directory",
  ENAMETOOLONG: "its name is too long",
};

function fileError(doing: string, path: string, error: unknown): FileError {
  const code = codeOf(error);
  const reason = REASONS[code ?? ""] ?? (error instanceof Error ? error.message : String(error));
  return new FileError(`${doing}: ${reason}`, path, "E_FILE", { cause: error });
}

function unlessMissing(error: unknown): undefined {
  if (codeOf(error) === "ENOENT") return undefined;
  throw error;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
