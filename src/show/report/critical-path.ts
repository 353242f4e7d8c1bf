/** A piece of work with a start and an end. */
export interface Work<T> {
  readonly startMs: number;
  readonly endMs: number;
  /** It mostly waits for other work, like a tool call that started a subagent: that other work takes precedence. */
  readonly isHost: boolean;
  readonly value: T;
}

/** The work that a stretch of time was spent on; `value` is absent if none is known. */
interface Stretch<T> {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value?: T;
}

/**
 * The critical path: for each moment the work that the session waited for. Computed backwards: the work that ended last
 * counts back to its start, then the work that had ended by then, and so on. Where no work had just ended, running work
 * counts, the latest started first, hosts last.
 *
 * @returns consecutive stretches from `fromMs` to `toMs`, merged where possible; none if that range is empty
 */
export function criticalPath<T>(fromMs: number, toMs: number, works: readonly Work<T>[]): readonly Stretch<T>[] {
  const clipped = works
    .map(({ startMs, endMs, isHost, value }) => ({
      startMs: Math.max(startMs, fromMs),
      endMs: Math.min(endMs, toMs),
      isHost,
      value,
      goesOn: endMs > toMs,
    }))
    .filter((work) => work.endMs > work.startMs);
  const byEnd = [...clipped].sort((a, b) => b.endMs - a.endMs);
  const bounds = [...new Set(clipped.flatMap(({ startMs, endMs }) => [startMs, endMs]))].sort((a, b) => b - a);
  const running = new Running<T>();
  const hosts = new Running<T>();
  const backwards: Stretch<T>[] = [];
  let current: Work<T> | undefined;
  /** Whether later work waited for the end of `current`. False: it was only running at that time. */
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

/** Prefers the longer of two that ended at the same time. */
const isLonger = (a: Work<unknown>, b: Work<unknown>): boolean => a.endMs === b.endMs && a.startMs < b.startMs;

/** Running work at a moment that only moves back, latest start first. A heap, because thousands may never have ended. */
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

  /** @returns `undefined` when no earlier work is running; work that started later is removed permanently */
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
