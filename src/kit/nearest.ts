/**
 * The most likely candidate, for "did you mean".
 *
 * @returns `undefined` if nothing is close: a wrong guess is worse than none
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  const sameEnding = candidates.filter((candidate) => lastPart(candidate.toLowerCase()) === lastPart(wanted));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of sameEnding.length > 0 ? sameEnding : candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined) return undefined;
  // With two changes any two letters become any other two
  const maxChanges = word.length <= 3 ? 1 : Math.max(2, Math.floor(word.length / 4));
  const bound = sameEnding.length > 0 ? Number.POSITIVE_INFINITY : maxChanges;
  return best.distance <= bound ? best.candidate : undefined;
}

/** ` Did you mean X?`, or nothing. */
export function hint(word: string, candidates: readonly string[]): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

// --- internal ---

/** `endpoint` of `otlp.endpoint`: a setting at the wrong level is the most common mistake. */
const lastPart = (key: string): string => key.slice(key.lastIndexOf(".") + 1);

/** Levenshtein distance. Long words are cut: no setting is that long. */
function editDistance(a: string, b: string): number {
  const [left, right] = [a.slice(0, 80), b.slice(0, 80)];
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
