import { constants, lstatSync, realpathSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

export const PROJECT_FILE = ".openhook-otel.json";

/** A project's file. */
export type ProjectFile = { readonly path: string } & ({ readonly text: string } | { readonly problem: string });

/**
 * The files that apply to a folder, nearest first: its own, and those of the folders above it up to the root of its repository (a folder
 * with `.git`, also of a worktree or submodule). Outside a repository only the folder's own.
 *
 * @returns nothing if the folder is gone or not absolute
 * @throws never
 */
export const projectFilesAbove = async (folder: string): Promise<readonly ProjectFile[]> =>
  readAll(foldersUpToRoot(folder));

/**
 * A folder, and those above it up to the root of its repository, nearest first, with links resolved. Outside a repository only the
 * folder itself.
 *
 * @returns nothing if the path is not absolute
 * @throws never
 */
export function foldersUpToRoot(folder: string): readonly string[] {
  if (!isAbsolute(folder)) return [];
  // A link to a folder in a repository is in that repository
  const start = realOf(folder);
  const folders: string[] = [];
  for (let at = start; folders.length < MAX_PARENTS; at = dirname(at)) {
    folders.push(at);
    if (isThere(join(at, ".git"))) return folders;
    if (dirname(at) === at) break;
  }
  return [start];
}

// --- internal ---

const MAX_PARENTS = 64;
const MAX_BYTES = 64 * 1024;

const isThere = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};

const realOf = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
};

async function readAll(folders: readonly string[]): Promise<readonly ProjectFile[]> {
  const files = await Promise.all(folders.map((folder) => readOne(join(folder, PROJECT_FILE))));
  return files.filter((file) => file !== undefined);
}

async function readOne(path: string): Promise<ProjectFile | undefined> {
  try {
    const kind = await lstat(path);
    if (!kind.isFile())
      return { path, problem: `not a regular file (${kind.isSymbolicLink() ? "a link" : "no file"})` };
    if (kind.size > MAX_BYTES) return { path, problem: `larger than ${MAX_BYTES} bytes` };
    // It may have been replaced since it was checked
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
      if (bytesRead > MAX_BYTES) return { path, problem: `larger than ${MAX_BYTES} bytes` };
      return { path, text: buffer.toString("utf8", 0, bytesRead) };
    } finally {
      await file.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { path, problem: `cannot be read (${code})` };
  }
}
