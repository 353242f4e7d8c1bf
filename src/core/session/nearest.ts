/** Ids of two facts that may report the same thing. */
export interface Candidate {
  readonly a: string;
  readonly b: string;
  readonly apartMs: number;
  /** Breaks ties at equal distance. @default the order given */
  readonly order?: number;
}

/** Pairs of ids, each id used once, nearest in time first. */
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
