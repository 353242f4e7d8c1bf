import type { Counted } from "#core/model/telemetry.ts";
import { DEFAULT_BRANCHES } from "#core/rules/change-facts.ts";
import {
  type CountedFor,
  changeCounts,
  commitCountKey,
  commitCounts,
  fateCounts,
  mergedChangeCounts,
} from "#core/telemetry/changes.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { countsAtLevel, levelOf } from "#store/capture/level.ts";
import { protectCounts } from "#store/capture/protect.ts";
import {
  type ChangeToCount,
  type CommitToCount,
  changesToCount,
  commitsToCount,
  markChangeCounted,
  markCommitsCounted,
  rowsOfCommit,
} from "#store/change-counts.ts";
import { storedRepositories } from "#store/changes.ts";
import { committedBranches } from "#store/committed-branches.ts";
import { countFacts, isCounted } from "#store/counters.ts";
import { storedOutcomes } from "#store/outcomes.ts";
import { sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";

/** Counts the commits and changes that are not in the counters yet: each once, however many sessions know it. */
export function countChanges(drain: Drain): void {
  const { db } = drain;
  db.transaction(() => {
    for (const commit of commitsToCount(db)) countCommit(drain, commit);
    const keys = new Map(storedRepositories(db).map(({ id, key }) => [id, key]));
    for (const change of changesToCount(db)) {
      if (change.changeKind !== "branch" || !DEFAULT_BRANCHES.has(change.change)) {
        const identity = identityOf(change, keys.get(change.repository ?? -1));
        count(drain, change.session, [changeCounts(countedFor(drain, change), { ...change, identity })]);
      }
      markChangeCounted(db, change);
    }
  });
}

/** Counts what became of commits. What was counted before adds nothing. */
export function countOutcomes(drain: Drain): void {
  const { db } = drain;
  db.transaction(() => {
    const outcomes = storedOutcomes(db);
    const names = new Map(storedRepositories(db).map(({ id, name }) => [id, name]));
    /** Commits that have the change of an observed one now. */
    const successors = new Set<string>();
    const makers = outcomes.map((one) => {
      const maker = rowsOfCommit(db, one).find(countsNow);
      if (maker?.certainty === "observed" && one.rewritten !== undefined) successors.add(one.rewritten.by);
      return maker;
    });
    for (const [at, outcome] of outcomes.entries()) {
      const maker = makers[at];
      if (maker === undefined) continue;
      // A change that several known commits contain counts once: for the last that was observed
      const successor = outcome.rewritten?.by;
      const next =
        successor === undefined ? undefined : rowsOfCommit(db, { ...outcome, commit: successor }).find(countsNow);
      if (next !== undefined && (next.certainty === "observed" || maker.certainty === "inferred")) continue;
      if (maker.certainty === "inferred" && successors.has(outcome.id ?? outcome.commit)) continue;
      const repository = names.get(outcome.repository);
      const by = { ...countedFor(drain, maker), ...(repository !== undefined && { repository }) };
      count(drain, maker.session, fateCounts(by, maker.certainty, outcome));
    }
    countMergedChanges(drain);
  });
}

// --- internal ---

/** Counts the branches of agents' commits that git shows to be merged. */
function countMergedChanges(drain: Drain): void {
  for (const { identity, kind, merged } of committedBranches(drain.db)) {
    if (merged === undefined) continue;
    count(drain, merged.session, [mergedChangeCounts(countedFor(drain, merged), kind, identity)]);
  }
}

const countsNow = ({ isPacked }: CommitToCount): boolean => isPacked !== true;

function countCommit(drain: Drain, one: CommitToCount): void {
  const { db } = drain;
  const rows = rowsOfCommit(db, one);
  // An earlier row of this commit was counted together with this one
  const now = rows.find(({ session, key }) => session === one.session && key === one.key)?.countedAs;
  if (now === one.certainty) return;
  const isKnown = rows.some(({ countedAs }) => countedAs === "observed" || countedAs === one.certainty);
  if (!isKnown) {
    const before = rows.find((row) => isCounted(db, commitCountKey(countedFor(drain, row), row.key, "inferred")));
    const was = one.certainty === "observed" && before !== undefined ? countedFor(drain, before) : undefined;
    count(drain, one.session, [commitCounts(countedFor(drain, one), one.key, one.certainty, was)]);
  }
  const isObserved = rows.some(({ countedAs }) => countedAs === "observed") || one.certainty === "observed";
  markCommitsCounted(db, rows, isObserved ? "observed" : "inferred");
}

function countedFor({ db }: Drain, { session, repository }: Pick<CommitToCount, "session" | "repository">): CountedFor {
  const { source, sessionId, repository: of } = sessionById(db, session);
  return { source, sessionId, ...(repository !== undefined && of !== undefined && { repository: of.name }) };
}

function count(drain: Drain, session: number, facts: readonly Counted[]): void {
  const level = levelOf(drain, sessionById(drain.db, session));
  countFacts(drain.db, protectCounts(drain, countsAtLevel(drain, facts, level)), METRIC_SHAPES, drain.now());
}

/** What makes a change one change over all sessions: its address, or its name in its repository. */
const identityOf = ({ changeKind, change, url, key }: ChangeToCount, repository = ""): string =>
  changeKind === "pull_request" || changeKind === "issue" ? (url ?? `${key} ${repository}`) : `${change} ${repository}`;
