/**
 * When an id was made. OpenCode's ids of messages and parts begin with 48 bits of time: milliseconds times 4096 plus a
 * counter, the upper bits cut off, so that they come round every 2.2 years.
 *
 * @param nearMs a time less than a year away from it
 * @returns milliseconds since the epoch; `undefined` for an id of another make
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

/** A fork copies messages and parts with their old times under new ids: something that is younger than its own end. */
export function isCopy(id: string, endMs: number): boolean {
  const born = bornMs(id, endMs);
  return born !== undefined && born > endMs + SAME_MOMENT_MS;
}

/** The same where the clock was set back in between: it is older than its own beginning. */
export function isOlderCopy(id: string, createdMs: number): boolean {
  const born = bornMs(id, createdMs);
  return born !== undefined && born < createdMs - SAME_SECOND_MS;
}

// --- internal ---

const ROUND_MS = 2 ** 36;
/** An id and a time are taken one after the other. */
const SAME_MOMENT_MS = 50;
/** So far apart are an id and a time that were taken together on a machine that is busy. */
const SAME_SECOND_MS = 1_000;
