/** Something that took time. */
export interface Work<T> {
  readonly startMs: number;
  readonly endMs: number;
  /** It waits for others most of the time, as the tool call that started a subagent does: what it waits for comes first. */
  readonly isHost: boolean;
  readonly value: T;
}

/** What the time went on, from one moment to the next; `value` absent: on nothing that is known. */
export interface Stretch<T> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value?: T;
}

/**
 * What had to be waited for, moment by moment: of works at the same time, the one without which the next would not have
 * begun. Goes back from the end: what ended last is what was waited for, back to its start; then what had ended by then,
 * and so on. Where nothing had just ended, what was running counts, the latest begun first, hosts last.
 *
 * @returns stretches in order of time that follow each other from `fromMs` to `toMs`, each as long as it can be; none
 *          where that is no time at all
 */
export function criticalPath<T>(fromMs: number, toMs: number, works: readonly Work<T>[]): readonly Stretch<T>[] {
  const clipped = works
    .map((work) => ({
      ...work,
      startMs: Math.max(work.startMs, fromMs),
      endMs: Math.min(work.endMs, toMs),
      goesOn: work.endMs > toMs,
    }))
    .filter((work) => work.endMs > work.startMs);
  const byEnd = [...clipped].sort((a, b) => b.endMs - a.endMs);
  const bounds = [...new Set(clipped.flatMap(({ startMs, endMs }) => [startMs, endMs]))].sort((a, b) => b - a);
  const running = new Running<T>();
  const hosts = new Running<T>();
  const backwards: Stretch<T>[] = [];
  let current: Work<T> | undefined;
  /** It ended just when the next began, or nothing was known. */
  let isWaitedFor = false;
  let [nextEnd, nextBound, cursorMs] = [0, 0, toMs];
  while (cursorMs > fromMs) {
    if (current !== undefined && current.startMs >= cursorMs) current = undefined;
    for (let work = byEnd[nextEnd]; work !== undefined && work.endMs >= cursorMs; work = byEnd[++nextEnd]) {
      (work.isHost ? hosts : running).add(work);
      if (work.isHost || work.goesOn) continue;
      if (current === undefined || !isWaitedFor || isLonger(work, current)) [current, isWaitedFor] = [work, true];
    }
    if (current === undefined) [current, isWaitedFor] = [running.latest(cursorMs) ?? hosts.latest(cursorMs), false];
    while ((bounds[nextBound] ?? fromMs) >= cursorMs && nextBound < bounds.length) nextBound++;
    const lowerMs = Math.max(fromMs, bounds[nextBound] ?? fromMs);
    push(backwards, lowerMs, cursorMs, current);
    cursorMs = lowerMs;
  }
  return backwards.reverse();
}

// --- internal ---

/** Of two that ended at once, the longer. */
const isLonger = (a: Work<unknown>, b: Work<unknown>): boolean => a.endMs === b.endMs && a.startMs < b.startMs;

/** Works at a moment that only goes back, the latest begun on top: a heap, since thousands may never have ended. */
class Running<T> {
  readonly #heap: Work<T>[] = [];

  add(work: Work<T>): void {
    const heap = this.#heap;
    let at = heap.push(work) - 1;
    for (let above = (at - 1) >> 1; at > 0 && before(work, heap[above]); above = (at - 1) >> 1) {
      [heap[at], heap[above]] = [heap[above] ?? work, work];
      at = above;
    }
  }

  /** @returns `undefined` when nothing that began before is running; what began later is gone for good */
  latest(cursorMs: number): Work<T> | undefined {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (top.startMs < cursorMs) return top;
      this.#dropTop();
    }
    return undefined;
  }

  #dropTop(): void {
    const heap = this.#heap;
    const work = heap.pop();
    if (work === undefined || heap.length === 0) return;
    heap[0] = work;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = heap[right] !== undefined && before(heap[right], heap[left]) ? right : left;
      const other = heap[below];
      if (other === undefined || !before(other, work)) return;
      [heap[at], heap[below]] = [other, work];
      at = below;
    }
  }
}

const before = (a: Work<unknown>, b: Work<unknown> | undefined): boolean => b !== undefined && a.startMs > b.startMs;

function push<T>(backwards: Stretch<T>[], fromMs: number, toMs: number, work: Work<T> | undefined): void {
  const later = backwards.at(-1);
  const value = work?.value;
  if (later !== undefined && later.value === value) backwards[backwards.length - 1] = { ...later, fromMs };
  else backwards.push({ fromMs, toMs, ...(value !== undefined && { value }) });
}
