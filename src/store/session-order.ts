import type { Database } from "./database.ts";

/** How sessions can be sorted, the largest first. */
export const SESSION_SORTS = ["time", "cost", "duration", "failures"] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

/** Ids of sessions in another order; equal ones stay as they are. From what is settled, so a running session can be too far below. */
export function sortedSessions(db: Database, ids: readonly number[], by: SessionSort): readonly number[] {
  if (by === "time") return ids;
  const rows = db.prepare(VALUES[by]).all();
  const values = new Map(rows.map((row) => [Number(row["session"]), Number(row["v"] ?? -1)]));
  const valueOfSession = (id: number): number => values.get(id) ?? -1;
  return ids.toSorted((a, b) => valueOfSession(b) - valueOfSession(a));
}

/** Those of some sessions that used a model and called a tool, as far as it is settled. */
export function sessionsUsing(
  db: Database,
  ids: readonly number[],
  { model, tool }: { readonly model?: string | undefined; readonly tool?: string | undefined },
): readonly number[] {
  const used = (sql: string, name: string | undefined): ReadonlySet<number> | undefined =>
    name === undefined
      ? undefined
      : new Set(
          db
            .prepare(sql)
            .all(name)
            .map((row) => Number(row["session"])),
        );
  const ofModel = used("SELECT DISTINCT session FROM usage WHERE model = ?", model);
  const ofTool = used("SELECT DISTINCT session FROM tool_usage WHERE name = ?", tool);
  return ids.filter((id) => ofModel?.has(id) !== false && ofTool?.has(id) !== false);
}

// --- internal ---

const VALUES = {
  cost: "SELECT session, sum(cost_nano_usd) AS v FROM usage GROUP BY session",
  duration: "SELECT session, sum(coalesce(end_ms, last_activity_ms) - start_ms) AS v FROM segments GROUP BY session",
  failures: "SELECT session, sum(errors + denied) AS v FROM tool_usage GROUP BY session",
} as const satisfies Record<Exclude<SessionSort, "time">, string>;
