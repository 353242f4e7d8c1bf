import type { Sums } from "../../wire/figures.ts";
import type { UsageDocument } from "../../wire/usage.ts";
import { plural } from "../text/format.ts";

/** What a chart stacks. */
export interface Series {
  readonly name: string;
  /** Name of a CSS custom property. */
  readonly colour: string;
  /** One per bucket. */
  readonly values: readonly number[];
}

/**
 * The kinds of tokens that providers price separately: new input, cache writes, output and, if wanted, cache reads, which are so many and so
 * cheap that the others disappear beside them.
 */
export function tokenSeries({ bucketFigures }: UsageDocument, withCacheReads: boolean): readonly Series[] {
  const of = (pick: (sums: Sums) => number): readonly number[] =>
    bucketFigures.map((figures) => (figures === null ? 0 : Math.max(0, pick(figures.sums))));
  return [
    ...(withCacheReads
      ? [{ name: "Cache read", colour: "--c-cache-read", values: of((sums) => sums.cacheRead ?? 0) }]
      : []),
    { name: "Cache write", colour: "--c-cache-write", values: of((sums) => sums.cacheWrite ?? 0) },
    {
      name: "New input",
      colour: "--c-input",
      values: of((sums) => (sums.input ?? 0) - (sums.cacheRead ?? 0) - (sums.cacheWrite ?? 0)),
    },
    { name: "Output", colour: "--c-output", values: of((sums) => sums.output ?? 0) },
  ];
}

/** One series for each of the most expensive groups, and one for all others together. */
export function costSeries({ groups, buckets }: UsageDocument): readonly Series[] {
  const byCost = groups.toSorted((a, b) => (b.figures.sums.costNanoUsd ?? 0) - (a.figures.sums.costNanoUsd ?? 0));
  const priced = byCost.filter(({ costNanoUsd }) => costNanoUsd.some((nano) => nano > 0));
  const named = priced
    .slice(0, MAX_NAMED)
    .map((group, i): Series => ({ name: group.name ?? "unknown", colour: `--c-${i + 1}`, values: group.costNanoUsd }));
  const others = priced.slice(MAX_NAMED);
  if (others.length === 0) return named;
  const values = buckets.map((_, i) => others.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd[i] ?? 0), 0));
  return [...named, { name: plural(others.length, "other"), colour: "--c-others", values }];
}

// --- internal ---

/** The style sheet has this many colours for them. */
const MAX_NAMED = 5;
