import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedEdits } from "#core/packed/fact-columns.ts";
import type { Database, Value } from "./database.ts";
import { packedBody } from "./packed.ts";
import { STARTED_ONLY } from "./queries.ts";
import { texts } from "./rows.ts";
import { hasOpenEvents } from "./sessions.ts";

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

interface ListedSession {
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
      `SELECT session_id, source, last_ms FROM sessions WHERE ${SHOWN}
       ORDER BY last_ms DESC, id DESC LIMIT ?`,
    )
    .all(limit)
    .map((row) => ({
      sessionId: String(row["session_id"]),
      source: String(row["source"]),
      lastMs: Number(row["last_ms"]),
    }));

/** Names of the tools that a session called, most calls first. */
export const settledToolNames = (db: Database, session: number, limit: number): readonly string[] =>
  texts(
    db,
    "SELECT name FROM tool_usage WHERE session = ? GROUP BY name ORDER BY sum(calls) DESC, name LIMIT ?",
    session,
    limit,
  );

/** Number of different files that the settled tool calls of a session wrote. 0: none, or unknown. */
export function settledFileCount(db: Database, session: number): number {
  const row = db
    .prepare(
      `SELECT count(DISTINCT json_extract(f.value, '$.path')) AS n
       FROM tool_calls c, json_each(c.body, '$.files') f WHERE c.session = ?`,
    )
    .get(session);
  return Number(row?.["n"] ?? 0);
}

/** The files that the calls of a session changed, the latest first; those of a packed session are in its facts. */
export const editedFiles = (
  db: Database,
  session: number,
): readonly { readonly path: string; readonly timeMs: number }[] =>
  db
    .prepare(
      `SELECT path, time_ms FROM (
         SELECT json_extract(body, '$.data.path') AS path, time_ms FROM events
           WHERE session = ?1 AND type = 'file.write'
         UNION SELECT json_extract(f.value, '$.path'), c.end_ms FROM tool_calls c, json_each(c.body, '$.files') f
           WHERE c.session = ?1)
       WHERE path IS NOT NULL ORDER BY time_ms DESC LIMIT 5000`,
    )
    .all(session)
    .map((row) => ({ path: String(row["path"]), timeMs: Number(row["time_ms"]) }));

/** The tool calls of a packed session if it edited files; `undefined` for a session that is not packed. */
export function packedEdits(db: Database, session: number): readonly TranscriptEntry[] | undefined {
  const body = packedBody(db, session);
  return body === undefined ? undefined : decodePackedEdits(body);
}

/** The time of the first activity of all sessions; `undefined` without a session. */
export function firstActivity(db: Database): number | undefined {
  const row = db.prepare(`SELECT min(first_ms) AS ms FROM sessions WHERE ${SHOWN}`).get();
  return row?.["ms"] === null ? undefined : Number(row?.["ms"]);
}

/** The agents of all sessions. */
export const storedSources = (db: Database): ReadonlySet<string> =>
  new Set(texts(db, "SELECT DISTINCT source AS name FROM sessions"));

/** The models of all calls, by name. */
export const storedModels = (db: Database): readonly string[] =>
  texts(db, "SELECT DISTINCT model AS name FROM usage WHERE model IS NOT NULL ORDER BY name");

/** The versions of an agent, the one that was used last first. */
export const storedVersions = (db: Database, source: string): readonly string[] =>
  texts(
    db,
    `SELECT agent_version AS name FROM sessions WHERE ${SHOWN} AND agent_version IS NOT NULL AND source = ?
     GROUP BY agent_version ORDER BY max(last_ms) DESC`,
    source,
  );

/** SQL condition for sessions that are shown. */
export const SHOWN = "parent IS NULL AND pruned_ms IS NULL AND excluded = 0";

// --- internal ---

const LISTED = `FROM sessions s WHERE ${SHOWN}
    AND (? IS NULL OR source = ?) AND last_ms >= ? AND (? IS NULL OR first_ms < ?)
    AND (? OR NOT ${STARTED_ONLY} OR ${hasOpenEvents("s.id")})
  ORDER BY last_ms DESC, id DESC`;

const filterValues = ({ agent, sinceMs = 0, untilMs, all }: SessionFilter): readonly Value[] => [
  agent ?? null,
  agent ?? null,
  sinceMs,
  untilMs ?? null,
  untilMs ?? null,
  all ? 1 : 0,
];
