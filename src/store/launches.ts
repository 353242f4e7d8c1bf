import type { LaunchingAgent } from "#core/model/launch.ts";
import { innermost } from "#core/rules/launch.ts";
import type { Database } from "./database.ts";
import { numbers } from "./rows.ts";
import { rootOf, type StoredSession, sessionById } from "./sessions.ts";

// A session that another agent's command started. Stored is what its first hook found; who started it is found out when it is asked,
// so the order in which hooks are read makes no difference. See docs/decisions/0072

/** The session that started another one. */
export interface Launcher {
  readonly session: StoredSession;
  /** The id of the tool call, if the environment had it. */
  readonly named?: string;
}

/**
 * Stores which agents a hook of a session found above it. Only the earliest hook counts: a session belongs to who started it, not to who
 * resumed it. Call it inside a transaction.
 */
export function noteLaunch(
  db: Database,
  { id, launchedMs }: StoredSession,
  timeMs: number,
  found: () => readonly LaunchingAgent[],
): void {
  if (launchedMs !== undefined && launchedMs <= timeMs) return;
  db.prepare("UPDATE sessions SET launched_ms = ? WHERE id = ?").run(timeMs, id);
  if (launchedMs !== undefined) db.prepare("DELETE FROM launches WHERE session = ?").run(id);
  for (const { source, sessionId, callId } of found())
    db.prepare("INSERT INTO launches (session, source, session_id, call_id) VALUES (?, ?, ?, ?)").run(
      id,
      source,
      sessionId,
      callId ?? null,
    );
}

/** The session whose command started this one; `undefined` if none did, or it is not certain which. */
export function launcherOf(db: Database, session: StoredSession): Launcher | undefined {
  const launcher = claimedBy(db, session);
  if (launcher === undefined) return undefined;
  // Sessions that started each other: not one of these links is certain
  const seen = new Set<number>();
  for (let above = launcher.session; !seen.has(above.id); ) {
    if (above.id === session.id) return undefined;
    seen.add(above.id);
    const next = claimedBy(db, above);
    if (next === undefined) break;
    above = next.session;
  }
  return launcher;
}

/** The sessions that commands of this one started, by time; without those that were pruned or are excluded. */
export function launchedBy(db: Database, session: StoredSession): readonly StoredSession[] {
  const claims = numbers(
    db,
    `WITH RECURSIVE own (id) AS (SELECT ?1 UNION SELECT c.id FROM sessions c JOIN own ON c.parent = own.id)
     SELECT DISTINCT s.id FROM own JOIN sessions p ON p.id = own.id
       JOIN launches l ON l.source = p.source AND l.session_id = p.session_id AND l.session_id <> ''
       JOIN sessions s ON s.id = l.session
     WHERE s.parent IS NULL AND s.pruned_ms IS NULL AND s.excluded = 0 ORDER BY s.launched_ms, s.id`,
    session.id,
  );
  return claims
    .map((id) => sessionById(db, id))
    .filter((launched) => launcherOf(db, launched)?.session.id === session.id);
}

// --- internal ---

/**
 * An agent takes this long, at most, until its first hook runs. If its transcript began earlier, it was started without hooks and resumed
 * with them; if the session in its environment ended earlier, a server that outlived that session started it.
 */
const START_MS = 60_000;

/** Who started a session by what its first hook found. Several sessions can claim each other, if they were made up. */
function claimedBy(db: Database, session: StoredSession): Launcher | undefined {
  const { id, launchedMs, firstMs } = session;
  if (launchedMs === undefined || launchedMs - firstMs > START_MS) return undefined;
  const found = launchesOf(db, id);
  if (found.length === 0) return undefined;
  const agent = innermost(found, (one) => {
    const above = storedSession(db, one);
    return above?.launchedMs === undefined ? undefined : launchesOf(db, above.id);
  });
  const above = agent && storedSession(db, agent);
  if (agent === undefined || above === undefined) return undefined;
  if (above.id === id || above.firstMs > launchedMs || hadEnded(db, above, launchedMs)) return undefined;
  return { session: above, ...(agent.callId !== undefined && { named: agent.callId }) };
}

const launchesOf = (db: Database, session: number): readonly LaunchingAgent[] =>
  db
    .prepare("SELECT source, session_id, call_id FROM launches WHERE session = ?")
    .all(session)
    .map((row) => ({
      source: String(row["source"]),
      sessionId: String(row["session_id"]),
      ...(row["call_id"] !== null && { callId: String(row["call_id"]) }),
    }));

/** The session with an agent's id, or the one that it works for. */
function storedSession(db: Database, { source, sessionId }: LaunchingAgent): StoredSession | undefined {
  const row = db
    .prepare("SELECT id FROM sessions WHERE source = ? AND session_id = ? AND excluded = 0")
    .get(source, sessionId);
  return row === undefined ? undefined : rootOf(db, sessionById(db, Number(row["id"])));
}

/** Whether a session ended before another one can have been started by it. */
function hadEnded(db: Database, { id }: StoredSession, timeMs: number): boolean {
  const last = db
    .prepare("SELECT type FROM events WHERE session = ? AND time_ms < ? ORDER BY time_ms DESC LIMIT 1")
    .get(id, timeMs - START_MS);
  return last?.["type"] === "session.end";
}
