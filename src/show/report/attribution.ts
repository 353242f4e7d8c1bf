import type { Certainty, StoredChange, StoredCommit } from "#core/model/changes.ts";
import { commitKey, DEFAULT_BRANCHES, isNotedBranch, isSameCommit, notedBranch } from "#core/rules/change-facts.ts";
import { grouped } from "#kit/objects.ts";
import { storedChanges, storedCommits } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import type { ChangeDimension } from "./query.ts";

/** What a moment of a session led to. Absent: none, or unknown. */
interface Attributed {
  readonly commit?: StoredCommit;
  readonly branch?: StoredChange;
  readonly ticket?: StoredChange;
  /** The pull request, otherwise the ticket, otherwise the branch. */
  readonly change?: StoredChange;
}

/**
 * Assigns each moment of a session to one commit or none, and to one change or none, so that sums over commits and changes are the sum
 * over sessions. See docs/decisions/0044.
 */
export class Attribution {
  readonly #commits: ReadonlyMap<number, readonly StoredCommit[]>;
  readonly #changes: ReadonlyMap<number, readonly StoredChange[]>;
  /** Pull requests by repository and branch, in all sessions. */
  readonly #pulls: ReadonlyMap<string, readonly StoredChange[]>;
  readonly #known = new Map<string, Attributed>();

  constructor(commits: readonly StoredCommit[], changes: readonly StoredChange[]) {
    this.#commits = bySession(ownCommits(commits));
    this.#changes = bySession(changes);
    this.#pulls = grouped(
      changes.filter(({ changeKind, branch }) => changeKind === "pull_request" && branch !== undefined),
      (pull) => branchKey(pull.repository, pull.branch),
    );
  }

  /** With all commits and changes in the store. */
  static of(db: Database): Attribution {
    return new Attribution(storedCommits(db), storedChanges(db));
  }

  /** What a session led to by its work at a time. @param session its row in the store */
  at(session: number, timeMs: number): Attributed {
    const commits = this.#commits.get(session) ?? [];
    const changes = this.#changes.get(session) ?? [];
    if (commits.length + changes.length === 0) return NOTHING;
    const key = `${session} ${timeMs}`;
    const known = this.#known.get(key) ?? this.#find(commits, changes, timeMs);
    this.#known.set(key, known);
    return known;
  }

  #find(commits: readonly StoredCommit[], changes: readonly StoredChange[], timeMs: number): Attributed {
    const next = (certainty: Certainty) =>
      commits.find((made) => made.certainty === certainty && made.timeMs >= timeMs);
    const commit = next("observed") ?? next("inferred");
    const checkedOut = branchAt(changes, timeMs);
    const branch = checkedOut === undefined || DEFAULT_BRANCHES.has(checkedOut.change) ? undefined : checkedOut;
    const tickets = changes.filter(({ changeKind }) => changeKind === "ticket");
    // A ticket in the commit's message is more reliable than one in the name of its branch
    const ticket =
      tickets.find(
        (named) => named.commit !== undefined && commit !== undefined && isSameCommit(named.commit, commit.commit),
      ) ?? tickets.find((named) => named.commit === undefined && named.branch === branch?.change);
    const ofBranch = this.#pulls.get(branchKey(branch?.repository, branch?.change)) ?? [];
    const ofSession = changes.filter((stored) => stored.changeKind === "pull_request" && stored.branch === undefined);
    const pull =
      nearest(branch === undefined ? [] : ofBranch, timeMs) ??
      nearest(
        ofSession.filter(({ isCreated }) => isCreated === true),
        timeMs,
      );
    const change = pull ?? ticket ?? branch;
    return {
      ...(commit !== undefined && { commit }),
      ...(branch !== undefined && { branch }),
      ...(ticket !== undefined && { ticket }),
      ...(change !== undefined && { change }),
    };
  }
}

/** Without inferred commits that another session is known to have made: several can work in one folder. */
export function ownCommits(commits: readonly StoredCommit[]): readonly StoredCommit[] {
  const observed = new Set(commits.flatMap((made) => (made.certainty === "observed" ? [commitKey(made.commit)] : [])));
  return commits.filter((made) => made.certainty === "observed" || !observed.has(commitKey(made.commit)));
}

/** The key of a report's row. @returns `null` for none */
export function changeKeyOf(dimension: ChangeDimension, attributed: Attributed): string | null {
  if (dimension === "commit") return attributed.commit?.commit ?? null;
  const change = attributed[dimension];
  return change === undefined ? null : nameOfChange(change);
}

/**
 * What distinguishes a commit or change from all others. A ticket is one in all repositories; the number of a pull request and the name
 * of a branch belong to one.
 */
export function identityOf(fact: StoredCommit | StoredChange): string {
  if (!("changeKind" in fact)) return fact.commit;
  if (fact.url !== undefined) return fact.url;
  return `${fact.changeKind} ${fact.changeKind === "ticket" ? "" : (fact.repository ?? "")} ${fact.change}`;
}

/** `acme/shop#12`, `SHOP-12`, `fix/x`. */
export function nameOfChange({ changeKind, change, url }: Pick<StoredChange, "changeKind" | "change" | "url">): string {
  if (changeKind !== "pull_request" && changeKind !== "issue") return change;
  if (url === undefined || !URL.canParse(url)) return `#${change}`;
  const parts = new URL(url).pathname.split("/").filter((part) => part !== "" && part !== "-");
  return `${parts.slice(0, -2).join("/")}${url.includes("/merge_requests/") ? "!" : "#"}${change}`;
}

// --- internal ---

const NOTHING: Attributed = {};

const branchKey = (repository: number | undefined, branch: string | undefined): string =>
  `${repository ?? ""} ${branch ?? ""}`;

const bySession = <T extends { readonly session: number }>(all: readonly T[]): ReadonlyMap<number, readonly T[]> =>
  grouped(all, ({ session }) => session);

/**
 * The branch that was checked out: as the transcript notes each change of it, otherwise as HEAD named it, otherwise the only one that
 * the transcript names for the whole session.
 */
function branchAt(changes: readonly StoredChange[], timeMs: number): StoredChange | undefined {
  const noted = notedBranch(changes, timeMs);
  if (noted?.certainty === "observed") return noted;
  const ofHead = changes.filter((change) => change.changeKind === "branch" && !isNotedBranch(change));
  return nearest(ofHead, timeMs) ?? noted;
}

/** The first at or after a time, otherwise the last before it. @param sorted by time */
const nearest = <T extends { readonly timeMs: number }>(sorted: readonly T[], timeMs: number): T | undefined =>
  sorted.find((fact) => fact.timeMs >= timeMs) ?? sorted.at(-1);
