import type { Database } from "./database.ts";
import { IS_REFUSED } from "./outbox.ts";
import { type StoredSession, sessionById } from "./sessions.ts";

/**
 * The work on a session that failed. `read`: its transcripts, `build`: its spans and counts; both are retried by every drain.
 * `limit`: a transcript that exceeds a limit, and is read again when it changes; `records`: single records of one, whose large values were
 * not read. `redact`, `encode`: a queued span; retried like spans that the backend refuses. `price`: a model call, whose cost is unknown.
 */
export type FailedStep = "read" | "limit" | "records" | "build" | "redact" | "encode" | "price";

/** A further step: a transcript must not or could not be read, and the session goes on without it. */
const UNREAD = "unread";

/** SQL condition on a row `s` of `sessions`: nothing of its transcripts was read. */
const IS_UNREAD = "NOT EXISTS (SELECT 1 FROM positions p WHERE p.session = s.id)";

/**
 * SQL condition on a row `s` of `sessions`: it names a transcript that was not read, and it may have been used. Agents name one that
 * never exists for a session that is only opened and closed, but then hooks report its start.
 */
export const NAMES_UNREAD = `(s.transcript_path IS NOT NULL AND ${IS_UNREAD} AND (
  EXISTS (SELECT 1 FROM failures f WHERE f.session = s.id AND f.step = '${UNREAD}')
  OR NOT EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.type = 'session.start')))`;

/** Work on one session that failed. */
interface SessionFailure {
  readonly source: string;
  readonly sessionId: string;
  readonly step: FailedStep;
  /** Without secrets and content. */
  readonly reason: string;
  /** The transcript file that was read; for other steps, the session's first transcript; `undefined` if there is none. */
  readonly path: string | undefined;
  /** Attempts that failed, with the same or another reason; of the step `records`, how many records. */
  readonly attempts: number;
  /** Time of the first failure, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Adds a failed attempt, or several records of a file. @returns whether this failure was known, with the same reason */
export function addFailure(
  db: Database,
  session: number,
  failure: Pick<SessionFailure, "reason"> & { readonly step: string; readonly path?: string | undefined },
  nowMs: number,
  times = 1,
): boolean {
  const { step, reason, path = "" } = failure;
  const known = db.prepare("SELECT reason FROM failures WHERE session = ? AND step = ? AND path = ?");
  const before = known.get(session, step, path)?.["reason"];
  db.prepare(
    `INSERT INTO failures (session, step, path, reason, attempts, since_ms) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (session, step, path) DO UPDATE SET reason = excluded.reason, attempts = attempts + excluded.attempts`,
  ).run(session, step, path, reason, times, nowMs);
  return before === reason;
}

/**
 * Removes the failures of a step, except those of the given files. Writes nothing if there is none.
 *
 * @param failed paths of the files that failed again; `""` means the whole session
 */
export function clearFailures(
  db: Database,
  session: number,
  step: FailedStep | typeof UNREAD,
  failed: ReadonlySet<string> = new Set(),
): void {
  const rows = db.prepare("SELECT path FROM failures WHERE session = ? AND step = ?").all(session, step);
  for (const path of rows.map((row) => String(row["path"])).filter((path) => !failed.has(path))) {
    db.prepare("DELETE FROM failures WHERE session = ? AND step = ? AND path = ?").run(session, step, path);
  }
}

/** A transcript that a session names and that was not read. */
export interface UnreadTranscript {
  readonly session: StoredSession;
  readonly path: string;
  /** Without secrets and content. */
  readonly reason: string;
}

/** Stores that a transcript was not read: the figures of its session are unknown then, not 0. */
export const addUnread = (db: Database, session: number, path: string, reason: string, nowMs: number): boolean =>
  addFailure(db, session, { step: UNREAD, reason, path }, nowMs);

/** Removes what `addUnread` stored, except of the given paths. */
export const clearUnread = (db: Database, session: number, except: ReadonlySet<string>): void =>
  clearFailures(db, session, UNREAD, except);

/** Sessions of which no transcript was read although they name one, by latest activity. @param session only this one */
export const unreadTranscripts = (
  db: Database,
  { limit, sinceMs = 0, session }: { readonly limit: number; readonly sinceMs?: number; readonly session?: number },
): readonly UnreadTranscript[] =>
  db
    .prepare(
      `SELECT s.id, f.path, f.reason FROM failures f JOIN sessions s ON s.id = f.session
       WHERE f.step = '${UNREAD}' AND ${IS_UNREAD} AND s.last_ms >= ?1 AND (?2 IS NULL OR s.id = ?2)
         AND s.pruned_ms IS NULL AND s.excluded = 0 ORDER BY s.last_ms DESC, s.id DESC LIMIT ?3`,
    )
    .all(sinceMs, session ?? null, limit)
    .map((row) => ({
      session: sessionById(db, Number(row["id"])),
      path: String(row["path"]),
      reason: String(row["reason"]),
    }));

/** Whether a session names a transcript that was not read. */
export const hasUnread = (db: Database, session: number): boolean =>
  db.prepare(`SELECT 1 FROM sessions s WHERE s.id = ? AND ${NAMES_UNREAD}`).get(session) !== undefined;

/** Removes the failures of spans and log records that are not in a queue any more, or are not refused any more. */
export function clearSpanFailures(db: Database): void {
  const steps = "step IN ('redact', 'encode')";
  if (db.prepare(`SELECT 1 FROM failures WHERE ${steps} LIMIT 1`).get() === undefined) return;
  db.prepare(
    `DELETE FROM failures WHERE ${steps} AND session NOT IN
       (SELECT s.session FROM outbox o JOIN spans s ON s.seq = o.seq WHERE ${IS_REFUSED}
        UNION SELECT o.session FROM log_outbox o WHERE ${IS_REFUSED})`,
  ).run();
}

/** All failures, the oldest first. */
export const sessionFailures = (db: Database): readonly SessionFailure[] =>
  db
    .prepare(
      `SELECT s.source, s.session_id, f.step, f.reason, coalesce(nullif(f.path, ''), s.transcript_path) AS path, f.attempts,
         f.since_ms
       FROM failures f JOIN sessions s ON s.id = f.session WHERE f.step <> '${UNREAD}' ORDER BY f.since_ms, f.session, f.step, f.path`,
    )
    .all()
    .map((row) => ({
      source: String(row["source"]),
      sessionId: String(row["session_id"]),
      step: String(row["step"]) as FailedStep,
      reason: String(row["reason"]),
      path: row["path"] === null ? undefined : String(row["path"]),
      attempts: Number(row["attempts"]),
      sinceMs: Number(row["since_ms"]),
    }));

/** Whether the price of a call could not be calculated. */
export const hasPriceErrors = (db: Database): boolean =>
  db.prepare("SELECT 1 FROM failures WHERE step = 'price' LIMIT 1").get() !== undefined;
