import { ancestorsIn, type Branches } from "./branches.ts";
import type { Git } from "./git.ts";
import type { History } from "./history.ts";
import type { FoundCommit } from "./kept.ts";
import { type FileSets, type PatchOf, patchIds } from "./patches.ts";

/** Where the changes of commits that are not on the default branch are now. */
export interface Compared {
  /** Commit → a commit of the default branch with the same patch. */
  readonly twins: ReadonlyMap<string, string>;
  /** Commit → a commit of another branch with the same patch. */
  readonly elsewhere: ReadonlyMap<string, string>;
  /** Commit → a commit of the default branch with its patch and those of other commits. */
  readonly squashes: ReadonlyMap<string, string>;
  /** Commits that could not be compared with all others. */
  readonly uncompared: ReadonlySet<string>;
}

interface ToCompare {
  readonly history: History;
  readonly branches: Branches;
  readonly fileSets: FileSets;
  /** Commits that are not on the default branch. */
  readonly missing: readonly KnownCommit[];
}

type KnownCommit = FoundCommit & { readonly id: string };

/**
 * Compares patches. A rebase or cherry-pick keeps the author's time of a commit, so commits with the same time come first;
 * only for the rest the default branch is searched for commits that change the same files. @throws GitError in no time
 */
export async function comparePatches(git: Git, all: ToCompare): Promise<Compared> {
  const { missing, history, branches } = all;
  const [twins, elsewhere] = [new Map<string, string>(), new Map<string, string>()];
  const none = { twins, elsewhere, squashes: new Map(), uncompared: new Set<string>() };
  if (missing.length === 0) return none;
  try {
    const copies = await compareEqualTimes(git, all, twins, elsewhere);
    const rest = missing.filter(({ id }) => !twins.has(id));
    const { squashes, uncompared } = await compareEqualFiles(git, { ...all, missing: rest }, copies, twins);
    if (branches.isPartial) for (const { id } of rest) uncompared.add(id);
    return { twins, elsewhere, squashes, uncompared };
  } catch (error) {
    if (git.isLate) throw error;
    // A partial clone lacks files of other commits
    const left = missing.filter(({ id }) => !twins.has(id) && !history.has(id));
    return { ...none, uncompared: new Set(left.map(({ id }) => id)) };
  }
}

// --- internal ---

/** Commits of the default branch whose patches are compared. */
const MAX_CANDIDATES = 2_000;
const MAX_RANGES = 300;

/** @returns commit → commits with the same patch that are not on the default branch, of deleted branches too */
async function compareEqualTimes(
  git: Git,
  { missing, history, branches }: ToCompare,
  twins: Map<string, string>,
  elsewhere: Map<string, string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const pairs = missing.map((commit) => {
    const { authored = "" } = commit;
    const onBranches = (branches.byAuthorTime.get(authored) ?? []).filter((id) => id !== commit.id);
    return { commit, onDefault: history.authoredAt(authored), onBranches };
  });
  const compared = pairs.filter(({ onDefault, onBranches }) => onDefault.length + onBranches.length > 0);
  const ids = compared.flatMap(({ commit, onDefault, onBranches }) => [commit.id, ...onDefault, ...onBranches]);
  const patches = await patchIds(git, commitsOf(ids));
  const copies = new Map<string, readonly string[]>();
  for (const { commit, onDefault, onBranches } of compared) {
    const patch = patches.get(commit.id);
    if (patch === undefined) continue;
    const twin = firstLater(
      commit,
      onDefault.filter((id) => patches.get(id) === patch),
      history,
    );
    const equal = onBranches.filter((id) => patches.get(id) === patch);
    const other = equal.find((id) => branches.reachable.has(id));
    if (twin !== undefined) twins.set(commit.id, twin);
    if (other !== undefined) elsewhere.set(commit.id, other);
    if (equal.length > 0) copies.set(commit.id, equal);
  }
  return copies;
}

/** A patch of one commit, or of a branch from where it began, and the followed commits that it contains. */
interface Range extends PatchOf {
  readonly contains: ReadonlySet<string>;
}

