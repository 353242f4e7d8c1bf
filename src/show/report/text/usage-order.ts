import { sumKnown } from "#kit/known.ts";
import { type Dimension, TIME_UNITS } from "../dimensions.ts";
import type { UsageRow } from "../usage-row.ts";
import { MEASURES } from "./usage-measure.ts";

/**
 * Sorts rows for reading, by the first key, then by the next ones: times in order, everything else by cost, tokens and calls of the
 * whole group, largest first.
 */
export function inReadingOrder(by: readonly Dimension[], rows: readonly UsageRow[]): readonly UsageRow[] {
  const [first, ...others] = by;
  if (first === undefined) return rows;
  const groups = new Map<string | null, UsageRow[]>();
  for (const row of rows) {
    const key = row.key[first] ?? null;
    if (groups.get(key)?.push(row) === undefined) groups.set(key, [row]);
  }
  const all = [...groups.values()].map((group) => ({ group, size: sizeOf(group) }));
  const ordered = TIMES.has(first) ? all : all.sort((a, b) => compare(a.size, b.size));
  return ordered.flatMap(({ group }) => inReadingOrder(others, group));
}

/** Dimensions that are buckets of time. */
export const TIMES: ReadonlySet<Dimension> = new Set(TIME_UNITS);

// --- internal ---

const sizeOf = (rows: readonly UsageRow[]): readonly number[] => [
  sumKnown(rows.map(MEASURES.cost)) ?? -1,
  sumKnown(rows.map(MEASURES.tokens)) ?? -1,
  sum(rows, (row) => row.calls?.modelCalls ?? row.tools?.calls ?? 0),
  sum(rows, (row) => row.sessions),
];

const sum = (rows: readonly UsageRow[], figureOf: (row: UsageRow) => number): number =>
  rows.reduce((n, row) => n + figureOf(row), 0);

const compare = (a: readonly number[], b: readonly number[]): number =>
  b.map((n, i) => n - (a[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
