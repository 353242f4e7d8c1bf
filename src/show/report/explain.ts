import type { Certainty, StoredChange } from "#core/model/changes.ts";
import type { ContentLine } from "#core/model/content.ts";
import type { Totals } from "#core/telemetry/totals.ts";
import { changesAround, commitsAround, storedChanges } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { settledCompactions } from "#store/queries.ts";
import { segmentsOf } from "#store/segments.ts";
import { expectsTranscript, type SessionSource } from "#store/sessions/read-session.ts";
import { Attribution, identityOf, nameOfChange, ownCommits } from "./attribution.ts";
import { type CacheMiss, cacheMisses } from "./cache-misses.ts";
import { type KnownCommit, knownCommits } from "./change-report.ts";
import { type Compactions, type Habits, habitsOf } from "./explain-habits.ts";
import { type MoneySpent, moneySpent, placedCalls } from "./explain-money.ts";
import { type TimeSpent, timeSpent } from "./explain-time.ts";
import { type Family, familyOf } from "./family.ts";
import { turnsOfCalls } from "./session-spans.ts";
import type { SessionView } from "./session-view.ts";
import { promptsOfTurns } from "./story.ts";

/** Where the time and money of one session went. */
export interface Explanation {
  readonly view: SessionView;
  /** Absent without any activity. */
  readonly time: TimeSpent | undefined;
  readonly money: MoneySpent;
  readonly habits: Habits;
  /** By time. */
  readonly cacheMisses: readonly CacheMiss[];
  readonly results: SessionResults;
  readonly family: Family;
  /** What was asked in a turn, by its number; none if the agent's files were not read. */
  readonly prompts: ReadonlyMap<number, string>;
}

/**
 * Explains one session. Only reads the store.
 *
 * @param lines what was asked and done, from the agent's own files. @default none
 */
export function explain(
  db: Database,
  view: SessionView,
  { agents }: Pick<SessionSource, "agents">,
  lines: readonly ContentLine[] = [],
): Explanation {
  const calls = placedCalls(view, turnsOfCalls(db, view));
  const compactions = compactionsOf(db, view, { agents });
  return {
    view,
    time: timeSpent(view),
    money: moneySpent(view, calls),
    habits: habitsOf(db, view, calls, compactions),
    cacheMisses: cacheMisses(calls, compactions.all, view.facts.provider),
    results: sessionResults(db, view),
    family: familyOf({ db, agents }, view),
    prompts: promptsOfTurns(view, lines),
  };
}

/** How often a session's context was shortened, and when. */
export function compactionsOf(
  db: Database,
  { stored, isPacked, openCompactions: open }: SessionView,
  { agents }: Pick<SessionSource, "agents">,
): Compactions {
  // A packed session has only an unsettled part
  if (isPacked) return { count: open.length, all: open };
  const settled = segmentsOf(db, stored.id).reduce(
    (sum, { totals }) => sum + (JSON.parse(totals) as Totals).compactions,
    0,
  );
  const all = [...settledCompactions(db, stored.id, expectsTranscript({ db, agents }, stored)), ...open];
  return { count: settled + open.length, all };
}

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
function sessionResults(db: Database, { stored: { id }, turnList }: SessionView): SessionResults {
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
