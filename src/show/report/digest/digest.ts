import { isoTime, usd } from "#kit/text/figures.ts";
import { startOfDay } from "../buckets.ts";

export type DigestUnit = "week" | "month";

/** A whole week or month of the local calendar. */
export interface Period {
  readonly sinceMs: number;
  /** The first moment after it. */
  readonly untilMs: number;
}

/** What a lead forwards. No figure is one of a person, and no name is one of a person or session. */
export interface Digest {
  readonly unit: DigestUnit;
  /** Whose work it is: `this machine`, or the address of the team's Prometheus. */
  readonly of: string;
  readonly period: Period;
  readonly figures: DigestFigures;
  /** Of the week or month before. */
  readonly before: DigestFigures;
  /** By cost; those that are not among the first are summed up. */
  readonly repositories: readonly Part[];
  readonly models: readonly Part[];
  /** What is not known, in words. */
  readonly unknown: readonly string[];
  /** Agents that are known to run on a subscription: their cost is not what anybody pays. */
  readonly subscribed: readonly string[];
}

/** Absent: unknown. */
export interface DigestFigures {
  readonly costNanoUsd?: number;
  /** A part of the cost is unknown. */
  readonly isCostLeast: boolean;
  readonly sessions?: number;
  readonly turns?: number;
  /** Failed and interrupted ones. */
  readonly failedTurns?: number;
  readonly workMs?: number;
  readonly toolCalls?: number;
  readonly toolErrors?: number;
  readonly merged?: number;
}

/** One repository or model; `name` is absent for all others together. */
export interface Part {
  readonly name?: string;
  readonly costNanoUsd?: number;
}

/** The last whole week (from Monday) or month before a time, or the one before that. @param back 1: the last, 2: the one before */
export function periodBefore(unit: DigestUnit, nowMs: number, back: number): Period {
  const now = new Date(nowMs);
  if (unit === "month") {
    const [sinceMs, untilMs] = [back, back - 1].map((months) =>
      new Date(now.getFullYear(), now.getMonth() - months, 1).getTime(),
    );
    return { sinceMs: sinceMs ?? 0, untilMs: untilMs ?? 0 };
  }
  const monday = -((now.getDay() + 6) % 7);
  return { sinceMs: startOfDay(nowMs, monday - 7 * back), untilMs: startOfDay(nowMs, monday - 7 * (back - 1)) };
}

/** The first parts by cost, and all others as one. A part without a known cost comes last. */
export function firstParts(all: readonly Part[], limit: number): readonly Part[] {
  const sorted = all.toSorted((a, b) => (b.costNanoUsd ?? -1) - (a.costNanoUsd ?? -1));
  const others = sorted.slice(limit);
  if (others.length === 0) return sorted;
  const known = others.flatMap(({ costNanoUsd }) => costNanoUsd ?? []);
  return [
    ...sorted.slice(0, limit),
    known.length === 0 ? {} : { costNanoUsd: known.reduce((sum, cost) => sum + cost, 0) },
  ];
}

/** What a merged change cost on average; `undefined` if nothing was merged, or it is not known. */
export const costPerMerged = ({ costNanoUsd, merged }: DigestFigures): number | undefined =>
  costNanoUsd === undefined || !merged ? undefined : costNanoUsd / merged;

/** A digest as a JSON document. Unknown is `null`, never 0. */
export const digestJson = ({ unit, of, period, figures, before, repositories, models, ...notes }: Digest) => ({
  unit,
  of,
  since: isoTime(period.sinceMs),
  until: isoTime(period.untilMs),
  figures: figuresJson(figures),
  before: figuresJson(before),
  repositories: repositories.map(partJson),
  models: models.map(partJson),
  unknown: notes.unknown,
  subscription_agents: notes.subscribed,
});

// --- internal ---

const figuresJson = (figures: DigestFigures) => ({
  cost_usd: usd(figures.costNanoUsd),
  cost_is_lower_bound: figures.isCostLeast,
  sessions: figures.sessions ?? null,
  turns: figures.turns ?? null,
  failed_turns: figures.failedTurns ?? null,
  work_ms: figures.workMs ?? null,
  tool_calls: figures.toolCalls ?? null,
  tool_errors: figures.toolErrors ?? null,
  merged_changes: figures.merged ?? null,
  cost_per_merged_change_usd: usd(costPerMerged(figures)),
});

const partJson = ({ name, costNanoUsd }: Part) => ({ name: name ?? null, cost_usd: usd(costNanoUsd) });
