import type { CommitKind } from "#core/model/changes.ts";
import { type GitPlace, readGitFile } from "./git-files.ts";

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
  const text = (await readGitFile(gitDir, "logs/HEAD", MAX_BYTES)) ?? "";
  return text.split("\n").flatMap((line) => {
    const [, before = "", commit = "", seconds = "", message = ""] = LINE.exec(line) ?? [];
    const commitKind = kindOf(message);
    if (commit === "" || commitKind === undefined || commit === before) return [];
    return [{ commit, ...(!/^0+$/.test(before) && { before }), timeMs: Number(seconds) * 1_000, commitKind }];
  });
}

// --- internal ---

/** Some hundred lines: more than one turn makes. */
const MAX_BYTES = 1 << 16;

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
