/** Runs drains while pages are open. */
export interface LiveDrains {
  /** A page was opened. @returns a function for when it is closed */
  join(): () => void;
  /** No drain starts any more. @returns when the running one has ended */
  close(): Promise<void>;
}

/**
 * Runs a drain every two seconds while there are open pages, and only then. The next one starts after the one before has ended.
 *
 * @param drain never rejects
 */
export function liveDrains(drain: () => Promise<void>): LiveDrains {
  let pages = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const run = (): void => {
    timer = undefined;
    const startMs = performance.now();
    running = drain().then(() => {
      running = undefined;
      schedule(Math.max(MIN_PAUSE_MS, INTERVAL_MS - (performance.now() - startMs)));
    });
  };
  const schedule = (afterMs: number): void => {
    if (isClosed || pages === 0 || timer !== undefined || running !== undefined) return;
    timer = setTimeout(run, afterMs);
  };
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    join() {
      pages++;
      schedule(0);
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        if (--pages === 0) stop();
      };
    },
    async close() {
      isClosed = true;
      stop();
      await running;
    },
  };
}

// --- internal ---

const INTERVAL_MS = 2_000;
/** After a drain that took longer than the interval, so that the page's requests are answered. */
const MIN_PAUSE_MS = 250;
