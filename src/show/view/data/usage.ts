import { usd } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import { chargeNotes } from "../../report/charges.ts";
import { coveredBy, coveredNotes } from "../../report/covered.ts";
import { missingNotes } from "../../report/missing.ts";
import { unpricedModels } from "../../report/prices.ts";
import type { TimeUnit } from "../../report/query.ts";
import { unseenSearches } from "../../report/unseen-searches.ts";
import { usageByGroupings } from "../../report/usage.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import type { Split } from "../wire/api.ts";
import { chartBuckets, checkBarCount, type FiguresDeps, type FiguresQuery, firstMs, nameOfKey } from "./figures.ts";
import { figuresOf } from "./rows.ts";

interface UsageViewQuery extends FiguresQuery {
  readonly unit: TimeUnit;
  readonly split: Split;
}

/**
 * Tokens and cost over time, and by agent, model or repository.
 *
 * @throws RangeError for an unknown time zone, or for more buckets than a chart can show
 */
export function usageOver(db: Database, deps: FiguresDeps, { nowMs, ...query }: UsageViewQuery) {
  const { unit, split } = query;
  const { sinceMs = 0, untilMs = nowMs } = query;
  // The days before the first session are no days without work
  const period = { ...query, sinceMs: Math.max(sinceMs, startOfHour(firstMs(db) ?? nowMs)), untilMs };
  checkBarCount(period, `: choose a larger unit than ${unit}, or a shorter period`);
  const [byTime = [], [total] = [], parts = [], bySplit = [], models = []] = usageByGroupings(
    db,
    deps,
    { ...query, sinceMs },
    [[unit], [], [unit, split], [split], ["model"]],
  );
  const { buckets, rows } = chartBuckets(period, byTime);
  return {
    kind: "usage" as const,
    unit,
    split,
    sinceMs: period.sinceMs,
    /** Names of all buckets in order, also of empty ones: `2026-11-21T07:00+01:00`, `2026-11-21`, `2026-W47`, `2026-11`. */
    buckets,
    /** `null`: an empty bucket. */
    bucketFigures: buckets.map((bucket) => {
      const row = rows.get(bucket);
      return row === undefined ? null : figuresOf(row);
    }),
    total: total === undefined ? null : figuresOf(total),
    /** What was charged besides tokens, and what flat plans cover, in sentences. */
    charges: [...(total === undefined ? [] : chargeNotes(total)), ...coveredNotes(coveredBy(db, deps, query))],
    /** What is missing in the total, why, and what to do, in sentences. */
    missing: missingNotes({
      ...total,
      unpriced: unpricedModels(db, models, query),
      unseen: unseenSearches(db, deps, query),
    }),
    groups: bySplit.map((row) => {
      const key = row.key[split] ?? null;
      const own = parts.filter((part) => (part.key[split] ?? null) === key);
      return {
        /** `null`: unknown. */
        name: nameOfKey(deps, split, key),
        /** The value of its filter. */
        key,
        figures: figuresOf(row),
        ...seriesOf(buckets, new Map(own.map((part) => [part.key[unit], part]))),
      };
    }),
    choices: deps.filterValues(db).choices,
  };
}

// --- internal ---

const startOfHour = (ms: number): number => ms - (ms % 3_600_000);

/** Cost and tokens of one group, one value per bucket; 0 if there was no usage or none was reported. */
function seriesOf(
  buckets: readonly string[],
  rows: ReadonlyMap<string | null | undefined, UsageRow>,
): { readonly costUsd: readonly number[]; readonly tokens: readonly number[] } {
  const calls = buckets.map((bucket) => rows.get(bucket)?.calls);
  return {
    costUsd: calls.map((sums) => usd(sums?.costNanoUsd) ?? 0),
    tokens: calls.map((sums) => (sums?.input ?? 0) + (sums?.output ?? 0)),
  };
}
