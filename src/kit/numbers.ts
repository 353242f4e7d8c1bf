/** Adds a value to a sum of several calls. Unknown is not 0: a sum stays unknown (`null` or `undefined`) until a value is known. */
export const plusKnown = <Unknown extends null | undefined>(
  sum: number | Unknown,
  value: number | null | undefined,
): number | Unknown => (value === undefined || value === null ? sum : (sum ?? 0) + value);

/** The sum of the known values; `undefined` if none is known. */
export const sumKnown = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce<number | undefined>(plusKnown, undefined);

/**
 * A figure that includes others, such as input that includes the cache. A part that is not reported adds nothing; without the
 * figure itself the result is unknown, even if its parts are known.
 */
export const withParts = (own: number | undefined, ...parts: readonly (number | undefined)[]): number | undefined =>
  own === undefined ? undefined : sumKnown([own, ...parts]);

/** The sum of values that are all needed: unknown if one of them is. */
export const sumOfAll = (...values: readonly (number | undefined)[]): number | undefined =>
  values.includes(undefined) ? undefined : sumKnown(values);

/**
 * The minimum of any number of values: a turn can have more calls than `Math.min(...)` accepts arguments.
 *
 * @param among one more value. @default Infinity
 * @returns `among` if there are no values
 */
export const minOf = (values: readonly number[], among = Infinity): number =>
  values.reduce((least, value) => Math.min(least, value), among);

/**
 * The maximum of any number of values, see `minOf`.
 *
 * @param among one more value. @default -Infinity
 * @returns `among` if there are no values
 */
export const maxOf = (values: readonly number[], among = -Infinity): number =>
  values.reduce((greatest, value) => Math.max(greatest, value), among);

export type Interval = readonly [fromMs: number, toMs: number];

/** The intervals in order of time, those that overlap or touch as one. */
export function merged(intervals: readonly Interval[]): readonly Interval[] {
  const all: [number, number][] = [];
  for (const [from, to] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else all.push([from, to]);
  }
  return all;
}

/** The time in which at least one of some runs lasted, in milliseconds. */
export const coveredMs = (runs: readonly { readonly startMs: number; readonly endMs: number }[]): number =>
  merged(runs.map(({ startMs, endMs }) => [startMs, endMs])).reduce(
    (sum, [from, to]) => sum + Math.max(0, to - from),
    0,
  );
