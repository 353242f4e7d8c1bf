import type { Event } from "#core/model/event-schema.ts";
import { hasAssignedSessionId, timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { openAt } from "#core/session/processes.ts";
import type { Database } from "#store/database.ts";
import { moveEvent, unplacedEvents } from "#store/move-facts.ts";
import { type StoredSession, sessionsOfProcess, setProcess, updateSession } from "#store/sessions.ts";

// Payloads without a session id belong to the session that is open in the same agent process

/** Gives an event without a session id that of its process, if that has exactly one open session. Otherwise it is unchanged. */
export function withSessionOfProcess(db: Database, event: Event): Event {
  const { process } = extrasOf(event);
  if (process === undefined || !hasAssignedSessionId(event)) return event;
  const session = openAt(sessionsOfProcess(db, event.source, process), timeMsOf(event));
  return session === undefined ? event : { ...event, session_id: session.sessionId };
}

/** Stores which process reported a session's id, and moves the process's earlier events without an id into the session. */
export function noteProcess(db: Database, session: StoredSession, event: Event): void {
  const { process } = extrasOf(event);
  if (process === undefined) return;
  const isNew = setProcess(db, session.id, process);
  const isEarlier = timeMsOf(event) < session.firstMs;
  if (isEarlier) updateSession(db, session.id, { timeMs: timeMsOf(event) });
  if (!isNew && !isEarlier) return;
  for (const { event: unplaced, session: number } of unplacedEvents(db, event.source, process)) {
    const open = openAt(sessionsOfProcess(db, event.source, process), timeMsOf(unplaced));
    if (open?.id === session.id && number !== session.id) moveEvent(db, unplaced, session);
  }
}
