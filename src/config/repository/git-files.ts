import { realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import type { CommitKind } from "#core/model/changes.ts";
import { limitName, MAX_PATH_CHARACTERS } from "#core/rules/limits.ts";
import { openRegular, readSmall } from "#kit/open.ts";

/** Where git keeps a folder's repository. */
export interface GitPlace {
  /** Of the worktree: HEAD and its log are there. */
  readonly gitDir: string;
  /** What all worktrees share: branches, settings, objects. */
  readonly commonDir: string;
  readonly workTree: string;
}

/** @returns `undefined` for a folder in no repository */
export async function findGit(folder: string): Promise<GitPlace | undefined> {
  const found = await findDirs(folder);
  if (found === undefined) return undefined;
  if ("commonDir" in found) return found;
  const common = pathIn(await readGitFile(found.gitDir, "commondir"));
  return { ...found, commonDir: common === undefined ? found.gitDir : resolve(found.gitDir, common) };
}

/** The branch that is checked out, and the commit that HEAD names. */
export async function readHead({ gitDir, commonDir }: GitPlace) {
  const head = (await readGitFile(gitDir, "HEAD"))?.trim();
  const ref = branchRef(head);
  const revision = ref === undefined ? hash(head) : await readRef(gitDir, commonDir, ref);
  return {
    ...(ref !== undefined && { branch: limitName(ref.slice(BRANCHES.length)) }),
    ...(revision !== undefined && { revision }),
  };
}

/** When another branch was checked out, in milliseconds since the epoch. @returns `undefined` if that is not known */
export async function headChangedMs({ gitDir }: Pick<GitPlace, "gitDir">): Promise<number | undefined> {
  try {
    return (await lstat(join(gitDir, "HEAD"))).mtimeMs;
  } catch {
    return undefined;
  }
}

/**
 * The text of a regular file in a git directory: no device, no pipe, no link that leads out of the directory.
 *
 * @param lastBytes only the end of the file, which may then have any size
 * @returns `undefined` if there is no such file, it is larger than 1 MiB, or must not be read
 */
export async function readGitFile(folder: string, name: string, lastBytes?: number): Promise<string | undefined> {
  try {
    const root = realpathSync.native(folder);
    const real = realpathSync.native(join(root, name));
    if (real !== join(root, name) && !real.startsWith(root + sep)) return undefined;
    if (lastBytes !== undefined) return await readEnd(real, lastBytes);
    const read = await readSmall(real, MAX_BYTES, undefined);
    return read?.bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

/** HEAD moved to a new commit. */
export interface NewCommit {
  readonly commit: string;
  /** HEAD before it. Absent for the first commit. */
  readonly before?: string;
  /** To the second: git writes no fractions. */
  readonly timeMs: number;
  readonly commitKind: CommitKind;
}

/**
 * The latest commits of a worktree, oldest first, from the log of its HEAD. Moves of HEAD that make no commit are left out: checkouts,
 * resets, pulls, fast-forwards. The log names committers; nothing of them is kept.
 *
 * @returns `[]` if there is no log
 * @throws never
 */
export async function newCommits({ gitDir }: GitPlace): Promise<readonly NewCommit[]> {
  const text = (await readGitFile(gitDir, "logs/HEAD", MAX_LOG_BYTES)) ?? "";
  return text.split("\n").flatMap((line) => {
    const [, before = "", commit = "", seconds = "", message = ""] = LINE.exec(line) ?? [];
    const commitKind = kindOf(message);
    if (commit === "" || commitKind === undefined || commit === before) return [];
    return [{ commit, ...(!/^0+$/.test(before) && { before }), timeMs: Number(seconds) * 1_000, commitKind }];
  });
}

// --- internal ---

async function readEnd(path: string, bytes: number): Promise<string> {
  const { file, stats } = await openRegular(path);
  try {
    const start = Math.max(0, stats.size - bytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size - start), 0, stats.size - start, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

const BRANCHES = "refs/heads/";
const MAX_BYTES = 1 << 20;
const MAX_PARENTS = 64;
/** The longest path that file systems allow. */
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

async function findDirs(folder: string): Promise<GitPlace | Omit<GitPlace, "commonDir"> | undefined> {
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
    const jj = kind === undefined ? await findJj(current) : undefined;
    if (jj !== undefined) return jj;
    const parent = dirname(current);
    if (parent === current) return undefined;
    current = parent;
  }
  return undefined;
}

/**
 * A workspace of jj without `.git`: the repository in which jj keeps its commits. HEAD there is not this workspace's, so the place of
 * HEAD is jj's own folder, which has none.
 */
async function findJj(folder: string): Promise<GitPlace | undefined> {
  const jj = join(folder, ".jj");
  const kind = await lstat(join(jj, "repo")).catch(() => undefined);
  // A further workspace has a file that names the first one's folder
  const named = kind?.isFile() === true ? pathIn(await readGitFile(jj, "repo")) : undefined;
  const repo = kind?.isDirectory() === true ? join(jj, "repo") : named && resolve(jj, named);
  const target = repo && pathIn(await readGitFile(join(repo, "store"), "git_target"));
  if (repo === undefined || target === undefined) return undefined;
  return { gitDir: jj, commonDir: resolve(repo, "store", target), workTree: folder };
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

/** Some hundred lines: more than one turn makes. */
const MAX_LOG_BYTES = 1 << 16;

const LINE = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) .*> (\d{1,12}) [+-]\d{4}\t(.*)$/;

/** What git writes for each way to make a commit. `rebase (finish)` only names a branch. */
const KINDS: readonly (readonly [RegExp, CommitKind])[] = [
  [/^commit \(amend\): /, "amend"],
  [/^commit \(merge\): /, "merge"],
  [/^commit \(cherry-pick\): |^cherry-pick: /, "cherry_pick"],
  [/^revert: /, "revert"],
  [/^commit(?: \(initial\))?: |^am: /, "commit"],
  [/^merge .*: Merge made by /, "merge"],
  [/^rebase(?: -\w+)? \((?:pick|reword|edit|squash|fixup|continue)\): /, "rebase"],
];

const kindOf = (message: string): CommitKind | undefined => KINDS.find(([pattern]) => pattern.test(message))?.[1];
