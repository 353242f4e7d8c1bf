import type { Event } from "../model/event-schema.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";

// A process that was killed leaves calls open. Some agents run them again when the session is resumed, and report the end of the second
// run without a start: it is not the end of the first one.

/**
 * When processes of a session started.
 *
 * @param known starts that are settled
 */
export const processStarts = (events: readonly Event[], known: readonly number[] = []): readonly number[] => [
  ...known,
  ...events
    .filter(
      (event) =>
        event.type === "session.start" &&
        extrasOf(event).continues !== "compaction" &&
        extrasOf(event).agent_id === undefined,
    )
    .map(timeMsOf),
];

/** Whether a process started between a call's start and an end, so that the end is not the call's. */
export const isCutOff = (startMs: number, endMs: number, starts: readonly number[]): boolean =>
  starts.some((ms) => ms > startMs + LATE_START_MS && ms <= endMs);

// --- internal ---

/** The hook of a process's start can arrive this long after that of its first call. Killing and restarting a program takes longer. */
const LATE_START_MS = 1_000;
