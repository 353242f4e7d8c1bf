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
