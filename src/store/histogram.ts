import type { MetricShape } from "#core/model/telemetry.ts";

/** A cumulative histogram. Also the JSON in the column `histogram`. */
export interface Histogram {
  readonly count: number;
  readonly sum: number;
  /** 0 while `count` is 0. */
  readonly min: number;
  readonly max: number;
  /** One for each bound of the metric, and one for values above the last bound. */
  readonly bucketCounts: readonly number[];
}

/** A histogram without values. */
export const emptyHistogram = (shape: MetricShape): Histogram => ({
  count: 0,
  sum: 0,
  min: 0,
  max: 0,
  bucketCounts: new Array<number>((shape.bounds?.length ?? 0) + 1).fill(0),
});

/** A histogram with one more value. @param bounds inclusive upper bounds, ascending */
export function withValue(h: Histogram, bounds: readonly number[], value: number): Histogram {
  const found = bounds.findIndex((bound) => value <= bound);
  const bucket = found === -1 ? bounds.length : found;
  return {
    count: h.count + 1,
    sum: h.sum + value,
    min: h.count === 0 ? value : Math.min(h.min, value),
    max: h.count === 0 ? value : Math.max(h.max, value),
    bucketCounts: h.bucketCounts.map((n, i) => (i === bucket ? n + 1 : n)),
  };
}

/** All values of two histograms; `b` is not empty. */
export const sumOf = (a: Histogram, b: Histogram): Histogram => ({
  count: a.count + b.count,
  sum: a.sum + b.sum,
  min: a.count === 0 ? b.min : Math.min(a.min, b.min),
  max: a.count === 0 ? b.max : Math.max(a.max, b.max),
  bucketCounts: b.bucketCounts.map((n, i) => n + (a.bucketCounts[i] ?? 0)),
});

/**
 * The values of `now` that are not in `before`. Their own minimum and maximum are not known: it has those of all values, the
 * closest bounds that are certain.
 */
export const differenceOf = (now: Histogram, before: Histogram): Histogram => ({
  count: now.count - before.count,
  sum: now.sum - before.sum,
  min: now.min,
  max: now.max,
  bucketCounts: now.bucketCounts.map((n, i) => n - (before.bucketCounts[i] ?? 0)),
});
