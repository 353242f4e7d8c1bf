/** Milliseconds of a clock that is never set. Not `performance.now()`: Node loads its module on first use, which takes 2 ms. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** No version of this program is older: an earlier time is that of a clock that was never set, such as 1970. */
export const EARLIEST_MS = Date.UTC(2025, 0);

/**
 * Whether a backend's clock can be right.
 *
 * @param dateMs the backend's time, in milliseconds since the epoch
 * @param nowMs this machine's time
 */
export const isPlausibleDate = (dateMs: number, nowMs: number): boolean =>
  dateMs >= EARLIEST_MS && (nowMs < EARLIEST_MS || dateMs - nowMs < MAX_AHEAD_MS);

// --- internal ---

/** No machine with a clock that was ever set is ten years behind. */
const MAX_AHEAD_MS = 10 * 365 * 86_400_000;
