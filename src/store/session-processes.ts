import type { Event } from "#core/model/event-schema.ts";
import type { SessionProcess } from "#core/model/session.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import type { Database } from "./database.ts";
import { numbers } from "./rows.ts";
import { isOpen } from "./sessions.ts";

/** A process as the store names it. */
export interface ProcessKey {
  /** Pid and, if known, start time. */
  readonly process: string;
  /** The pid namespace and running system in which the pid is valid; empty if unknown. */
  readonly host: string;
}

/**
 * Stores that a process of the agent ran a hook of a session. Call it inside a transaction.
 *
 * @param isCertain false: it is the agent's process only if another kind of event names it too
 */
export function noteAgentProcess(
  db: Database,
  session: number,
  { process, host, isCertain }: ProcessKey & { readonly isCertain: boolean },
  event: Event,
): void {
  const [name, timeMs] = [extrasOf(event).native_event ?? event.type, timeMsOf(event)];
  db.prepare(
    `INSERT INTO session_processes (session, process, host, first_event, certain, first_ms, last_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, process, host) DO UPDATE SET first_ms = min(first_ms, excluded.first_ms),
       last_ms = max(last_ms, excluded.last_ms), certain = max(certain, first_event <> excluded.first_event)`,
  ).run(session, process, host, name, isCertain ? 1 : 0, timeMs, timeMs);
}

/** The processes that worked on a session, as far as they are certain. */
export const processesOf = (db: Database, session: number): readonly SessionProcess[] =>
  db
    .prepare("SELECT process, host, first_ms, last_ms FROM session_processes WHERE session = ? AND certain = 1")
    .all(session)
    .map((row) => ({
      process: `${row["process"]} ${row["host"]}`,
      firstMs: Number(row["first_ms"]),
      lastMs: Number(row["last_ms"]),
    }));

/** Open sessions with their processes. Sessions with a process that is not certain are left out. */
export function openSessionsByProcess(db: Database): ReadonlyMap<number, readonly ProcessKey[]> {
  const found = new Map<number, ProcessKey[]>();
  const rows = db
    .prepare(
      `SELECT session, process, host FROM session_processes p
       WHERE NOT EXISTS (SELECT 1 FROM session_processes o WHERE o.session = p.session AND o.certain = 0)
         AND ${isOpen("p.session")}`,
    )
    .all();
  for (const row of rows) {
    const session = Number(row["session"]);
    const key = { process: String(row["process"]), host: String(row["host"]) };
    found.set(session, [...(found.get(session) ?? []), key]);
  }
  return found;
}

/** Numbers of the sessions of which a turn ended since a time, and nothing happened afterwards. */
export const sessionsAfterTurn = (db: Database, sinceMs: number): readonly number[] =>
  numbers(
    db,
    `SELECT s.id FROM sessions s WHERE s.last_ms >= ?1 AND (
         SELECT e.type FROM events e WHERE e.session = s.id ORDER BY e.time_ms DESC LIMIT 1) IN ('turn.end', 'turn.error')`,
    sinceMs,
  );
