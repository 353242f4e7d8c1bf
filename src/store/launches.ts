import type { LaunchEvidence, LaunchingAgent } from "#core/model/launch.ts";
import { agrees, innermost } from "#core/rules/launch.ts";
import { type SessionAbove, sessionAbove } from "./ancestors.ts";
import type { Database } from "./database.ts";
import { numbers } from "./rows.ts";
import { hadEnded, rootOf, type StoredSession, sessionById } from "./sessions.ts";

// A session that another agent's command started. Stored is what its first hook found; who started it is found out when it is asked,
// so the order in which hooks are read makes no difference. See docs/decisions/0072 and 0079

/** The session that started another one. */
export interface Launcher extends SessionAbove {
  readonly knownBy: LaunchEvidence;
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
    `WITH RECURSIVE own (id) AS (SELECT ?1 UNION SELECT c.id FROM sessions c JOIN own ON c.parent = own.id),
       claims (id) AS (
         SELECT l.session FROM own JOIN sessions p ON p.id = own.id
           JOIN launches l ON l.source = p.source AND l.session_id = p.session_id AND l.session_id <> ''
         UNION SELECT below.session FROM own JOIN agent_processes p ON p.session = own.id
           JOIN process_ancestors a ON a.ancestor = p.process AND a.host = p.host
           JOIN agent_processes below ON below.process = a.process AND below.host = a.host)
     SELECT s.id FROM claims JOIN sessions s ON s.id = claims.id
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

/**
 * Who started a session by what its first hook found. The environment counts if it and the processes name different sessions, unless all
 * that it names is above the one of the processes: then that one is between, and passed nothing on. Several sessions can claim each other,
 * if they were made up.
 */
function claimedBy(db: Database, session: StoredSession): Launcher | undefined {
  const { id, launchedMs, firstMs } = session;
  if (launchedMs === undefined || launchedMs - firstMs > START_MS) return undefined;
  const found = launchesOf(db, id);
  const named = namedBy(db, id, launchedMs, found);
  const near = sessionAbove(db, session);
  if (near === undefined || near.session.id === named?.session.id) return named;
  const isNear = ({ source, sessionId }: LaunchingAgent): boolean =>
    sessionId === ""
      ? source === near.session.source
      : storedSession(db, { source, sessionId })?.id === near.session.id;
  return agrees(found, isNear, foundBy(db, near.session) ?? []) ? { ...near, knownBy: "processes" } : named;
}

/** Who started a session by its environment alone. */
function namedBy(
  db: Database,
  session: number,
  launchedMs: number,
  found: readonly LaunchingAgent[],
): Launcher | undefined {
  const agent = innermost(found, (one) => foundBy(db, storedSession(db, one)));
  const above = agent && storedSession(db, agent);
  if (agent === undefined || above === undefined) return undefined;
  if (above.id === session || above.firstMs > launchedMs || hadEnded(db, above.id, launchedMs - START_MS))
    return undefined;
  return { session: above, knownBy: "environment", ...(agent.callId !== undefined && { named: agent.callId }) };
}

/** What the hooks of a session found; `undefined` if no hook of it is known. */
const foundBy = (db: Database, session: StoredSession | undefined): readonly LaunchingAgent[] | undefined =>
  session?.launchedMs === undefined ? undefined : launchesOf(db, session.id);

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
