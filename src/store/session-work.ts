import type { Database } from "./database.ts";

/** Names of the tools that a session called, most calls first. */
export const settledToolNames = (db: Database, session: number, limit: number): readonly string[] =>
  db
    .prepare("SELECT name FROM tool_usage WHERE session = ? GROUP BY name ORDER BY sum(calls) DESC, name LIMIT ?")
    .all(session, limit)
    .map((row) => String(row["name"]));

/** Number of different files that the settled tool calls of a session wrote, as hooks reported them. 0: none, or unknown. */
export function settledFileCount(db: Database, session: number): number {
  const row = db
    .prepare(
      `SELECT count(DISTINCT json_extract(f.value, '$.path')) AS n
       FROM tool_calls c, json_each(c.body, '$.files') f WHERE c.session = ?`,
    )
    .get(session);
  return Number(row?.["n"] ?? 0);
}
