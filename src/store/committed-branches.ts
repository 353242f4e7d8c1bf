import type { ChangeKind, StoredCommit } from "#core/model/changes.ts";
import type { Fate } from "#core/model/outcomes.ts";
import { DEFAULT_BRANCHES } from "#core/rules/change-facts.ts";
import { storedChanges, storedCommits, storedRepositories } from "./changes.ts";
import type { Database } from "./database.ts";
import { outcomeFinder } from "./outcomes.ts";

/** A branch to which agents committed, without default branches. */
export interface CommittedBranch {
  /** Its name and its repository, which no other branch has. */
  readonly identity: string;
  readonly kind: Extract<ChangeKind, "pull_request" | "branch">;
  /** All known commits, by time. */
  readonly commits: readonly StoredCommit[];
  /** No commit is open, unknown or not checked yet. A commit that is gone was dropped. */
  readonly isDecided: boolean;
  /** What became of each commit is known; one can still be open. */
  readonly isKnown: boolean;
  /** The first observed commit that reached the default branch, if git shows that the branch is merged. */
  readonly merged?: StoredCommit;
  /** When the last of its commits reached the default branch. */
  readonly landedMs?: number;
}

/**
 * The branches of agents' commits. One is merged if at least one observed commit reached the default branch and all of its commits are
 * decided.
 */
export function committedBranches(db: Database): readonly CommittedBranch[] {
  const keys = new Map(storedRepositories(db).map(({ id, key }) => [id, key]));
  const outcomeOf = outcomeFinder(db);
  const identityIn = ({ repository, branch }: Pick<StoredCommit, "repository" | "branch">) =>
    repository === undefined || branch === undefined || DEFAULT_BRANCHES.has(branch)
      ? undefined
      : `${branch} ${keys.get(repository)}`;
  const branches = new Map<string, StoredCommit[]>();
  for (const one of storedCommits(db)) {
    const identity = identityIn(one);
    if (identity === undefined) continue;
    const known = branches.get(identity);
    if (known === undefined) branches.set(identity, [one]);
    else known.push(one);
  }
  const pulls = new Set(storedChanges(db).flatMap((one) => (one.changeKind === "pull_request" ? identityIn(one) : [])));
  return [...branches].map(([identity, commits]) => {
    const outcomes = commits.map(outcomeOf);
    const isDecided = outcomes.every((one) => isReached(one?.fate) || one?.fate === "gone");
    const reached = commits.find((one, at) => one.certainty === "observed" && isReached(outcomes[at]?.fate));
    const landed = outcomes.flatMap((one) => one?.landedMs ?? []);
    return {
      identity,
      kind: pulls.has(identity) ? "pull_request" : "branch",
      commits,
      isDecided,
      isKnown: outcomes.every((one) => one !== undefined && one.fate !== "unknown"),
      ...(isDecided && reached !== undefined && { merged: reached }),
      ...(landed.length > 0 && { landedMs: landed.reduce((last, ms) => Math.max(last, ms)) }),
    };
  });
}

// --- internal ---

const isReached = (fate: Fate | undefined): boolean => fate === "merged" || fate === "reverted";
