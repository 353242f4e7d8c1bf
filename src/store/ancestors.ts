import type { Database } from "./database.ts";
import { numberIn, numbers } from "./rows.ts";
import type { ProcessKey } from "./session-processes.ts";
import { hadEnded, rootOf, type StoredSession, sessionById } from "./sessions.ts";

// Agents whose processes are below those of other agents. A process is named by its pid, its start time and the system in which the pid is
// valid, so a pid that is used again is another process. See docs/decisions/0079

/** A process above another one. */
export interface Ancestor {
  /** Pid and start time. */
  readonly process: string;
  /** When the process directly below it was started, by which the other one came about. Absent: unknown. */
  readonly sinceMs?: number;
}

/** The session in whose process another session's agent was started. */
export interface SessionAbove {
  readonly session: StoredSession;
  /** When the command, or another program, began that led to the agent. Absent: unknown. */
  readonly sinceMs?: number;
}

/** Stores that a process of an agent began or resumed a session. Call it inside a transaction. */
export function noteBeginning(db: Database, session: number, { process, host }: ProcessKey, timeMs: number): void {
  db.prepare(
    `INSERT INTO agent_processes (session, process, host, time_ms) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET time_ms = min(time_ms, excluded.time_ms)`,
  ).run(session, process, host, timeMs);
}

/** Stores the processes above an agent's process, the nearest first. They never change. Call it inside a transaction. */
export function noteAncestors(db: Database, { process, host }: ProcessKey, ancestors: readonly Ancestor[]): void {
  const add = db.prepare(
    `INSERT INTO process_ancestors (process, host, distance, ancestor, since_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  for (const [i, { process: ancestor, sinceMs }] of ancestors.entries())
    add.run(process, host, i + 1, ancestor, sinceMs ?? null);
}

/**
 * The session whose agent's process is the nearest one above that of a session, of all processes that ran hooks.
 *
 * @returns `undefined` if the processes are unknown, or if the nearest one worked on no session then, or on more than one
 */
export function sessionAbove(db: Database, { id, launchedMs }: StoredSession): SessionAbove | undefined {
  if (launchedMs === undefined) return undefined;
  // Of the process that began it; another one may have resumed it
  const [own, ...others] = db
    .prepare("SELECT process, host FROM agent_processes WHERE session = ? AND time_ms <= ?")
    .all(id, launchedMs);
  if (own === undefined || others.length > 0) return undefined;
  const host = String(own["host"]);
  const above = db
    .prepare("SELECT ancestor, since_ms FROM process_ancestors WHERE process = ? AND host = ? ORDER BY distance")
    .all(String(own["process"]), host);
  for (const row of above) {
    const sinceMs = numberIn(row, "since_ms");
    const found = sessionsIn(db, { process: String(row["ancestor"]), host }, launchedMs);
    if (found.length === 0) continue;
    const [session, ...more] = found.filter(
      (one) => sinceMs === undefined || !hadEnded(db, one.id, sinceMs - ENDED_MS),
    );
    if (session === undefined || more.length > 0 || session.id === id) return undefined;
    return { session, ...(sinceMs !== undefined && { sinceMs }) };
  }
  return undefined;
}

/** The sessions that a process began and that no hook reported as ended, subagents' ones as the session that they work for. */
export const openSessionsOf = (db: Database, key: ProcessKey): readonly StoredSession[] =>
  sessionsIn(db, key, Number.MAX_SAFE_INTEGER).filter(({ id }) => !hadEnded(db, id, Number.MAX_SAFE_INTEGER));

/** Forgets the processes of a session that is pruned. */
export function forgetProcesses(db: Database, session: number): void {
  db.prepare(
    `DELETE FROM process_ancestors WHERE (process, host) IN (SELECT process, host FROM agent_processes WHERE session = ?1)
       AND NOT EXISTS (SELECT 1 FROM agent_processes o WHERE o.process = process_ancestors.process
         AND o.host = process_ancestors.host AND o.session <> ?1)`,
  ).run(session);
}

// --- internal ---

/** A command can begin this long before the end of the session before: then it is not certain whose it is. */
const ENDED_MS = 1_000;

/** The sessions that a process had begun to work on, subagents' ones as the session that they work for. */
function sessionsIn(db: Database, { process, host }: ProcessKey, untilMs: number): readonly StoredSession[] {
  const found = numbers(
    db,
    "SELECT session FROM agent_processes WHERE process = ? AND host = ? AND time_ms <= ?",
    process,
    host,
    untilMs,
  ).map((session) => rootOf(db, sessionById(db, session)));
  return [...new Map(found.map((session) => [session.id, session])).values()];
}
