import type { Dimension } from "../query.ts";
import type { UsageRow } from "../usage-row.ts";
import { MEASURES } from "./usage-measure.ts";

/** Sorts rows for reading: by time first, then by cost, tokens and calls, largest first. */
export function inReadingOrder(by: readonly Dimension[], rows: readonly UsageRow[]): readonly UsageRow[] {
  const times = by.filter((dimension) => TIMES.has(dimension));
  const timeOf = ({ key }: UsageRow): string => JSON.stringify(times.map((dimension) => key[dimension]));
  const rank = new Map([...new Set(rows.map(timeOf))].map((time, i) => [time, i]));
  const size = (row: UsageRow): readonly number[] => [
    rank.get(timeOf(row)) ?? 0,
    -(row.calls?.costNanoUsd ?? -1),
    -(MEASURES.tokens(row) ?? -1),
    -(row.calls?.modelCalls ?? row.tools?.calls ?? 0),
    -row.sessions,
  ];
  return rows
    .map((row) => ({ row, size: size(row) }))
    .sort((a, b) => a.size.map((n, i) => n - (b.size[i] ?? 0)).find((difference) => difference !== 0) ?? 0)
    .map(({ row }) => row);
}

/** Dimensions that are buckets of time. */
export const TIMES: ReadonlySet<Dimension> = new Set(["hour", "day", "week", "month"]);
