import type { Database } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { NOTHING, type Totals } from "./claude.ts";

/** Usage in the store, for sessions in any form. */
export function storedTotals(storePath: string): Totals {
  return readStore(storePath, totalsOf) ?? NOTHING;
}

export function totalsOf(db: Database): Totals {
  const one = (sql: string): Readonly<Record<string, unknown>> => db.prepare(sql).get() ?? {};
  const usage = one(
    `SELECT sum(calls) AS calls, sum(input) AS input, sum(output) AS output, sum(cache_read) AS read,
       sum(cache_write) AS write FROM usage`,
  );
  const [tools] = [one("SELECT sum(calls) AS n FROM tool_usage")];
  const turns = one("SELECT sum(turns) AS n FROM turn_usage WHERE origin = 'human'");
  const sessions = one("SELECT count(*) AS n FROM sessions WHERE excluded = 0 AND pruned_ms IS NULL");
  const number = (value: unknown): number => Number(value ?? 0);
  return {
    sessions: number(sessions["n"]),
    turns: number(turns["n"]),
    calls: number(usage["calls"]),
    input: number(usage["input"]),
    output: number(usage["output"]),
    cacheRead: number(usage["read"]),
    cacheWrite: number(usage["write"]),
    tools: number(tools["n"]),
  };
}

export const packedCount = (storePath: string): number =>
  readStore(storePath, (db) => Number(db.prepare("SELECT count(*) AS n FROM packed").get()?.["n"])) ?? 0;
