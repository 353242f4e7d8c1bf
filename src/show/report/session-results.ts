import type { Certainty, StoredChange } from "#core/model/changes.ts";
import { changesAround, commitsAround, storedChanges } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { Attribution, identityOf, nameOfChange, ownCommits } from "./attribution.ts";
import { type KnownCommit, knownCommits } from "./change-report.ts";
import type { SessionView } from "./session-view.ts";

/** What one session led to, as far as it is known. */
export interface SessionResults {
  /** By time. */
  readonly commits: readonly KnownCommit[];
  readonly changes: readonly SessionChange[];
}

export interface SessionChange {
  readonly kind: StoredChange["changeKind"];
  readonly name: string;
  readonly url?: string;
  readonly certainty: Certainty;
  /** The session created it. False: its work counts for it. */
  readonly isCreated: boolean;
}

/** Commits that the session made, what it created, and the change that each of its turns counts for. */
export function sessionResults(db: Database, { stored: { id }, turnList }: SessionView): SessionResults {
  const around = commitsAround(db, id);
  const commits = ownCommits(around).filter(({ session }) => session === id);
  const attribution = new Attribution(around, changesAround(db, id));
  const created = storedChanges(db, id).filter(({ isCreated }) => isCreated === true);
  const workedOn = turnList.flatMap(({ startMs }) => attribution.at(id, startMs).change ?? []);
  const changes = new Map<string, SessionChange>();
  for (const one of [...created, ...workedOn]) {
    const key = identityOf(one);
    if (changes.has(key)) continue;
    const { changeKind: kind, certainty, url } = one;
    changes.set(key, {
      kind,
      name: nameOfChange(one),
      ...(url !== undefined && { url }),
      certainty,
      isCreated: created.includes(one),
    });
  }
  return { commits: knownCommits(db, commits), changes: [...changes.values()] };
}
