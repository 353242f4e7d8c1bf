/**
 * The creation time of an id. Ids of messages and parts begin with 48 bits of time: milliseconds times 4096 plus a counter, without
 * the upper bits, so they repeat every 2.2 years.
 *
 * @param nearMs a time less than a year from the creation
 * @returns milliseconds since the epoch; `undefined` for ids of another form
 */
export function idTimeMs(id: string, nearMs: number): number | undefined {
  const digits = /^[a-z]+_([0-9a-f]{12})/.exec(id)?.[1];
  if (digits === undefined || !Number.isFinite(nearMs)) return undefined;
  const within = Math.floor(Number.parseInt(digits, 16) / 4096);
  const round = Math.floor(nearMs / ROUND_MS) * ROUND_MS + within;
  return [round - ROUND_MS, round, round + ROUND_MS].reduce((best, ms) =>
    Math.abs(ms - nearMs) < Math.abs(best - nearMs) ? ms : best,
  );
}

/** Whether a fork copied the part: copies have new ids and old times, so the id is younger than the end. */
export function isCopy(id: string, endMs: number): boolean {
  const born = idTimeMs(id, endMs);
  return born !== undefined && born > endMs + SAME_MOMENT_MS;
}

/** The same for a clock that was set back before the fork: the id is older than the creation time. */
export function isOlderCopy(id: string, createdMs: number): boolean {
  const born = idTimeMs(id, createdMs);
  return born !== undefined && born < createdMs - SAME_SECOND_MS;
}

// --- internal ---

const ROUND_MS = 2 ** 36;
/** Usual difference between an id and its time, which are created one after the other. */
const SAME_MOMENT_MS = 50;
/** Largest difference between an id and its time on a busy machine. */
const SAME_SECOND_MS = 1_000;
