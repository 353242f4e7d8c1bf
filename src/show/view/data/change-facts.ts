import type { StoredCommit } from "#core/model/changes.ts";
import { type Fate, KEPT_AFTER_DAYS } from "#core/model/outcomes.ts";
import { isNotedBranch } from "#core/rules/change-facts.ts";
import { grouped } from "#kit/objects.ts";
import { storedChanges, storedCommits } from "#store/changes.ts";
import type { Database } from "#store/database.ts";
import { type OutcomeFigures, outcomeFigures, outcomeReader } from "#store/outcomes.ts";
import { nameOfChange } from "../../report/attribution.ts";

/** What became of the commits of a change. */
export interface ChangeOutcome {
  readonly commits: number;
  /** Commits that were not checked yet. */
  readonly unchecked: number;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly rewritten: number;
  /** Lines that are kept, after the longest known time; `null`: unknown. */
  readonly kept: { readonly days: number; readonly written: number; readonly kept: number } | null;
  /** For a single commit: the commit that reverted it, the one that has its patch now, or why its fate is unknown. */
  readonly note: string | null;
}

/** What is stored of commits and changes themselves, by the names that figures have. */
export class ChangeFacts {
  readonly #commits: ReadonlyMap<string, readonly StoredCommit[]>;
  readonly #changes = new Map<string, { readonly lastMs: number; readonly url: string | null }>();
  readonly #outcomesOf: ReturnType<typeof outcomeReader>;

  constructor(db: Database) {
    this.#outcomesOf = outcomeReader(db);
    this.#commits = grouped(storedCommits(db), ({ commit }) => commit);
    const ends = lastActivities(db);
    for (const change of storedChanges(db).toReversed()) {
      const name = nameOfChange(change);
      const known = this.#changes.get(name);
      const url = known?.url ?? (isWebAddress(change.url) ? change.url : null);
      // A branch that a transcript names counts until the session's next branch, or else until its last activity
      const lastMs = isNotedBranch(change) ? (ends.get(change.session) ?? change.timeMs) : change.timeMs;
      if (isNotedBranch(change)) ends.set(change.session, change.timeMs);
      this.#changes.set(name, { lastMs: Math.max(lastMs, known?.lastMs ?? 0), url });
    }
  }

  urlOf(name: string): string | null {
    return this.#changes.get(name)?.url ?? null;
  }

  /** When the change was seen last, or its last commit was made; `null`: unknown. */
  lastMs(name: string, commits: readonly string[]): number | null {
    const change = this.#changes.get(name);
    const times = [
      ...this.#factsOf(commits).map(({ timeMs }) => timeMs),
      ...(change === undefined ? [] : [change.lastMs]),
    ];
    return times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b));
  }

  outcomeOf(commits: readonly string[]): ChangeOutcome | null {
    const known = this.#outcomesOf(this.#factsOf(commits));
    if (known.length === 0) return null;
    const { kept, linesWritten: _, ...figures } = outcomeFigures(known);
    const [only] = known.length === 1 ? known : [];
    return { ...figures, kept: longestKept(kept), note: noteOf(only?.outcome) };
  }

  #factsOf = (commits: readonly string[]): readonly StoredCommit[] =>
    commits.flatMap((commit) => this.#commits.get(commit) ?? []);
}

// --- internal ---

/** When sessions whose transcripts name branches were last active, by their numbers. */
const lastActivities = (db: Database): Map<number, number> =>
  new Map(
    db
      .prepare("SELECT id, last_ms FROM sessions WHERE id IN (SELECT session FROM changes WHERE how = 'transcript')")
      .all()
      .map((row) => [Number(row["id"]), Number(row["last_ms"])]),
  );

function longestKept(kept: OutcomeFigures["kept"]): ChangeOutcome["kept"] {
  const days = KEPT_AFTER_DAYS.findLast((after) => kept[after].written > 0);
  return days === undefined ? null : { days, ...kept[days] };
}

function noteOf(
  outcome:
    | { readonly rewritten?: { readonly by: string }; readonly revertedBy?: string; readonly reason?: string }
    | undefined,
): string | null {
  if (outcome?.revertedBy !== undefined) return `by ${outcome.revertedBy.slice(0, SHOWN_DIGITS)}`;
  if (outcome?.rewritten !== undefined) return `as ${outcome.rewritten.by.slice(0, SHOWN_DIGITS)}`;
  return outcome?.reason ?? null;
}

const SHOWN_DIGITS = 10;

/** What agents printed becomes a link only if it leads to a web page. */
const isWebAddress = (url: string | undefined): url is string =>
  url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
