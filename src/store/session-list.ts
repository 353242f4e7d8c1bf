import type { Database, Value } from "./database.ts";
import { STARTED_ONLY } from "./queries.ts";

/** Which sessions to list. */
export interface SessionFilter {
  /** The agent's id. */
  readonly agent?: string;
  /** Last activity at this time or later. */
  readonly sinceMs?: number;
  /** First activity before this time. */
  readonly untilMs?: number;
  /** Also sessions of which only the start was reported. */
  readonly all: boolean;
}

export interface ListedSession {
  readonly id: number;
  readonly cwd?: string;
  /** JSON of a `Repository`. */
  readonly repository?: string;
}

/** Numbers of some sessions, by latest activity. */
export interface FirstListed {
  readonly ids: readonly number[];
  /** Number of all sessions, with those that are left out. */
  readonly total: number;
}

/** Sessions by latest activity, without subagents, pruned and excluded ones. */
export const listedSessions = (db: Database, filter: SessionFilter): readonly ListedSession[] =>
  db
    .prepare(`SELECT id, cwd, repository ${LISTED}`)
    .all(...filterValues(filter))
    .map((row) => ({
      id: Number(row["id"]),
      ...(row["cwd"] !== null && { cwd: String(row["cwd"]) }),
      ...(row["repository"] !== null && { repository: String(row["repository"]) }),
    }));

/** The first of `listedSessions`, and the number of all. Reading all of thousands of rows would take longer than the rest. */
export function firstListed(db: Database, filter: SessionFilter, limit: number): FirstListed {
  const rows = db.prepare(`SELECT id, count(*) OVER () AS total ${LISTED} LIMIT ?`).all(...filterValues(filter), limit);
  return { ids: rows.map((row) => Number(row["id"])), total: Number(rows[0]?.["total"] ?? 0) };
}

/** Ids and agents of the sessions with the latest activity, as `listedSessions`. */
export const latestSessions = (db: Database, limit: number) =>
  db
    .prepare(
      `SELECT session_id, source, last_ms FROM sessions WHERE parent IS NULL AND pruned_ms IS NULL AND excluded = 0
       ORDER BY last_ms DESC, id DESC LIMIT ?`,
    )
    .all(limit)
    .map((row) => ({
      sessionId: String(row["session_id"]),
      source: String(row["source"]),
      lastMs: Number(row["last_ms"]),
    }));

// --- internal ---

const LISTED = `FROM sessions s WHERE parent IS NULL AND pruned_ms IS NULL AND excluded = 0
    AND (? IS NULL OR source = ?) AND last_ms >= ? AND (? IS NULL OR first_ms < ?)
    AND (? OR NOT ${STARTED_ONLY} OR EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.settled = 0))
  ORDER BY last_ms DESC, id DESC`;

const filterValues = ({ agent, sinceMs = 0, untilMs, all }: SessionFilter): readonly Value[] => [
  agent ?? null,
  agent ?? null,
  sinceMs,
  untilMs ?? null,
  untilMs ?? null,
  all ? 1 : 0,
];
