import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, writeFileSync } from "node:fs";

/** A file of the state directory that is not ours, or no regular file. The message says what it is and what to do. */
class NotOwnFileError extends Error {
  readonly code = "E_NOT_OWN_FILE";
}

/**
 * Opens a file of the state directory. Nothing but a regular file of this user is used: a pipe would wait forever, a link or a device leads
 * elsewhere, and another user could have left them there while the directory was open to all.
 *
 * @param how `a`: to append, created with mode 0600 if it does not exist
 * @returns the descriptor
 * @throws NotOwnFileError; otherwise the file system's error
 */
export function openOwn(path: string, how: "r" | "r+" | "a"): number {
  let fd: number;
  try {
    fd = openSync(path, FLAGS[how] | CAREFULLY, 0o600);
  } catch (error) {
    // A link, or a pipe that nobody reads
    if (["ELOOP", "EMLINK", "ENXIO"].includes(codeOf(error))) assertOwn(path);
    throw error;
  }
  const why = whyForeign(fstatSync(fd));
  if (why === undefined) return fd;
  closeSync(fd);
  throw notOwn(path, why);
}

/** Appends to a file of the state directory. @throws as `openOwn` */
export function appendOwn(path: string, text: string): void {
  const fd = openOwn(path, "a");
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** The content of a file of the state directory. @throws as `openOwn` */
export function readOwn(path: string): Buffer {
  const fd = openOwn(path, "r");
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** The same check for a file that a library opens by itself. A file that does not exist is fine. @throws NotOwnFileError */
export function assertOwn(path: string): void {
  const why = whyNotOwn(path);
  if (why !== undefined) throw notOwn(path, why);
}

/** What is wrong with a file of the state directory; `undefined`: it is a regular file of this user, or does not exist. */
export function whyNotOwn(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : whyForeign(found);
}

/** The same for a file that was looked at. */
export function whyForeign(stats: Stats): string | undefined {
  if (!stats.isFile()) return `it is ${kindOf(stats)} and not a regular file`;
  const uid = process.getuid?.();
  // Root can do everything anyway, and often works in a user's home
  return uid === undefined || uid === 0 || stats.uid === uid || stats.uid === 0
    ? undefined
    : `it belongs to user ${stats.uid}, not to you`;
}

/** The message for a file that is not used. */
export const foreignFile = (path: string, why: string): string =>
  `${JSON.stringify(path)} is not used: ${why}; look at what it is, then remove it (rm ${JSON.stringify(path)})`;

// --- internal ---

const FLAGS = {
  r: constants.O_RDONLY,
  "r+": constants.O_RDWR,
  a: constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT,
} as const;
// As far as the system supports it
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

const notOwn = (path: string, why: string): NotOwnFileError => new NotOwnFileError(foreignFile(path, why));

function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return "a link";
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a pipe";
  return stats.isSocket() ? "a socket" : "a device";
}

const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
