import { CAPTURE_LEVELS, type CaptureLevel } from "#core/model/capture.ts";
import type { Repository } from "#core/model/session.ts";
import type { ContextParts } from "#core/model/transcript.ts";
import type { SessionOrigin } from "#core/model/transcript-reader.ts";
import { stricter } from "#core/rules/capture.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row, Value } from "./database.ts";
import { numberIn, numbers, textIn } from "./rows.ts";

/** A session as stored; `id` is its number in this store. */
export interface StoredSession {
  readonly id: number;
  readonly source: string;
  /** Unique in this store. */
  readonly sessionId: string;
  /** Unique in the world; present if the agent's ids are local. */
  readonly identity?: string;
  /** Present if the agent's ids are local. */
  readonly local?: LocalIds;
  readonly cwd?: string;
  readonly transcriptPath?: string;
  readonly agentVersion?: string;
  readonly branch?: string;
  readonly repository?: Repository;
  readonly reported?: string;
  /** What filled its context when the agent ended. Absent: not reported. */
  readonly contextParts?: StoredParts;
  /** `waiting`: a fork whose own part has not begun; until then its transcript contains another session's entries. */
  readonly fork: "no" | "waiting" | "begun";
  /** Number of the session that this one is a subagent of; its facts are stored there. */
  readonly parent?: number;
  /** The most that the session's project allows to be kept; absent if no project set a level. */
  readonly capture?: CaptureLevel;
  readonly firstMs: number;
  readonly lastMs: number;
  /** When its first hook ran. Absent: no hook of it is known. */
  readonly launchedMs?: number;
}

/** How to find a session whose agent gives ids that are not unique. */
interface LocalIds {
  /** The agent's own id, by which its files have the session. */
  readonly nativeId: string;
  /** Absent: the session's database could not be read, or no longer contained it. Below the home folder it begins with `~`. */
  readonly origin?: SessionOrigin;
}

/** What filled the context of a session, and when that was. */
export interface StoredParts extends ContextParts {
  readonly timeMs: number;
}

/** What an event or entry reports about its session. Later values win; absent ones change nothing. */
interface SessionUpdate {
  readonly timeMs: number;
  readonly cwd?: string | undefined;
  readonly transcriptPath?: string | undefined;
  readonly agentVersion?: string | undefined;
  readonly branch?: string | undefined;
  readonly repository?: Repository | undefined;
  readonly reported?: string | undefined;
  readonly contextParts?: StoredParts | undefined;
}

