import type { Certainty } from "#core/model/changes.ts";
import type { Fate } from "#core/model/outcomes.ts";
import type { ChangeDimension } from "../../report/dimensions.ts";
import type { Choices, Sums, UsageFigures } from "./figures.ts";

export { FATES } from "#core/model/outcomes.ts";
export type { ChangeDimension, Fate };

export const CHANGE_SORTS = ["cost", "recent"] as const;
export type ChangeSort = (typeof CHANGE_SORTS)[number];

export interface ChangesDocument {
  readonly kind: "changes";
  readonly by: ChangeDimension;
  readonly sinceMs: number;
  /** In the requested order, at most the requested number. */
  readonly rows: readonly ChangeRow[];
  /** Number of changes, also beyond the limit. */
  readonly rowCount: number;
  /** Cost of all changes; with that of `without` it adds up to that of `total`. */
  readonly withCost: Pick<Sums, "costNanoUsd" | "costIsLowerBound">;
  /** Work that led to no change that is known; `null`: there is none. */
  readonly without: UsageFigures | null;
  /** All work of the period; `null`: there is none. */
  readonly total: UsageFigures | null;
  /** What became of all commits of the rows. */
  readonly outcome: ChangeOutcome | null;
  readonly choices: Choices;
}

/** A commit, pull request, branch or ticket, with the work that led to it. */
export interface ChangeRow {
  /** Id of the commit, `acme/shop#12`, `SHOP-12`, name of the branch. */
  readonly key: string;
  /** Address of the pull request; `null`: unknown, or it has none. */
  readonly url: string | null;
  readonly certainty: Certainty;
  /** Display names; empty: unknown. */
  readonly repositories: readonly string[];
  /** Agents by name. */
  readonly agents: readonly string[];
  /** Time of the commit, or when the change was seen last. */
  readonly timeMs: number | null;
  readonly figures: UsageFigures;
  /** `null`: no commit of it is known. */
  readonly outcome: ChangeOutcome | null;
  /** The most expensive first. Their figures add up to those of the row. */
  readonly sessions: readonly ChangePart[];
}

/** The part of a session that led to a change. */
export interface ChangePart {
  readonly source: string;
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  readonly figures: UsageFigures;
}

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

/** What a session led to. */
export interface SessionChange {
  readonly by: "change" | "commit";
  readonly key: string;
  readonly certainty: Certainty;
  /** `null`: unknown. */
  readonly costNanoUsd: number | null;
}
