import { maxOf, minOf } from "#kit/numbers.ts";
import type { Event } from "../model/event-schema.ts";
import { hasAssignedSessionId, timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";

/** A session with a known id, seen from one agent process. */
interface ProcessSession {
  readonly sessionId: string;
  readonly firstMs: number;
  /** Absent until an end is reported. */
  readonly endMs?: number;
}

/**
 * The session of a hook without a session id: the one that was open in the same agent process at that time.
 *
 * @returns `undefined` if there was none, or more than one
 */
export function openAt<T extends ProcessSession>(sessions: readonly T[], timeMs: number): T | undefined {
  const open = sessions.filter(
    ({ firstMs, endMs }) => firstMs <= timeMs + EARLY_HOOK_MS && (endMs === undefined || endMs >= timeMs),
  );
  return open.length === 1 ? open[0] : undefined;
}

/**
 * Gives events without a session id the id of the session that was open in their process. Pure; order makes no difference.
 *
 * @returns the same events in the same order
 */
export function joinProcesses<T extends Event>(events: readonly T[]): readonly T[] {
  const native = events.filter((event) => !hasAssignedSessionId(event));
  return events.map((event) => {
    const { process } = extrasOf(event);
    if (process === undefined || !hasAssignedSessionId(event)) return event;
    const ofProcess = native.filter((other) => other.source === event.source && extrasOf(other).process === process);
    const sessions = [...new Set(ofProcess.map((other) => other.session_id))].map((sessionId): ProcessSession => {
      const own = ofProcess.filter((other) => other.session_id === sessionId);
      const ends = own.filter((other) => other.type === "session.end").map(timeMsOf);
      return {
        sessionId,
        firstMs: minOf(own.map(timeMsOf)),
        ...(ends.length > 0 && { endMs: maxOf(ends) }),
      };
    });
    const session = openAt(sessions, timeMsOf(event));
    return session === undefined ? event : { ...event, session_id: session.sessionId };
  });
}

// --- internal ---

/** A tool's hook can arrive before the hook of the session start. */
const EARLY_HOOK_MS = 2_000;
