import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedEdits } from "#core/packed/fact-columns.ts";
import type { Database } from "./database.ts";
import { packedBody } from "./packed.ts";
import { texts } from "./rows.ts";

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
