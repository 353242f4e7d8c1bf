/** Two things that could be one, by their ids. */
export interface Candidate {
  readonly a: string;
  readonly b: string;
  readonly apartMs: number;
  /** Which comes first of those as far apart. @default as they are given */
  readonly order?: number;
}

/** Pairs of ids, each id once: of all that could be paired, those nearest in time. */
export function nearestPairs(candidates: readonly Candidate[]): ReadonlyMap<string, string> {
  const sorted = candidates.toSorted((x, y) => x.apartMs - y.apartMs || (x.order ?? 0) - (y.order ?? 0));
  const pairs = new Map<string, string>();
  const taken = new Set<string>();
  for (const { a, b } of sorted) {
    if (pairs.has(a) || taken.has(b)) continue;
    pairs.set(a, b);
    taken.add(b);
  }
  return pairs;
}
