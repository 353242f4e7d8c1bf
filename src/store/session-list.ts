import type { Database } from "./database.ts";
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

/** Sessions by latest activity, without subagents, pruned and excluded ones. */
export const listedSessions = (
  db: Database,
  { agent, sinceMs = 0, untilMs, all }: SessionFilter,
): readonly ListedSession[] =>
  db
    .prepare(
      `SELECT id, cwd, repository FROM sessions s WHERE parent IS NULL AND pruned_ms IS NULL AND excluded = 0
         AND (? IS NULL OR source = ?) AND last_ms >= ? AND (? IS NULL OR first_ms < ?)
         AND (? OR NOT ${STARTED_ONLY} OR EXISTS (SELECT 1 FROM events e WHERE e.session = s.id AND e.settled = 0))
       ORDER BY last_ms DESC, id DESC`,
    )
    .all(agent ?? null, agent ?? null, sinceMs, untilMs ?? null, untilMs ?? null, all ? 1 : 0)
    .map((row) => ({
      id: Number(row["id"]),
      ...(row["cwd"] !== null && { cwd: String(row["cwd"]) }),
      ...(row["repository"] !== null && { repository: String(row["repository"]) }),
    }));

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
