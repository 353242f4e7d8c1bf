import type { Database } from "#store/database.ts";
import { noPriceNotes, unpricedModels } from "../../report/no-price.ts";
import { usageByGroupings } from "../../report/usage.ts";
import type { UsageRow } from "../../report/usage-row.ts";
import type { Split, TimeUnit, UsageDocument, UsageGroup } from "../wire/usage.ts";
import { chartBuckets, checkBarCount } from "./chart-buckets.ts";
import { type FiguresDeps, type FiguresQuery, figuresOf, firstMs, nameOfKey } from "./figures.ts";

export interface UsageViewQuery extends FiguresQuery {
  readonly unit: TimeUnit;
  readonly split: Split;
}

/**
 * Tokens and cost over time, and by agent, model or repository.
 *
 * @throws RangeError for an unknown time zone, or for more buckets than a chart can show
 */
export function usageOver(db: Database, deps: FiguresDeps, { nowMs, ...query }: UsageViewQuery): UsageDocument {
  const { unit, split } = query;
  const period = { ...query, sinceMs: query.sinceMs ?? firstMs(db) ?? nowMs, untilMs: query.untilMs ?? nowMs };
  checkBarCount(period, `: choose a larger unit than ${unit}, or a shorter period`);
  const [byTime = [], [total] = [], parts = [], bySplit = [], models = []] = usageByGroupings(
    db,
    deps,
    { ...query, sinceMs: period.sinceMs },
    [[unit], [], [unit, split], [split], ["model"]],
  );
  const { buckets, rows } = chartBuckets(period, byTime);
  return {
    kind: "usage",
    unit,
    split,
    sinceMs: period.sinceMs,
    buckets,
    bucketFigures: buckets.map((bucket) => {
      const row = rows.get(bucket);
      return row === undefined ? null : figuresOf(row);
    }),
    total: total === undefined ? null : figuresOf(total),
    noPrice: noPriceNotes(unpricedModels(db, models, query)),
    groups: bySplit.map((row): UsageGroup => {
      const key = row.key[split] ?? null;
      const own = parts.filter((part) => (part.key[split] ?? null) === key);
      return {
        name: nameOfKey(deps, split, key),
        figures: figuresOf(row),
        ...seriesOf(buckets, new Map(own.map((part) => [part.key[unit], part]))),
      };
    }),
    choices: deps.filterValues(db).choices,
  };
}

// --- internal ---

/** Cost and tokens of one group over time; 0 where it has none. */
function seriesOf(
  buckets: readonly string[],
  rows: ReadonlyMap<string | null | undefined, UsageRow>,
): Pick<UsageGroup, "costNanoUsd" | "tokens"> {
  const calls = buckets.map((bucket) => rows.get(bucket)?.calls);
  return {
    costNanoUsd: calls.map((sums) => sums?.costNanoUsd ?? 0),
    tokens: calls.map((sums) => (sums?.input ?? 0) + (sums?.output ?? 0)),
  };
}
