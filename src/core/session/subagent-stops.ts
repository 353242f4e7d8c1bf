import type { Event } from "../model/event-schema.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";

/**
 * Ends of turns that are ends of subagents: some agents report both in the same way, without an id, and the subagent's end right
 * after it.
 *
 * @param events one session's events, any order
 * @returns the ids of these `turn.end` events
 */
export function stopsOfSubagents(events: readonly Event[]): readonly string[] {
  const ends = events.filter((event) => event.type === "subagent.end" && extrasOf(event).follows_stop === true);
  if (ends.length === 0) return [];
  const stops = events.filter((event) => event.type === "turn.end").sort(byTime);
  return ends.sort(byTime).flatMap((end) => {
    const ms = timeMsOf(end);
    const at = stops.findLastIndex((stop) => timeMsOf(stop) <= ms && ms - timeMsOf(stop) <= WITHIN_MS);
    return at === -1 ? [] : stops.splice(at, 1).map(({ id }) => id);
  });
}

// --- internal ---

/** The agent starts the second hook directly after the first; each is a process that a busy machine can delay. */
const WITHIN_MS = 2_000;

const byTime = (a: Event, b: Event): number => timeMsOf(a) - timeMsOf(b) || (a.id < b.id ? -1 : 1);
