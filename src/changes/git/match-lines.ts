/**
 * Which lines of a text are still in a later one, in the same order: as `diff` finds them.
 *
 * @returns one flag per line of `before`
 */
export function matchLines(before: readonly string[], after: readonly string[]): Uint8Array {
  const kept = new Uint8Array(before.length);
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) kept[start++] = 1;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    kept[--endBefore] = 1;
    endAfter--;
  }
  const [left, right] = numbered(before.slice(start, endBefore), after.slice(start, endAfter));
  const found = shortestEdit(left, right) ?? commonUniqueLines(left, right);
  for (const at of found) kept[start + at] = 1;
  return kept;
}

// --- internal ---

/** With more differences the two texts have little in common, and the exact answer would take too much memory. */
const MAX_DIFFERENCES = 1_500;

/** Equal lines get equal numbers. */
function numbered(...texts: readonly (readonly string[])[]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const [left, right] = texts.map((lines) =>
    Int32Array.from(lines, (line) => {
      const number = numbers.get(line) ?? numbers.size;
      numbers.set(line, number);
      return number;
    }),
  );
  return [left ?? new Int32Array(), right ?? new Int32Array()];
}

/** Myers, "An O(ND) Difference Algorithm": lines of the left text that both have. @returns `undefined` if there are too many differences */
function shortestEdit(left: Int32Array, right: Int32Array): readonly number[] | undefined {
  const [n, m] = [left.length, right.length];
  if (n === 0 || m === 0) return [];
  const max = Math.min(n + m, MAX_DIFFERENCES);
  const reached = new Int32Array(2 * max + 3);
  const trace: Int32Array[] = [];
  const at = (k: number): number => reached[k + max + 1] ?? 0;
  for (let d = 0; d <= max; d++) {
    trace.push(reached.slice(max + 1 - d - 1, max + 1 + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && left[x] === right[x - k]) x++;
      reached[k + max + 1] = x;
      if (x >= n && x - k >= m) return walkBack(trace, n, m);
    }
  }
  return undefined;
}

function walkBack(trace: readonly Int32Array[], n: number, m: number): readonly number[] {
  const common: number[] = [];
  let [x, y] = [n, m];
  for (let d = trace.length - 1; d >= 0; d--) {
    // What was reached with d - 1 differences; the middle is diagonal 0
    const reached = trace[d] as Int32Array;
    const at = (k: number): number => reached[k + d + 1] ?? 0;
    const k = x - y;
    const previous = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const fromX = d === 0 ? 0 : at(previous);
    const fromY = d === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      common.push(--x);
      y--;
    }
    [x, y] = [fromX, fromY];
  }
  return common;
}

/** The longest run, in order, of lines that both texts have exactly once: at least these are kept. */
function commonUniqueLines(left: Int32Array, right: Int32Array): readonly number[] {
  const [inLeft, inRight] = [placesOfUnique(left), placesOfUnique(right)];
  const pairs = [...inLeft].flatMap(([line, at]) => {
    const to = inRight.get(line);
    return to === undefined ? [] : [{ at, to, before: -1 }];
  });
  // Longest increasing sequence: for each length the pair with the smallest end
  const ends: number[] = [];
  for (const [i, pair] of pairs.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] as number]?.to ?? 0) < pair.to) low = middle + 1;
      else high = middle;
    }
    pair.before = low > 0 ? (ends[low - 1] as number) : -1;
    ends[low] = i;
  }
  const common: number[] = [];
  for (let i = ends.at(-1) ?? -1; i >= 0; i = pairs[i]?.before ?? -1) common.push(pairs[i]?.at ?? 0);
  return common;
}

function placesOfUnique(lines: Int32Array): Map<number, number> {
  const places = new Map<number, number>();
  for (const [at, line] of lines.entries()) places.set(line, places.has(line) ? -1 : at);
  return new Map([...places].filter(([, at]) => at >= 0));
}
