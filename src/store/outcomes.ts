import type { Certainty, StoredCommit } from "#core/model/changes.ts";
import {
  type Attestation,
  type CommitOutcome,
  FATES,
  type Fate,
  KEPT_AFTER_DAYS,
  type KeptDay,
  type Rewritten,
} from "#core/model/outcomes.ts";
import { defined } from "#kit/objects.ts";
import { storedCommits, storedRepositories } from "./changes.ts";
import type { Database, Row } from "./database.ts";
import { numberIn, textIn } from "./rows.ts";

/** An outcome as stored: table `commit_outcomes`. */
export interface StoredOutcome extends CommitOutcome {
  /** Number of the repository. */
  readonly repository: number;
  readonly checkedMs: number;
}

/**
 * Writes what became of commits. Each commit has one row, however often it is checked: what is unknown now does not replace what was
 * known before. Outcomes of commits and repositories that are no longer stored are left out or removed.
 */
export function putOutcomes(db: Database, outcomes: readonly StoredOutcome[]): void {
  const put = db.prepare(PUT);
  db.transaction(() => {
    for (const one of outcomes) {
      const { lines } = one;
      put.run(
        one.repository,
        one.commit,
        one.checkedMs,
        one.id ?? null,
        one.fate,
        one.reason ?? null,
        one.rewritten?.by ?? null,
        one.rewritten?.how ?? null,
        one.revertedBy ?? null,
        one.revertedMs ?? null,
        one.landedMs ?? null,
        lines?.written ?? null,
        lines?.now ?? null,
        lines?.after[1] ?? null,
        lines?.after[7] ?? null,
        lines?.after[30] ?? null,
        one.attested.length === 0 ? null : JSON.stringify(one.attested),
        one.landingPull ?? null,
      );
    }
    db.prepare(
      "DELETE FROM commit_outcomes WHERE NOT EXISTS (SELECT 1 FROM commits c WHERE c.commit_id = commit_outcomes.commit_id)",
    ).run();
  });
}

/** All outcomes, or those of some commits, by repository and commit. */
export const storedOutcomes = (db: Database, commits?: readonly string[]): readonly StoredOutcome[] =>
  db
    .prepare(
      `SELECT * FROM commit_outcomes WHERE ?1 IS NULL OR commit_id IN (SELECT value FROM json_each(?1))
       ORDER BY repository, commit_id`,
    )
    .all(commits === undefined ? null : JSON.stringify(commits))
    .map(toOutcome);

/**
 * Finds what became of a commit: in its repository, or, if that is unknown, in the one that has the commit. Absent: not checked yet.
 *
 * @param only the commits that will be asked for
 */
export function outcomeFinder(
  db: Database,
  only?: readonly { readonly commit: string }[],
): (commit: { readonly commit: string; readonly repository?: number }) => StoredOutcome | undefined {
  const outcomes = new Map<string, StoredOutcome[]>();
  for (const one of storedOutcomes(
    db,
    only?.map(({ commit }) => commit),
  ))
    outcomes.set(one.commit, [...(outcomes.get(one.commit) ?? []), one]);
  return ({ commit, repository }) => {
    const known = outcomes.get(commit) ?? [];
    return known.find((one) => one.repository === repository) ?? known.find(({ id }) => id !== undefined);
  };
}

/** Whether there is a repository that git can be asked about. */
export const hasRepositories = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM repositories LIMIT 1").get() !== undefined;

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

/**
 * Finds commits whose lines another commit of the list has now (amended, rebased, squashed). The lines count once, for the last observed
 * commit, as in the counters.
 */
export function containedIn(commits: readonly CommitWithOutcome[]): (one: CommitWithOutcome) => boolean {
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

// --- internal ---

const VALUES = [
  "full_id",
  "fate",
  "reason",
  "rewritten_by",
  "rewritten_how",
  "reverted_by",
  "reverted_ms",
  "landed_ms",
  "lines_written",
  "lines_now",
  "lines_1",
  "lines_7",
  "lines_30",
  "attested",
  "landing_pull",
];

/** Counted once they are known: later the history may be cut off, or files gone. */
const LASTING: ReadonlySet<string> = new Set([
  "full_id",
  "lines_written",
  "lines_now",
  "lines_1",
  "lines_7",
  "lines_30",
]);

const IS_KNOWN = "excluded.fate <> 'unknown' OR commit_outcomes.fate = 'unknown'";

const PUT = `INSERT INTO commit_outcomes (repository, commit_id, checked_ms, ${VALUES.join(", ")})
  SELECT ${Array.from({ length: VALUES.length + 3 }, (_, at) => `?${at + 1}`).join(", ")}
  WHERE EXISTS (SELECT 1 FROM repositories WHERE id = ?1)
  ON CONFLICT (repository, commit_id) DO UPDATE SET checked_ms = excluded.checked_ms, ${VALUES.map((name) =>
    LASTING.has(name)
      ? `${name} = coalesce(excluded.${name}, ${name})`
      : `${name} = CASE WHEN ${IS_KNOWN} THEN excluded.${name} ELSE ${name} END`,
  ).join(", ")}`;

function toOutcome(row: Row): StoredOutcome {
  const [by, how] = [textIn(row, "rewritten_by"), textIn(row, "rewritten_how")];
  const written = numberIn(row, "lines_written");
  const after = Object.fromEntries(
    ([1, 7, 30] as const satisfies readonly KeptDay[]).flatMap((day) => {
      const kept = numberIn(row, `lines_${day}`);
      return kept === undefined ? [] : [[day, kept]];
    }),
  );
  return defined<StoredOutcome>({
    repository: Number(row["repository"]),
    commit: String(row["commit_id"]),
    checkedMs: Number(row["checked_ms"]),
    id: textIn(row, "full_id"),
    fate: String(row["fate"]) as Fate,
    reason: textIn(row, "reason"),
    rewritten: by === undefined ? undefined : { by, how: how as Rewritten["how"] },
    revertedBy: textIn(row, "reverted_by"),
    revertedMs: numberIn(row, "reverted_ms"),
    landedMs: numberIn(row, "landed_ms"),
    lines: written === undefined ? undefined : defined({ written, now: numberIn(row, "lines_now"), after }),
    attested: JSON.parse(textIn(row, "attested") ?? "[]") as readonly Attestation[],
    landingPull: textIn(row, "landing_pull"),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