/** Returns the session, which is created if needed. */
export function ensureSession(db: Database, source: string, sessionId: string, timeMs: number): StoredSession {
  db.prepare(
    "INSERT INTO sessions (source, session_id, first_ms, last_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  ).run(source, sessionId, timeMs, timeMs);
  const row = db.prepare("SELECT * FROM sessions WHERE source = ? AND session_id = ?").get(source, sessionId);
  return toSession(row as Row);
}

/**
 * Adds a session of which everything is known.
 *
 * @returns its number; `undefined` if it exists already, and is not changed
 */
export function addSession(
  db: Database,
  source: string,
  sessionId: string,
  firstMs: number,
  lastMs: number,
  news: Omit<SessionUpdate, "timeMs">,
): number | undefined {
  const partsText = news.contextParts === undefined ? null : JSON.stringify(news.contextParts);
  const row = db
    .prepare(
      `INSERT INTO sessions (source, session_id, first_ms, last_ms, cwd, transcript_path, agent_version, branch, repository,
         reported, context_parts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING id`,
    )
    .get(source, sessionId, firstMs, lastMs, ...columnsOf(news), partsText);
  return row === undefined ? undefined : Number(row["id"]);
}

/** Stores which process reported a session's id. @returns false if that was known */
export const setProcess = (db: Database, id: number, process: string): boolean =>
  db.prepare("UPDATE sessions SET process = ? WHERE id = ? AND process IS NOT ?").run(process, id, process).changes > 0;

/** The latest 20 sessions whose ids a process reported, with their start and end, as far as known. */
export const sessionsOfProcess = (db: Database, source: string, process: string) =>
  db
    .prepare(
      `SELECT s.id, s.session_id, s.first_ms,
         (SELECT max(time_ms) FROM events e WHERE e.session = s.id AND e.type = 'session.end') AS end_ms
       FROM sessions s WHERE s.source = ? AND s.process = ? ORDER BY s.last_ms DESC LIMIT 20`,
    )
    .all(source, process)
    .map((row) => ({
      id: Number(row["id"]),
      sessionId: String(row["session_id"]),
      firstMs: Number(row["first_ms"]),
      ...(row["end_ms"] !== null && { endMs: Number(row["end_ms"]) }),
    }));

/** The session in which a session's facts are stored: itself, or that of the root agent if it is a subagent's. */
export function rootOf(db: Database, session: StoredSession): StoredSession {
  let root = session;
  for (let depth = 0; root.parent !== undefined && depth < MAX_DEPTH; depth++) root = sessionById(db, root.parent);
  return root;
}

/** Makes one session a subagent of another. @returns false if it is one already, or if this would create a cycle */
export function setParent(db: Database, child: StoredSession, parent: StoredSession): boolean {
  if (child.parent !== undefined || rootOf(db, parent).id === child.id) return false;
  db.prepare("UPDATE sessions SET parent = ? WHERE id = ?").run(parent.id, child.id);
  return true;
}

/** @throws Error if there is no such session, which is a mistake: numbers come from this store */
export function sessionById(db: Database, id: number): StoredSession {
  const row = db.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
  if (row === undefined) throw new Error(`the store has no session number ${id}`);
  return toSession(row);
}

export function updateSession(db: Database, id: number, news: SessionUpdate): void {
  db.prepare(
    `UPDATE sessions SET first_ms = min(first_ms, ?), last_ms = max(last_ms, ?), cwd = coalesce(?, cwd),
       transcript_path = coalesce(?, transcript_path), agent_version = coalesce(?, agent_version),
       branch = coalesce(?, branch), repository = coalesce(?, repository), reported = coalesce(?, reported)
     WHERE id = ?`,
  ).run(news.timeMs, news.timeMs, ...columnsOf(news), id);
  if (news.contextParts === undefined) return;
  // A session can have several files, read in any order
  db.prepare(
    `UPDATE sessions SET context_parts = ?1
     WHERE id = ?2 AND (context_parts IS NULL OR context_parts ->> '$.timeMs' <= ?1 ->> '$.timeMs')`,
  ).run(JSON.stringify(news.contextParts), id);
}

/** Restricts what may be kept of a session. A stricter level stays. */
export function limitCapture(db: Database, session: StoredSession, level: CaptureLevel): void {
  const least = stricter(level, session.capture ?? level);
  if (least !== session.capture) db.prepare("UPDATE sessions SET capture = ? WHERE id = ?").run(least, session.id);
}

/** Folders of the sessions with queued spans, and of the most recent ones. Excluded sessions have none. */
export const sessionsToSend = (db: Database, recent: number): readonly { readonly cwd: string }[] =>
  db
    .prepare(
      `SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL AND (
         id IN (SELECT session FROM spans WHERE seq IN (SELECT seq FROM outbox))
         OR id IN (SELECT session FROM log_outbox)
         OR id IN (SELECT id FROM sessions ORDER BY last_ms DESC LIMIT ?))`,
    )
    .all(recent)
    .map((row) => ({ cwd: String(row["cwd"]) }));

/** Numbers of the sessions after `after`, in order, except those whose project allows no names. */
export const sessionsWithNames = (db: Database, after: number, limit: number): readonly number[] =>
  numbers(db, "SELECT id FROM sessions WHERE id > ? AND capture IS NOT 'none' ORDER BY id LIMIT ?", after, limit);

/** Numbers of the sessions whose first folder is this one. */
export const sessionsIn = (db: Database, cwd: string): readonly number[] =>
  numbers(db, "SELECT id FROM sessions WHERE cwd = ?", cwd);

/** Marks a session as a fork, or a fork's own part as begun. Never goes back. */
export function setFork(db: Database, id: number, fork: "waiting" | "begun"): void {
  const state = fork === "waiting" ? 1 : 2;
  db.prepare("UPDATE sessions SET fork_state = ? WHERE id = ? AND fork_state < ?").run(state, id, state);
}

/** Numbers of the sessions with unsettled facts. */
export const unsettledSessions = (db: Database): readonly number[] =>
  numbers(
    db,
    `SELECT DISTINCT session FROM events WHERE settled = 0 UNION SELECT DISTINCT session FROM entries WHERE settled = 0
       UNION SELECT session FROM segments WHERE delivered = 0 AND end_ms IS NOT NULL`,
  );

/** Numbers of the sessions with activity since a time, the latest first. */
export const activeSessions = (db: Database, sinceMs: number, limit: number): readonly number[] =>
  numbers(
    db, // Skip imported sessions; a hook or re-import continues them
    `SELECT id FROM sessions WHERE last_ms >= ? AND parent IS NULL AND id NOT IN (SELECT session FROM packed)
       ORDER BY last_ms DESC LIMIT ?`,
    sinceMs,
    limit,
  );

/**
 * Sets impossible times of last activity to now: in the future, or before there were such agents. The clock was wrong, and the
 * session must not stay open until then, nor count as old.
 */
export function correctTimes(db: Database, nowMs: number): void {
  db.prepare("UPDATE sessions SET last_ms = ?1 WHERE last_ms > ?1 OR last_ms < ?2").run(nowMs, EARLIEST_MS);
}

/**
 * SQL condition: the session has a segment that was not delivered, or facts that are not settled. Names the indexes, because SQLite
 * would read all facts of the session instead.
 *
 * @param session expression of its number
 */
export const isOpen = (session: string): string =>
  `(EXISTS (SELECT 1 FROM segments g WHERE g.session = ${session} AND g.delivered = 0)
    OR ${hasOpenEvents(session)}
    OR EXISTS (SELECT 1 FROM entries e INDEXED BY entries_open WHERE e.session = ${session} AND e.settled = 0))`;

/** SQL condition: events of the session are not settled. */
export const hasOpenEvents = (session: string): string =>
  `EXISTS (SELECT 1 FROM events e INDEXED BY events_open WHERE e.session = ${session} AND e.settled = 0)`;

/** Whether the last that happened in a session before a time was its end. */
export function hadEnded(db: Database, session: number, timeMs: number): boolean {
  const last = db
    .prepare("SELECT type FROM events WHERE session = ? AND time_ms < ? ORDER BY time_ms DESC LIMIT 1")
    .get(session, timeMs);
  return last?.["type"] === "session.end";
}

/** Numbers of the open sessions without activity since a time. */
export const idleSessions = (db: Database, sinceMs: number): readonly number[] =>
  numbers(db, `SELECT s.id FROM sessions s WHERE s.last_ms < ? AND ${isOpen("s.id")}`, sinceMs);

/** The CI job that ran a session's agent: resource attributes of its spans. */
export type Pipeline = Readonly<Record<string, string>>;

/** Sets the job for spans that are settled from now on. `undefined`: no CI job, or an unknown one. */
export function setPipeline(db: Database, sessionNumber: number, pipeline: Pipeline | undefined): void {
  const text = pipeline === undefined ? null : JSON.stringify(pipeline);
  db.prepare("UPDATE sessions SET pipeline = ? WHERE id = ? AND pipeline IS NOT ?").run(text, sessionNumber, text);
}

/** Empty if there is none. */
export function pipelineOf(db: Database, sessionNumber: number): Pipeline {
  const text = db.prepare("SELECT pipeline FROM sessions WHERE id = ?").get(sessionNumber)?.["pipeline"];
  return typeof text === "string" ? (JSON.parse(text) as Pipeline) : {};
}

// --- internal ---

/** `cwd`, `transcript_path`, `agent_version`, `branch`, `repository`, `reported`; null if not reported. */
const columnsOf = (news: Omit<SessionUpdate, "timeMs">): readonly Value[] => [
  news.cwd ?? null,
  news.transcriptPath ?? null,
  news.agentVersion ?? null,
  news.branch ?? null,
  news.repository === undefined ? null : JSON.stringify(news.repository),
  news.reported ?? null,
];

const MAX_DEPTH = 32;
/** Clocks that were never set start in 1970 or, on small machines, at some build date long ago. */
const EARLIEST_MS = Date.UTC(2020, 0, 1);

function toSession(row: Row): StoredSession {
  const [repository, parts] = [textIn(row, "repository"), textIn(row, "context_parts")];
  return defined<StoredSession>({
    id: Number(row["id"]),
    source: String(row["source"]),
    sessionId: String(row["session_id"]),
    fork: row["fork_state"] === 1 ? "waiting" : row["fork_state"] === 2 ? "begun" : "no",
    firstMs: Number(row["first_ms"]),
    lastMs: Number(row["last_ms"]),
    parent: numberIn(row, "parent"),
    launchedMs: numberIn(row, "launched_ms"),
    capture: CAPTURE_LEVELS.find((level) => level === row["capture"]),
    ...localIdsIn(row),
    cwd: textIn(row, "cwd"),
    transcriptPath: textIn(row, "transcript_path"),
    agentVersion: textIn(row, "agent_version"),
    branch: textIn(row, "branch"),
    reported: textIn(row, "reported"),
    contextParts: parts === undefined ? undefined : (JSON.parse(parts) as StoredParts),
    repository: repository === undefined ? undefined : (JSON.parse(repository) as Repository),
  });
}

function localIdsIn(row: Row): Pick<StoredSession, "identity" | "local"> {
  const { native_id: nativeId, identity, origin_database: database, origin_ms: createdMs } = row;
  if (typeof nativeId !== "string" || typeof identity !== "string") return {};
  const origin = typeof database === "string" && createdMs !== null ? { database, createdMs: Number(createdMs) } : null;
  return { identity, local: { nativeId, ...(origin !== null && { origin }) } };
}
