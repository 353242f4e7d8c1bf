/**
 * When an id was created. Ids of messages and parts begin with 48 bits of time: milliseconds times 4096 plus a counter, without the
 * upper bits, so that they repeat every 2.2 years.
 *
 * @param nearMs a time less than a year away
 * @returns milliseconds since the epoch; `undefined` for ids of another form
 */
export function bornMs(id: string, nearMs: number): number | undefined {
  const digits = /^[a-z]+_([0-9a-f]{12})/.exec(id)?.[1];
  if (digits === undefined || !Number.isFinite(nearMs)) return undefined;
  const within = Math.floor(Number.parseInt(digits, 16) / 4096);
  const round = Math.floor(nearMs / ROUND_MS) * ROUND_MS + within;
  return [round - ROUND_MS, round, round + ROUND_MS].reduce((best, ms) =>
    Math.abs(ms - nearMs) < Math.abs(best - nearMs) ? ms : best,
  );
}

/** Whether a fork copied it: copies have new ids and old times, so the id is younger than the end. */
export function isCopy(id: string, endMs: number): boolean {
  const born = bornMs(id, endMs);
  return born !== undefined && born > endMs + SAME_MOMENT_MS;
}

/** The same after the clock was set back: the id is older than the beginning. */
export function isOlderCopy(id: string, createdMs: number): boolean {
  const born = bornMs(id, createdMs);
  return born !== undefined && born < createdMs - SAME_SECOND_MS;
}

// --- internal ---

const ROUND_MS = 2 ** 36;
/** An id and a time are created one after the other. */
const SAME_MOMENT_MS = 50;
/** Largest gap between an id and its time on a busy machine. */
const SAME_SECOND_MS = 1_000;
