import { coveredMs } from "#kit/numbers.ts";
import type { Database } from "./database.ts";
import { texts } from "./rows.ts";
import type { SessionSort } from "./session-sorts.ts";

/**
 * Ids of sessions in another order; equal ones stay as they are, and those whose value is unknown come last. From what is settled, so a
 * running session can be too far below.
 */
export function sortedSessions(db: Database, ids: readonly number[], by: SessionSort): readonly number[] {
  if (by === "time") return ids;
  const values = by === "duration" ? workTimes(db) : sums(db, by);
  const valueOfSession = (id: number): number => values.get(id) ?? -1;
  return [...ids].sort((a, b) => valueOfSession(b) - valueOfSession(a));
}

/** Those of some sessions that used such a model and called such a tool, by a part of the name, as far as it is settled. */
export function sessionsUsing(
  db: Database,
  ids: readonly number[],
  { model, tool }: { readonly model?: string | undefined; readonly tool?: string | undefined },
): readonly number[] {
  const used = (sql: string, name: string | undefined): ReadonlySet<string> | undefined =>
    name === undefined ? undefined : new Set(texts(db, sql, name));
  const ofModel = used("SELECT DISTINCT session FROM usage WHERE instr(lower(model), lower(?)) > 0", model);
  const ofTool = used("SELECT DISTINCT session FROM tool_usage WHERE instr(lower(name), lower(?)) > 0", tool);
  return ids.filter((id) => ofModel?.has(String(id)) !== false && ofTool?.has(String(id)) !== false);
}

/** The session with the highest cost; `undefined` if no cost is known. */
export function dearestSession(db: Database): number | undefined {
  const row = db
    .prepare(
      `SELECT u.session, sum(u.cost_nano_usd) AS v FROM usage u JOIN sessions s ON s.id = u.session
       WHERE s.pruned_ms IS NULL AND s.excluded = 0 GROUP BY u.session HAVING v > 0 ORDER BY v DESC LIMIT 1`,
    )
    .get();
  return row === undefined ? undefined : Number(row["session"]);
}

/** The settled time in which a turn or subagent ran, per session: stored for imported ones, otherwise from their turns. */
export function workTimes(db: Database): ReadonlyMap<number, number> {
  const packed =
    "SELECT session, sum(json_extract(totals, '$.workMs')) AS v FROM segments GROUP BY session HAVING v > 0";
  const runs = `SELECT session, json_group_array(json_object('startMs', start_ms, 'endMs', end_ms)) AS runs FROM
    (SELECT session, start_ms, end_ms FROM turns UNION ALL SELECT session, start_ms, end_ms FROM subagents) GROUP BY session`;
  return new Map([
    ...db
      .prepare(packed)
      .all()
      .map((row) => [Number(row["session"]), Number(row["v"])] as const),
    ...db
      .prepare(runs)
      .all()
      .map((row) => [Number(row["session"]), coveredMs(JSON.parse(String(row["runs"])))] as const),
  ]);
}

// --- internal ---

const SUMS = {
  cost: "SELECT session, sum(cost_nano_usd) AS v FROM usage GROUP BY session",
  failures: "SELECT session, sum(errors + denied) AS v FROM tool_usage GROUP BY session",
} as const;

const sums = (db: Database, of: keyof typeof SUMS): ReadonlyMap<number, number> =>
  new Map(
    db
      .prepare(SUMS[of])
      .all()
      .flatMap((row) => (row["v"] === null ? [] : [[Number(row["session"]), Number(row["v"])] as const])),
  );
