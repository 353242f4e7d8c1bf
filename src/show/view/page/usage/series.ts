import { shortModel } from "#kit/text/model-name.ts";
import type { UsageDocument, UsageFigures } from "../../wire/documents.ts";
import { plural } from "../text/format.ts";

/** What a chart stacks. */
export interface Series {
  readonly name: string;
  /** Name of a CSS custom property. */
  readonly colour: string;
  /** One per bucket. */
  readonly values: readonly number[];
}

/** Without the empty buckets before the first use; unchanged without any use. */
export function fromFirstUse(usage: UsageDocument): UsageDocument {
  const from = Math.max(
    0,
    usage.bucketFigures.findIndex((figures) => figures !== null),
  );
  return {
    ...usage,
    buckets: usage.buckets.slice(from),
    bucketFigures: usage.bucketFigures.slice(from),
    groups: usage.groups.map((group) => ({ ...group, costUsd: group.costUsd.slice(from) })),
  };
}

/**
 * The kinds of tokens that providers price separately: new input, cache writes, output and, if wanted, cache reads, which are so many and so
 * cheap that the others disappear beside them.
 */
export function tokenSeries({ bucketFigures }: UsageDocument, withCacheReads: boolean): readonly Series[] {
  const valuesOf = (pick: (figures: UsageFigures) => number): readonly number[] =>
    bucketFigures.map((figures) => (figures === null ? 0 : Math.max(0, pick(figures))));
  return [
    ...(withCacheReads
      ? [{ name: "Cache read", colour: "--c-cache-read", values: valuesOf(({ cache_read }) => cache_read ?? 0) }]
      : []),
    { name: "Cache write", colour: "--c-cache-write", values: valuesOf(({ cache_write }) => cache_write ?? 0) },
    {
      name: "New input",
      colour: "--c-input",
      values: valuesOf(({ input, cache_read, cache_write }) => (input ?? 0) - (cache_read ?? 0) - (cache_write ?? 0)),
    },
    { name: "Output", colour: "--c-output", values: valuesOf(({ output }) => output ?? 0) },
  ];
}

/** One series for each of the most expensive groups, and one for all others together. */
export function costSeries({ split, groups, buckets }: UsageDocument): readonly Series[] {
  const nameOf = (name: string | null) => (name === null ? "unknown" : split === "model" ? shortModel(name) : name);
  const byCost = groups.toSorted((a, b) => (b.figures.cost_usd ?? 0) - (a.figures.cost_usd ?? 0));
  const priced = byCost.filter(({ costUsd }) => costUsd.some((usd) => usd > 0));
  const named = priced
    .slice(0, MAX_NAMED)
    .map(({ name, costUsd }, i): Series => ({ name: nameOf(name), colour: `--c-${i + 1}`, values: costUsd }));
  const others = priced.slice(MAX_NAMED);
  if (others.length === 0) return named;
  const values = buckets.map((_, i) => others.reduce((sum, { costUsd }) => sum + (costUsd[i] ?? 0), 0));
  return [...named, { name: plural(others.length, "other"), colour: "--c-others", values }];
}

// --- internal ---

/** The style sheet has this many colours for them. */
const MAX_NAMED = 5;
