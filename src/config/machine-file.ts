import { statSync } from "node:fs";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type MachineLayer, readMachineDocument, unreadableDocument } from "./document.lazy.ts";
import { newLayer } from "./layer.ts";

/**
 * Reads the administrator's settings for all users of this machine: defaults, and which of them are locked.
 *
 * The file counts only if no other user than root can have written it: it and all folders above it belong to root, and
 * neither group nor others can write them. Otherwise, and if it is not valid, nothing is exported, because it may lock
 * what leaves this machine.
 *
 * @param path absent where there is none
 * @param trustedUids who may own it @default root
 */
export async function readMachineFile(
  path: string | undefined,
  trustedUids: readonly number[] = [0],
): Promise<MachineLayer> {
  if (path === undefined) return NONE;
  try {
    // Most machines have none, and the answer without a promise saves loading node:fs/promises
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return { ...NONE, path };
    const target = await realpath(path);
    const problem =
      (await stat(target)).size > MAX_BYTES ? "it is larger than 1 MiB" : await distrust(target, trustedUids);
    if (problem !== undefined) return { ...unreadableDocument(path, `not used: ${problem}`), path, locked: [] };
    return readMachineDocument(await readFile(target, "utf8"), path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { ...NONE, path };
    return { ...unreadableDocument(path, `cannot be read (${code})`), path, locked: [] };
  }
}

/**
 * Why users other than root may have written a file; `undefined` if only root can. Not checked on Windows, where the file is in a
 * folder that only administrators can write.
 *
 * @param path of an existing file, without links
 */
export async function distrust(path: string, trustedUids: readonly number[] = [0]): Promise<string | undefined> {
  const found = await stat(path);
  if (!found.isFile()) return "it is not a regular file";
  if (process.platform === "win32") return undefined;
  if (!trustedUids.includes(found.uid)) return `it belongs to user ${found.uid}, not to root`;
  if ((found.mode & GROUP_OR_OTHERS_WRITE) !== 0) return "users other than root can write it: chmod 644";
  return distrustFolder(dirname(path), trustedUids);
}

/** The same for a folder and those above it. */
export async function distrustFolder(path: string, trustedUids: readonly number[] = [0]): Promise<string | undefined> {
  for (let folder = path; ; folder = dirname(folder)) {
    const { uid, mode } = await stat(folder);
    if (!trustedUids.includes(uid)) return `its folder ${folder} belongs to user ${uid}, not to root`;
    const isOpen = (mode & GROUP_OR_OTHERS_WRITE) !== 0 && (mode & STICKY) === 0;
    if (isOpen) return `users other than root can write its folder ${folder}: chmod 755`;
    if (folder === dirname(folder)) return undefined;
  }
}

// --- internal ---

const NONE: MachineLayer = { ...newLayer(), unreadable: false, path: "", locked: [] };

const MAX_BYTES = 1 << 20;
const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