async function compareEqualFiles(
  git: Git,
  all: ToCompare,
  copies: ReadonlyMap<string, readonly string[]>,
  twins: Map<string, string>,
): Promise<{ readonly squashes: Map<string, string>; readonly uncompared: Set<string> }> {
  const { missing, history, fileSets } = all;
  if (missing.length === 0) return { squashes: new Map(), uncompared: new Set() };
  const squashes = new Map<string, string>();
  const singles = missing.map(({ id }): Range => ({ commit: id, contains: new Set([id]) }));
  const branches = rangesOf(all, copies);
  const [singlePatches, branchPatches] = [await patchIds(git, singles), await patchIds(git, branches)];
  const firstMs = Math.min(...missing.map(({ timeMs }) => timeMs));
  const equal = await fileSets.like([...singles, ...branches], history.since(firstMs));
  const candidates = equal.slice(0, MAX_CANDIDATES);
  const byPatch = new Map<string, string[]>();
  for (const [id, patch] of await patchIds(git, commitsOf(candidates)))
    byPatch.set(patch, [...(byPatch.get(patch) ?? []), id]);
  const isLong = equal.length > MAX_CANDIDATES;
  const uncompared = new Set<string>();
  for (const commit of missing) {
    const own = byPatch.get(singlePatches.get(commit.id) ?? "") ?? [];
    const twin = firstLater(commit, own, history);
    const around = branches.filter(({ contains }) => contains.has(commit.id));
    const wholes = around.flatMap(({ commit }) => byPatch.get(branchPatches.get(commit) ?? "") ?? []);
    const squash = firstLater(commit, wholes, history);
    if (twin !== undefined) twins.set(commit.id, twin);
    else if (squash !== undefined) squashes.set(commit.id, squash);
    if (isLong) uncompared.add(commit.id);
  }
  return { squashes, uncompared };
}

/**
 * The parts of the history that may have been squashed: what each branch, and each followed commit, has beside the default branch. The
 * branch itself may be deleted; then one of the followed commits, or the log of HEAD, may have its end. A branch that was rebased has
 * copies of followed commits.
 */
function rangesOf(
  { history, branches, missing }: ToCompare,
  copies: ReadonlyMap<string, readonly string[]>,
): readonly Range[] {
  const wanted = new Set(missing.map(({ id }) => id));
  const inner = new Set([...branches.parents.values()].flat());
  const ends = new Set([...[...branches.parents.keys()].filter((id) => !inner.has(id)), ...wanted]);
  const ranges: Range[] = [];
  for (const commit of ends) {
    if (ranges.length >= MAX_RANGES) break;
    const all = ancestorsIn(branches.parents, [commit]);
    const contains = new Set([...wanted].filter((id) => [id, ...(copies.get(id) ?? [])].some((copy) => all.has(copy))));
    const from = all.size > 1 && contains.size > 0 ? baseOf(all, branches.parents, history) : undefined;
    if (from !== undefined) ranges.push({ commit, from, contains });
  }
  return ranges;
}

/** Where a branch began, or was last brought up to date: the newest commit of the default branch that it has. */
function baseOf(
  contains: ReadonlySet<string>,
  parents: ReadonlyMap<string, readonly string[]>,
  history: History,
): string | undefined {
  const outside = [...contains]
    .flatMap((commit) => parents.get(commit) ?? [])
    .filter((commit) => !contains.has(commit));
  const known = outside.filter((commit) => history.has(commit));
  const byTime = known.toSorted((a, b) => (history.timeOf(b) ?? 0) - (history.timeOf(a) ?? 0));
  return byTime[0] ?? outside[0];
}

/** Of some commits the first one that was made after this commit: an older one with the same patch is somebody else's. */
function firstLater({ id, timeMs }: KnownCommit, commits: readonly string[], history: History): string | undefined {
  const later = commits.filter((commit) => commit !== id && (history.timeOf(commit) ?? 0) >= timeMs);
  return later.toSorted((a, b) => (history.timeOf(a) ?? 0) - (history.timeOf(b) ?? 0))[0];
}

const commitsOf = (ids: readonly string[]): readonly PatchOf[] => [...new Set(ids)].map((commit) => ({ commit }));
