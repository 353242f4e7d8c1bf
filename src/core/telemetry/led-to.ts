import type { StoredChange, StoredCommit } from "../model/changes.ts";

/** The commit and the pull request that the span of a turn or session names as its result. */
export interface LedTo {
  /** The last commit that was observed in it, with all digits. */
  readonly revision?: string;
  /** The number of the pull request that it created. */
  readonly changeId?: string;
}

/**
 * What was observed between two times of a session, in the session's repository. The conventions allow one value of each, so a span
 * names no pull request if there were two.
 */
export function ledToIn(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  commits: readonly StoredCommit[],
  changes: readonly StoredChange[],
): LedTo {
  const isInside = ({ certainty, isElsewhere, timeMs }: StoredCommit | StoredChange): boolean =>
    certainty === "observed" && isElsewhere !== true && timeMs >= startMs && timeMs <= endMs;
  const revision = commits.findLast((one) => isInside(one) && one.commit.length >= FULL)?.commit;
  const created = changes.filter((one) => isInside(one) && one.changeKind === "pull_request" && one.isCreated === true);
  const ids = new Set(created.map(({ change }) => change));
  const [changeId] = ids;
  return {
    ...(revision !== undefined && { revision }),
    ...(ids.size === 1 && changeId !== undefined && { changeId }),
  };
}

// --- internal ---

/** git prints the first digits only; the log of HEAD has all of them. */
const FULL = 40;
