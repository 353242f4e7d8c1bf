import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { readSmall } from "../agents/shared/transcript/open.ts";
import { limitName, MAX_PATH_CHARACTERS } from "../model/limits.ts";
import type { Repository } from "../model/session.ts";
import { nameOf, withoutCredentials } from "./remote.ts";

/**
 * Reads a folder's repository, branch and commit from the files of `.git`, without starting git or writing anything. Others can
 * write these files, so only regular files inside the git directory are read, and names are limited.
 *
 * @returns `undefined` if the folder does not exist or is in no repository
 * @throws never
 */
export async function readRepository(folder: string): Promise<Repository | undefined> {
  if (!isAbsolute(folder)) return undefined;
  const found = await findGit(folder);
  if (found === undefined) return undefined;
  const { gitDir, workTree } = found;
  const common = pathIn(await readGitFile(gitDir, "commondir"));
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  const url = remoteUrl((await readGitFile(commonDir, "config")) ?? "");
  const head = (await readGitFile(gitDir, "HEAD"))?.trim();
  const ref = branchRef(head);
  const branch = ref?.slice(BRANCHES.length);
  const revision = ref === undefined ? hash(head) : await readRef(gitDir, commonDir, ref);
  const shown = url === undefined ? undefined : withoutCredentials(url);
  return {
    name: limitName(nameOf(shown ?? url) ?? (await folderName(commonDir, gitDir, workTree))),
    ...(shown !== undefined && { url: shown }),
    ...(branch !== undefined && { branch: limitName(branch) }),
    ...(revision !== undefined && { revision }),
  };
}

// --- internal ---

const BRANCHES = "refs/heads/";
/** File systems allow no longer path. */
const MAX_REF_CHARACTERS = MAX_PATH_CHARACTERS;

/**
 * The branch that HEAD names. A repository with the reftable format has a placeholder HEAD that names `refs/heads/.invalid`,
 * which cannot be a branch.
 */
function branchRef(head: string | undefined): string | undefined {
  // git never writes a branch name that leads to another folder
  if (head === undefined || head.length > MAX_REF_CHARACTERS || head.includes("..")) return undefined;
  const ref = /^ref: (refs\/heads\/(?!\.invalid$)[^\n]+)$/.exec(head)?.[1];
  return ref;
}

/** The name of a repository without a remote. All its worktrees get the name of the main folder or of the bare repository. */
async function folderName(commonDir: string, gitDir: string, workTree: string): Promise<string> {
  if (commonDir === gitDir || (await readGitFile(commonDir, "HEAD")) === undefined) return basename(workTree);
  const name = basename(commonDir);
  return name === ".git" ? basename(dirname(commonDir)) : name.replace(/\.git$/, "");
}

const MAX_BYTES = 1 << 20;
const MAX_PARENTS = 64;
const MAX_LINE_CHARACTERS = 4_096;

async function findGit(folder: string): Promise<{ gitDir: string; workTree: string } | undefined> {
  let current = folder;
  for (let i = 0; i < MAX_PARENTS; i++) {
    const dotGit = join(current, ".git");
    const real = await realpath(dotGit).catch(() => undefined);
    const kind = real === undefined ? undefined : await lstat(real).catch(() => undefined);
    if (real !== undefined && kind?.isDirectory() === true) return { gitDir: real, workTree: current };
    if (kind?.isFile() === true) {
      // In a worktree or submodule this file names the real directory
      const target = pathIn(/^gitdir: ([^\n]+)$/m.exec((await readGitFile(current, ".git")) ?? "")?.[1]);
      return target === undefined ? undefined : { gitDir: resolve(current, target), workTree: current };
    }
    const parent = dirname(current);
    if (parent === current) return undefined;
    current = parent;
  }
  return undefined;
}

/** A path that was read from a file; `undefined` if it is invalid. */
function pathIn(text: string | undefined): string | undefined {
  const path = text?.trim();
  return path === undefined || path === "" || path.length > MAX_PATH_CHARACTERS || path.includes("\0")
    ? undefined
    : path;
}

async function readRef(gitDir: string, commonDir: string, ref: string): Promise<string | undefined> {
  const loose = (await readGitFile(gitDir, ref)) ?? (await readGitFile(commonDir, ref));
  if (loose !== undefined) return hash(loose.trim());
  const packed = (await readGitFile(commonDir, "packed-refs")) ?? "";
  return hash(
    packed
      .split("\n")
      .find((line) => line.endsWith(` ${ref}`))
      ?.split(" ")[0],
  );
}

const hash = (value: string | undefined): string | undefined =>
  value !== undefined && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(value) ? value : undefined;

/** The URL of the remote `origin`, otherwise of the first remote. */
function remoteUrl(config: string): string | undefined {
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    if (line.length > MAX_LINE_CHARACTERS) continue;
    const text = line.trim();
    if (text.startsWith("[")) section = /^\[remote "([^"]+)"\]/.exec(text)?.[1];
    const [, value] = /^(?:\[[^\]]*\]\s*)?url\s*=(.+)$/.exec(text) ?? [];
    const url = value?.trim();
    if (section !== undefined && url !== undefined && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get("origin") ?? [...remotes.values()][0];
}

/**
 * The text of a regular file in a git directory: no device, no pipe, no link that leads out of the directory.
 *
 * @returns `undefined` if there is no such file, it is larger than 1 MiB, or must not be read
 */
async function readGitFile(folder: string, name: string): Promise<string | undefined> {
  try {
    const root = realpathSync.native(folder);
    const real = realpathSync.native(join(root, name));
    if (real !== join(root, name) && !real.startsWith(root + sep)) return undefined;
    const read = await readSmall(real, MAX_BYTES, undefined);
    return read?.bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
