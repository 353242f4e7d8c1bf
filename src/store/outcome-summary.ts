import type { Certainty, StoredCommit } from "#core/model/changes.ts";
import { FATES, type Fate, KEPT_AFTER_DAYS, type KeptDay } from "#core/model/outcomes.ts";
import { storedCommits, storedRepositories } from "./changes.ts";
import type { Database } from "./database.ts";
import { outcomeFinder, type StoredOutcome } from "./outcomes.ts";

/** Lines of commits for which the number that was kept is known, and how many were. */
export interface KeptShare {
  readonly written: number;
  readonly kept: number;
}

/** What became of some commits. */
export interface OutcomeFigures {
  readonly commits: number;
  /** Not checked yet. */
  readonly unchecked: number;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly rewritten: number;
  readonly linesWritten: number;
  readonly kept: Readonly<Record<KeptDay, KeptShare>>;
}

/** What became of the commits of one repository that are known with one certainty. */
export interface OutcomeSummary extends OutcomeFigures {
  readonly repository: string;
  readonly certainty: Certainty;
}

/** A commit counts once, however many sessions know it; as observed if one of them observed it. */
export interface CommitWithOutcome {
  readonly repository: string;
  readonly commit: string;
  readonly certainty: Certainty;
  /** Absent: not checked yet. */
  readonly outcome?: StoredOutcome;
}

/** All stored commits with what became of them, by repository and time. */
export const commitsWithOutcomes = (db: Database): readonly CommitWithOutcome[] => outcomeReader(db)(storedCommits(db));

/** @returns a function from stored commits to what became of them, each commit once, by repository */
export function outcomeReader(db: Database): (commits: readonly StoredCommit[]) => readonly CommitWithOutcome[] {
  const names = new Map(storedRepositories(db).map(({ id, name }) => [id, name ?? "?"]));
  const outcomeOf = outcomeFinder(db);
  return (all) => {
    const commits = new Map<string, CommitWithOutcome>();
    for (const one of all) {
      const { commit, repository, certainty } = one;
      const outcome = outcomeOf(one);
      const at = outcome?.repository ?? repository;
      const key = `${at}:${outcome?.id ?? commit}`;
      const isObserved = certainty === "observed" || commits.get(key)?.certainty === "observed";
      commits.set(key, {
        repository: names.get(at ?? -1) ?? "?",
        commit: outcome?.id ?? commit,
        certainty: isObserved ? "observed" : "inferred",
        ...(outcome !== undefined && { outcome }),
      });
    }
    return [...commits.values()].toSorted((a, b) => a.repository.localeCompare(b.repository));
  };
}

/** Sums by repository and certainty. */
export function summariesOf(commits: readonly CommitWithOutcome[]): readonly OutcomeSummary[] {
  const isContained = containedIn(commits);
  const groups = new Map<string, CommitWithOutcome[]>();
  for (const one of commits) {
    const key = `${one.repository}\0${one.certainty}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined
      ? []
      : [{ repository: first.repository, certainty: first.certainty, ...outcomeFigures(group, isContained) }];
  });
}

/**
 * Sums over commits, each of which is in the list once.
 *
 * @param isContained whose lines count with another commit; by default with one of the same list
 */
export function outcomeFigures(
  commits: readonly CommitWithOutcome[],
  isContained: (one: CommitWithOutcome) => boolean = containedIn(commits),
): OutcomeFigures {
  const outcomes = commits.flatMap(({ outcome }) => outcome ?? []);
  const lines = commits.filter((one) => !isContained(one)).flatMap(({ outcome }) => outcome?.lines ?? []);
  const fates = Object.fromEntries(FATES.map((fate) => [fate, outcomes.filter((one) => one.fate === fate).length]));
  const kept = Object.fromEntries(
    KEPT_AFTER_DAYS.map((day) => {
      const known = lines.filter(({ after }) => after[day] !== undefined);
      return [
        day,
        { written: sum(known.map(({ written }) => written)), kept: sum(known.map(({ after }) => after[day] ?? 0)) },
      ];
    }),
  );
  return {
    commits: commits.length,
    unchecked: commits.length - outcomes.length,
    fates: fates as Record<Fate, number>,
    rewritten: outcomes.filter(({ rewritten }) => rewritten !== undefined).length,
    linesWritten: sum(lines.map(({ written }) => written)),
    kept: kept as Record<KeptDay, KeptShare>,
  };
}

// --- internal ---

/**
 * Finds commits whose lines another commit of the list has now (amended, rebased, squashed). The lines count once, for the last observed
 * commit, as in the counters.
 */
function containedIn(commits: readonly CommitWithOutcome[]): (one: CommitWithOutcome) => boolean {
  const withLines = new Map(commits.flatMap((one) => (one.outcome?.lines === undefined ? [] : [[one.commit, one]])));
  const ofObserved = new Set(
    commits.flatMap(({ certainty, outcome }) =>
      certainty === "observed" && outcome?.lines !== undefined ? (outcome.rewritten?.by ?? []) : [],
    ),
  );
  return ({ commit, certainty, outcome }) => {
    const next = withLines.get(outcome?.rewritten?.by ?? "");
    if (next !== undefined) return next.certainty === "observed" || certainty === "inferred";
    return certainty === "inferred" && ofObserved.has(commit);
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
