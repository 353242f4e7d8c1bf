import { countOpenEntries } from "../store/facts.ts";
import { readMeta, removeMeta, writeMeta } from "../store/meta.ts";
import type { Drain } from "./context.ts";

/** An attempt to build a session, stored before it begins: if the process is killed, the next drain finds it. */
interface Attempt {
  readonly version: string;
  readonly atMs: number;
  /** Drains that were killed while they built the session. */
  readonly deaths: number;
}

/**
 * Builds a large session, unless two drains were killed while they built it: building takes memory in proportion to the open part
 * of a session, and a process that runs out of memory cannot catch that. Without the attempt other sessions are drained as usual.
 * The next attempt is made after a day, or by another version of this program.
 *
 * @throws TooLargeError after two killed drains; what `build` throws
 */
export function limitAttempts<T>(drain: Drain, session: number, build: () => T): T {
  const { db } = drain;
  const key = `building.${session}`;
  const before = attemptOf(readMeta(db, key), drain);
  const openEntries = countOpenEntries(db, session);
  if (openEntries < LARGE_ENTRIES) {
    if (before !== undefined) removeMeta(db, key);
    return build();
  }
  if (before !== undefined && before.deaths >= MAX_DEATHS) throw new TooLargeError(openEntries);
  const attempt: Attempt = { version: drain.version, atMs: drain.now(), deaths: (before?.deaths ?? 0) + 1 };
  writeMeta(db, key, JSON.stringify(attempt));
  try {
    return build();
  } finally {
    removeMeta(db, key);
  }
}

// --- internal ---

/** Below this no drain comes near its memory limit: it takes a few dozen megabytes. */
const LARGE_ENTRIES = 5_000;
const MAX_DEATHS = 2;
const DAY_MS = 86_400_000;

class TooLargeError extends Error {
  constructor(openEntries: number) {
    super(
      `two drains were killed while they built it, most likely because memory ran out (${openEntries} records in its open turns); it is tried again after an update, and once a day`,
    );
  }
}

/** @returns `undefined` without an unfinished attempt of this version that is less than a day old */
function attemptOf(text: string | undefined, { version, now }: Drain): Attempt | undefined {
  if (text === undefined) return undefined;
  const attempt = JSON.parse(text) as Attempt;
  return attempt.version === version && Math.abs(now() - attempt.atMs) < DAY_MS ? attempt : undefined;
}
