import type { TokenUsage } from "../model/transcript.ts";

/**
 * Limits cache writes by lifetime to the number of tokens that were written. A server that retries can report the breakdown of
 * the first attempt with the sum of the second one: the sum is then right and the breakdown wrong. Writes for an hour are kept
 * first: the higher price is never replaced by a lower one.
 *
 * @returns the same object if its parts are within their sum
 */
export function withLifetimesInWrites<T extends Writes>(usage: T): T {
  const { cacheWrite, cacheWrite5m = 0, cacheWrite1h = 0 } = usage;
  // Nothing limits the parts of an unknown sum
  if (cacheWrite === undefined) return usage;
  if (cacheWrite5m + cacheWrite1h <= cacheWrite) return usage;
  const hour = Math.min(cacheWrite1h, cacheWrite);
  return {
    ...usage,
    ...(usage.cacheWrite5m !== undefined && { cacheWrite5m: cacheWrite - hour }),
    ...(usage.cacheWrite1h !== undefined && { cacheWrite1h: hour }),
  };
}

// --- internal ---

type Writes = Partial<Pick<TokenUsage, "cacheWrite" | "cacheWrite5m" | "cacheWrite1h">>;
