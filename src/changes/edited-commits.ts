import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { findGit, type NewCommit, newCommits } from "#config/repository/git-files.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { commitKey } from "#core/rules/change-facts.ts";
import type { Git } from "./git/git.ts";
import { allChangedFiles } from "./git/patches.ts";

/** The files that a session edited, and the commits that are known of it. */
export interface SessionEdits {
  /** Number of the session. */
  readonly session: number;
  readonly folder: string;
  readonly edits: readonly { readonly path: string; readonly timeMs: number }[];
  readonly commits: readonly string[];
}

/** A commit that has what a session edited. */
export interface EditedCommit {
  readonly session: number;
  readonly entry: EntryOf<"commit">;
}

/**
 * Commits that somebody made of what sessions edited: in the worktree of the session, each the first that changes a file after the
 * session edited it. They are never more than inferred: the edit may have been undone meanwhile.
 *
 * @param gitDir what all worktrees of the repository share
 * @throws GitError
 */
export async function commitsOfEdits(
  git: Git,
  gitDir: string,
  sessions: readonly SessionEdits[],
): Promise<readonly EditedCommit[]> {
  const trees = new Map<string, Promise<WorkTree | undefined>>();
  const treeOf = (folder: string): Promise<WorkTree | undefined> => {
    const known = trees.get(folder) ?? readWorkTree(folder, gitDir);
    trees.set(folder, known);
    return known;
  };
  const work = await Promise.all(sessions.map(async (session) => ({ ...session, tree: await treeOf(session.folder) })));
  const open = work.flatMap(({ tree, edits, ...session }) => {
    if (tree === undefined) return [];
    const times = timesByPath(tree, session.folder, edits);
    const firstMs = [...times.values()]
      .flat()
      .reduce((first, timeMs) => Math.min(first, timeMs), Number.POSITIVE_INFINITY);
    const log = tree.log.filter((commit) => lastMsOf(commit) >= firstMs && isOfEdits(commit));
    return log.length === 0 ? [] : [{ ...session, times, log }];
  });
  const asked = new Map(open.flatMap(({ log }) => log.map((commit) => [commit.commit, commit])));
  const files = await filesOf(git, [...asked.values()]);
  return open.flatMap(({ session, times, log, commits }) => {
    const known = new Set(commits.map(commitKey));
    const changedMs = new Map<string, number>();
    return log.flatMap((commit): readonly EditedCommit[] => {
      const untilMs = lastMsOf(commit);
      let hasEdits = false;
      for (const path of files.get(commit.commit) ?? []) {
        const sinceMs = Math.max(changedMs.get(path) ?? 0, untilMs - LONGEST_MS);
        hasEdits ||= times.get(path)?.some((timeMs) => timeMs > sinceMs && timeMs <= untilMs) === true;
        changedMs.set(path, untilMs);
      }
      return hasEdits && !known.has(commitKey(commit.commit)) ? [{ session, entry: entryOf(commit) }] : [];
    });
  });
}

// --- internal ---

/** Edits that were not committed for longer than this were probably undone, or overwritten by others. */
const LONGEST_MS = 7 * 86_400_000;
const SECOND_MS = 1_000;

interface WorkTree {
  readonly roots: readonly string[];
  readonly log: readonly NewCommit[];
}

async function readWorkTree(folder: string, gitDir: string): Promise<WorkTree | undefined> {
  const place = await findGit(folder);
  if (place === undefined || place.commonDir !== gitDir) return undefined;
  const log = await newCommits(place);
  return { roots: [place.workTree, realpathSync.native(place.workTree)], log };
}

/** The files that each commit changes. @returns none if git cannot read them: a partial clone lacks folders */
async function filesOf(git: Git, log: readonly NewCommit[]): ReturnType<typeof allChangedFiles> {
  try {
    const patches = log.map(({ commit, before }) => ({ commit, ...(before !== undefined && { from: before }) }));
    return await allChangedFiles(git, patches);
  } catch (error) {
    if (git.isLate) throw error;
    return new Map();
  }
}

/** Other commits bring changes that were made before: a merge, a cherry-pick, a revert, a rebase. */
const isOfEdits = ({ commitKind }: NewCommit): boolean => commitKind === "commit" || commitKind === "amend";

/** The log has whole seconds: the commit was made before the end of that second. */
const lastMsOf = ({ timeMs }: NewCommit): number => timeMs + SECOND_MS - 1;

/** When each file was edited, by its path in the worktree. Files outside of it are left out. */
function timesByPath(
  { roots }: WorkTree,
  folder: string,
  edits: SessionEdits["edits"],
): ReadonlyMap<string, readonly number[]> {
  const times = new Map<string, number[]>();
  for (const { path, timeMs } of edits) {
    const inside = roots
      .map((root) => relative(root, resolve(folder, path)))
      .find((one) => one !== "" && !one.startsWith("..") && !isAbsolute(one));
    if (inside === undefined) continue;
    const name = inside.replaceAll(sep, "/");
    if (times.get(name)?.push(timeMs) === undefined) times.set(name, [timeMs]);
  }
  return times;
}

const entryOf = (commit: NewCommit): EntryOf<"commit"> => ({
  kind: "commit",
  key: commitKey(commit.commit),
  timeMs: lastMsOf(commit),
  commit: commit.commit,
  certainty: "inferred",
  how: "edits",
  commitKind: commit.commitKind,
  ...(commit.commitKind === "amend" && commit.before !== undefined && { replaces: commit.before }),
});
