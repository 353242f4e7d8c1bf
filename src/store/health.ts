import type { Database } from "./database.ts";
import { type StoredSession, sessionById } from "./sessions.ts";

/** What tells whether a store is sound, and what it last heard of whom. Looks only. */

/** Reading all of it takes a second or two; beyond that only what is small is read. */
const WHOLE_CHECK_BYTES = 256 * 1024 * 1024;

/**
 * SQLite's own check, bounded in time.
 *
 * @param sizeBytes of the file
 * @returns what is wrong, one line each, at most ten; `isWhole`: all of it was looked at
 */
export function soundness(
  db: Database,
  sizeBytes: number,
): { readonly problems: readonly string[]; readonly isWhole: boolean } {
  const isWhole = sizeBytes <= WHOLE_CHECK_BYTES;
  const checks = isWhole ? ["quick_check(10)"] : SMALL_TABLES.map((table) => `quick_check(${table})`);
  const said = checks.flatMap((check) =>
    db
      .prepare(`PRAGMA ${check}`)
      .all()
      // One row can hold many lines, below a heading
      .flatMap((row) => String(Object.values(row)[0]).split("\n")),
  );
  const problems = said.filter((line) => line !== "ok" && line !== "" && !line.startsWith("***"));
  return { problems: problems.slice(0, 10), isWhole };
}

/** Time of the latest thing any agent did; `undefined` in an empty store. */
export function newestMs(db: Database): number | undefined {
  const newest = db
    .prepare("SELECT max((SELECT max(time_ms) FROM events e WHERE e.session = s.id)) AS ms FROM sessions s")
    .get()?.["ms"];
  return typeof newest === "number" ? newest : undefined;
}

/** What the store last heard of a source. */
export interface LastHeard {
  readonly sessions: number;
  /** Absent where only transcripts told of it. */
  readonly eventMs?: number;
  /** Of the latest session that told one. */
  readonly version?: string;
  readonly newest: StoredSession;
}

/** @returns `undefined` for a source that it never heard of */
export function lastHeardOf(db: Database, source: string): LastHeard | undefined {
  const newest = db.prepare("SELECT id FROM sessions WHERE source = ? ORDER BY last_ms DESC LIMIT 1").get(source);
  if (newest === undefined) return undefined;
  const row = db
    .prepare(
      `SELECT count(*) AS n, max((SELECT max(time_ms) FROM events e WHERE e.session = s.id)) AS event_ms,
         (SELECT agent_version FROM sessions v WHERE v.source = ?1 AND v.agent_version IS NOT NULL
          ORDER BY last_ms DESC LIMIT 1) AS version
       FROM sessions s WHERE source = ?1`,
    )
    .get(source);
  const [eventMs, version] = [row?.["event_ms"], row?.["version"]];
  return {
    sessions: Number(row?.["n"]),
    newest: sessionById(db, Number(newest["id"])),
    ...(typeof eventMs === "number" && { eventMs }),
    ...(typeof version === "string" && { version }),
  };
}

// --- internal ---

const SMALL_TABLES = ["meta", "sessions", "segments", "counters", "outbox"] as const;
