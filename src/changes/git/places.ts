import type { CommitOutcome, Rewritten } from "#core/model/outcomes.ts";
import type { Branches } from "./branches.ts";
import type { Compared } from "./compare.ts";
import type { History } from "./history.ts";
import type { FoundCommit } from "./kept.ts";
import type { Refs } from "./refs.ts";

/** Where a commit's change is. */
interface Place {
  readonly fate: CommitOutcome["fate"];
  readonly reason?: string;
  /** The commit of the default branch that has the change. */
  readonly landed?: string;
  readonly rewritten?: Rewritten;
}

interface Search {
  readonly refs: Refs;
  readonly history: History;
  readonly branches: Branches;
  /** Commit → the commit that replaced it. */
  readonly amends: ReadonlyMap<string, string>;
  readonly compared: Compared;
  readonly found: readonly FoundCommit[];
}

/** Finds a commit, or the commit that has its change now. What is certain comes first. */
export function placeOf(commit: FoundCommit, search: Search, depth = 0): Place {
  const { refs, history, branches, amends, compared } = search;
  const id = commit.id ?? commit.commit;
  if (history.has(id)) return { fate: "merged", landed: id };
  const merged = (by: string, how: Rewritten["how"]): Place => ({ fate: "merged", landed: by, rewritten: { by, how } });
  const twin = compared.twins.get(id);
  if (twin !== undefined) return merged(twin, "patch");
  const squash = compared.squashes.get(id);
  if (squash !== undefined) return merged(squash, "squash");
  const naming = history.namedBy(id).find(({ how }) => how !== "reverted");
  if (naming !== undefined) return merged(naming.by, "message");
  const next = commit.replacedBy ?? amends.get(id);
  if (next !== undefined && next !== id && depth < MAX_AMENDS) return amendedPlace(commit, next, search, depth);
  if (branches.reachable.has(id)) return { fate: "open" };
  const other = compared.elsewhere.get(id);
  if (other !== undefined) return { fate: "open", rewritten: { by: other, how: "patch" } };
  // Another clone may have it, or it was removed long after nothing referred to it any more
  if (commit.id === undefined)
    return { fate: "unknown", reason: refs.isShallow ? "the clone is shallow" : "not in this clone" };
  if (compared.uncompared.has(id)) return { fate: "unknown", reason: "not all commits could be compared" };
  return { fate: "gone" };
}

// --- internal ---

const MAX_AMENDS = 100;

/** A commit that was amended is where the amended one is. */
function amendedPlace(commit: FoundCommit, next: string, search: Search, depth: number): Place {
  const later = search.found.find(({ id, commit }) => (id ?? commit) === next);
  const place = placeOf(later ?? { commit: next, id: next, timeMs: commit.timeMs, trailers: [] }, search, depth + 1);
  return { ...place, rewritten: { by: place.rewritten?.by ?? next, how: "amend" } };
}
