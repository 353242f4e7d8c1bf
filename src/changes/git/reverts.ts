import type { Git } from "./git.ts";
import type { History } from "./history.ts";
import { type FileSets, type PatchOf, patchIds } from "./patches.ts";

/**
 * Finds the commits of the default branch that were reverted: by a commit whose message says so, or, if none of a commit's lines is left,
 * by one whose patch is the opposite. A commit does not count as reverted if the revert was itself reverted, or its change applied again.
 *
 * @param landed commits of the default branch, and whether lines of them are left
 * @returns commit → the commit that reverted it
 * @throws GitError if git does not answer in time
 */
export async function revertsOf(
  git: Git,
  history: History,
  fileSets: FileSets,
  landed: ReadonlyMap<string, boolean>,
): Promise<ReadonlyMap<string, string>> {
  // Lines can be left of a commit that another one's message reverts: its change may have been applied again
  const suspects = [...landed].flatMap(([commit, hasLines]) =>
    hasLines && !namesOf(history, commit).some((one) => isReverted(history, one)) ? [] : [commit],
  );
  const opposite = await oppositeCommits(git, history, fileSets, suspects);
  const reverted = new Map<string, string>();
  for (const commit of landed.keys()) {
    const events = new Map<string, boolean>(opposite.get(commit));
    for (const one of namesOf(history, commit)) addNamed(history, one, true, events);
    const since = history.orderOf(commit) ?? 0;
    const later = [...events].filter(([by]) => by !== commit && (history.orderOf(by) ?? -1) > since);
    const last = later.toSorted(([a], [b]) => (history.orderOf(b) ?? 0) - (history.orderOf(a) ?? 0))[0];
    if (last?.[1] === true) reverted.set(commit, last[0]);
  }
  return reverted;
}

// --- internal ---

const MAX_CANDIDATES = 2_000;

/** A commit, and the merge that brought it: a revert can name either. */
const namesOf = (history: History, commit: string): readonly string[] => [
  ...new Set([commit, history.landingOf(commit) ?? commit]),
];

const isReverted = (history: History, commit: string): boolean =>
  history.namedBy(commit).some(({ how }) => how === "reverted");

/** Commits whose messages say that they revert this one, and those that revert these, and so on. */
function addNamed(history: History, commit: string, isRevert: boolean, events: Map<string, boolean>): void {
  for (const { by, how } of history.namedBy(commit)) {
    if (how !== "reverted" || events.get(by) === isRevert) continue;
    events.set(by, isRevert);
    addNamed(history, by, !isRevert, events);
  }
}

/** Commits with the opposite patch of one, or of the merge that brought it (true), and with the same patch (false). */
async function oppositeCommits(
  git: Git,
  history: History,
  fileSets: FileSets,
  commits: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, boolean>>> {
  if (commits.length === 0) return new Map();
  const singles = commits.map((commit): PatchOf => ({ commit }));
  const merges = new Map(commits.flatMap((commit) => mergeOf(history, commit)));
  const wholes = [...new Map([...merges.values()].map((one) => [one.commit, one])).values()];
  try {
    const [taken, takenWhole] = [await patchIds(git, singles, true), await patchIds(git, wholes, true)];
    const firstMs = Math.min(...commits.map((commit) => history.timeOf(commit) ?? 0));
    const equal = await fileSets.like([...singles, ...wholes], history.since(firstMs));
    const candidates = equal.slice(0, MAX_CANDIDATES);
    const patches = await patchIds(
      git,
      [...new Set([...commits, ...candidates])].map((commit) => ({ commit })),
    );
    return new Map(
      commits.map((commit) => {
        const [same, opposite] = [patches.get(commit), taken.get(commit)];
        const whole = takenWhole.get(merges.get(commit)?.commit ?? "");
        const events = [...patches].flatMap(([by, patch]): [string, boolean][] =>
          patch === opposite || patch === whole ? [[by, true]] : patch === same ? [[by, false]] : [],
        );
        return [commit, new Map(events)];
      }),
    );
  } catch (error) {
    if (git.isLate) throw error;
    // A partial clone lacks files
    return new Map();
  }
}

/** The merge with which a commit reached the default branch, as a patch. */
function mergeOf(history: History, commit: string): readonly [string, PatchOf][] {
  const merge = history.landingOf(commit);
  const from = merge === undefined ? undefined : history.firstParentOf(merge);
  return merge === undefined || merge === commit || from === undefined ? [] : [[commit, { commit: merge, from }]];
}
