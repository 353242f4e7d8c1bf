import { lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { chmod, lstat, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { foreignFile, whyForeign } from "#kit/own-file.ts";

/** The state directory does not belong to this user, who could read or replace its contents. */
export class StateError extends Error {
  readonly code = "E_STATE";
}

/** The user running this: `process.getuid`; absent on Windows, where modes and owners mean nothing. */
interface Owner {
  readonly uid: number | undefined;
}

/** The current user's id; `undefined` on systems without owners. */
export const ownUid = (platform: NodeJS.Platform): number | undefined =>
  platform === "win32" ? undefined : process.getuid?.();

/**
 * Checks that the state directory belongs to this user, before anything is written to it.
 *
 * @returns remarks, one line each, about weaknesses that are not ours to fix
 * @throws StateError if it belongs to another user, or is a link made by another user
 */
export async function checkOwner(stateDir: string, { uid }: Owner): Promise<readonly string[]> {
  if (uid === undefined) return [];
  const quoted = JSON.stringify(stateDir);
  const link = await quiet(lstat(stateDir));
  if (link === undefined) return parentRemarks(stateDir, uid);
  const target = link.isSymbolicLink() ? await quiet(stat(stateDir)) : link;
  const advice = "change its owner (chown), or set OPENHOOK_OTEL_HOME to your own directory";
  if (target === undefined) throw new StateError(`the state directory ${quoted} is a dangling link; remove it`);
  const owners = [
    [link.isSymbolicLink() ? "is a link that belongs" : "belongs", link.uid] as const,
    ["belongs", target.uid] as const,
  ];
  for (const [belongs, owner] of owners) {
    if (owner === uid) continue;
    const text = `the state directory ${quoted} ${belongs} to user ${owner}, not to user ${uid}`;
    // In a container, root often has another user's home
    if (uid === 0) return [`${text}; ${advice}`];
    throw new StateError(`cannot use it: ${text}; ${advice}`);
  }
  return parentRemarks(stateDir, uid);
}

/**
 * What is in the state directory that is not ours: links, pipes, devices and files of others. Opening one could wait forever or write elsewhere.
 * Names with a leading dot, such as `.nfs…`, and directories are not looked at.
 *
 * @returns one line for each, with what to do
 */
export function foreignFiles(stateDir: string): readonly string[] {
  const lines: string[] = [];
  for (const name of namesIn(stateDir)) {
    const path = join(stateDir, name);
    const is = name.startsWith(".") ? undefined : lstatSync(path, { throwIfNoEntry: false });
    if (is === undefined || is.isDirectory()) continue;
    const why = whyForeign(is);
    const isFolder = is.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (why !== undefined && !isFolder) lines.push(foreignFile(path, why));
  }
  return lines;
}

/**
 * Removes other users' access to files in the state directory that should not have it.
 *
 * @returns the paths that were accessible, whether or not they could be closed
 */
export async function closeFiles(stateDir: string, { uid }: Owner): Promise<readonly string[]> {
  if (uid === undefined) return [];
  const open: string[] = [];
  for (const path of await openFiles(stateDir)) {
    await chmod(path, 0o600).catch(() => {});
    open.push(path);
  }
  return open;
}

/** Files directly in the state directory that others can access. */
export async function openFiles(stateDir: string): Promise<readonly string[]> {
  const open: string[] = [];
  for (const name of await readdir(stateDir).catch(() => [])) {
    const path = join(stateDir, name);
    const is = await quiet(lstat(path));
    // If all state was moved, the hook program is here; others may run it
    if (is?.isFile() === true && (is.mode & 0o077) !== 0 && (is.mode & 0o100) === 0) open.push(path);
  }
  return open;
}

// --- internal ---

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Someone with write access to the parent can replace the directory. */
async function parentRemarks(stateDir: string, uid: number): Promise<readonly string[]> {
  const parent = dirname(stateDir);
  const is = await quiet(stat(parent));
  if (is === undefined) return [];
  const isOpen = (is.mode & GROUP_OR_OTHERS_WRITE) !== 0 && (is.mode & STICKY) === 0;
  const isOthers = is.uid !== uid && is.uid !== 0;
  if (!isOpen && !isOthers) return [];
  const why = isOthers ? `belongs to user ${is.uid}` : "can be written by others";
  return [
    `${JSON.stringify(parent)} ${why}, who could replace ${JSON.stringify(stateDir)}; ` +
      (isOthers ? "set OPENHOOK_OTEL_HOME to your own directory" : `chmod go-w ${JSON.stringify(parent)}`),
  ];
}

const quiet = (found: Promise<Stats>): Promise<Stats | undefined> => found.catch(() => undefined);
