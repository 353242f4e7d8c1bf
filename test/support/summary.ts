import { counterValues } from "#store/counters.ts";
import { openDatabase } from "#store/database.ts";

/** The schema of `expected.json`. */
export interface Expected {
  readonly sessions: readonly ExpectedSession[];
}
export interface ExpectedSession {
  readonly session_id: string;
  readonly prompts: number;
  readonly ended: string;
  readonly model_calls: readonly Record<string, unknown>[];
  readonly totals: Readonly<Record<string, number>>;
  readonly tool_calls: readonly {
    readonly id: string | null;
    readonly name: string;
    readonly status: string;
    readonly subagent: boolean;
  }[];
  /** Set if the agent lost usage before it recorded it: the part that can be recovered. */
  readonly recoverable_as_reported?: {
    readonly llm_calls?: number;
    readonly input_tokens?: number;
    readonly output_tokens?: number;
    readonly cache_read_tokens?: number;
    readonly reasoning_tokens?: number;
  };
}

/** A stored session in the schema of `expected.json`. */
export function summaryOf(storePath: string, sessionId: string) {
  const db = openDatabase(storePath);
  try {
    const session = db.prepare("SELECT * FROM sessions WHERE session_id = ? AND parent IS NULL").get(sessionId);
    if (session === undefined) return undefined;
    const id = Number(session["id"]);
    const calls = db
      .prepare("SELECT body FROM model_calls WHERE session = ?")
      .all(id)
      .map((row) => JSON.parse(String(row["body"])));
    const tools = db
      .prepare("SELECT body FROM tool_calls WHERE session = ?")
      .all(id)
      .map((row) => JSON.parse(String(row["body"])));
    const turns = db.prepare("SELECT origin, state FROM turns WHERE session = ? ORDER BY start_ms").all(id);
    const segments = db.prepare("SELECT * FROM segments WHERE session = ? ORDER BY ordinal").all(id);
    const unsettled =
      db.prepare("SELECT id, type FROM events WHERE session = ? AND settled = 0").all(id).length +
      db.prepare("SELECT key FROM entries WHERE session = ? AND settled = 0").all(id).length;
    return {
      prompts: turns.filter((turn) => turn["origin"] === "human").length,
      modelCalls: calls
        .map((c) => ({
          is_sum: c.covers !== undefined,
          calls: c.covers === undefined ? 1 : c.coveredCalls,
          response_id: c.responseId,
          model: c.model,
          subagent: c.agentId !== undefined,
          input: c.usage?.input,
          output: c.usage?.output,
          cache_read: c.usage?.cacheRead,
          cache_write: c.usage?.cacheWrite,
          reasoning: c.usage?.reasoning,
          cache_write_5m: c.usage?.cacheWrite5m,
          cache_write_1h: c.usage?.cacheWrite1h,
        }))
        .sort(by("response_id")),
      tools: tools
        .map((t) => ({ id: t.callId, name: t.name, status: t.status, subagent: t.agentId !== undefined }))
        .sort(by("id")),
      segments: segments.map((s) => ({ reason: s["reason"], native: s["native_reason"], ended: s["end_ms"] !== null })),
      lastTurn: turns.at(-1)?.["state"],
      hasOnlySums: calls.length > 0 && calls.every((c) => c.covers !== undefined),
      incomplete: calls.filter((c) => !c.complete).length,
      unsettled,
    };
  } finally {
    db.close();
  }
}

/**
 * Sums of the counters (without `owed`) and of the rows they count. If they differ, something was counted twice or not at
 * all.
 */
export function countersAndRows(storePath: string) {
  const db = openDatabase(storePath);
  try {
    const counted = (metric: string, attribute?: string): Record<string, number> => {
      const sums: Record<string, number> = {};
      for (const { metric: name, attributes, value, owed } of counterValues(db)) {
        if (name !== metric) continue;
        const key = attribute === undefined ? "all" : String(attributes[attribute]);
        sums[key] = (sums[key] ?? 0) + value - owed;
      }
      return sums;
    };
    const calls = db
      .prepare(
        `SELECT sum(coalesce(covered_calls, json_extract(body, '$.covers') IS NULL)) AS n, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
           sum(cache_write) AS cache_write, sum(cost_nano_usd) AS cost,
           sum(iif(cost_nano_usd IS NOT NULL AND no_price IS NULL, 0, coalesce(covered_calls, 1))) AS unpriced,
           sum(iif(complete, 0, coalesce(covered_calls, 1))) AS incomplete FROM model_calls`,
      )
      .get();
    const tools = db.prepare("SELECT status, count(*) AS n FROM tool_calls GROUP BY status").all();
    const number = (value: unknown): number => Number(value ?? 0);
    const tokens = counted("openhook.token.usage", "openhook.token.type");
    return {
      counters: {
        calls: number(counted("openhook.model.call.count")["all"]),
        input: number(tokens["input"]),
        output: number(tokens["output"]),
        cache_read: number(tokens["cache_read"]),
        cache_write: number(tokens["cache_write"]),
        cost: number(counted("openhook.cost.usage")["all"]),
        unpriced: number(counted("openhook.cost.unpriced.count")["all"]),
        incomplete: number(counted("openhook.usage.incomplete.count")["all"]),
        tools: counted("openhook.tool.call.count", "openhook.tool.status"),
      },
      rows: {
        calls: number(calls?.["n"]),
        input: number(calls?.["input"]),
        output: number(calls?.["output"]),
        cache_read: number(calls?.["cache_read"]),
        cache_write: number(calls?.["cache_write"]),
        cost: number(calls?.["cost"]),
        unpriced: number(calls?.["unpriced"]),
        incomplete: number(calls?.["incomplete"]),
        tools: Object.fromEntries(tools.map((row) => [String(row["status"]), number(row["n"])])),
      },
    };
  } finally {
    db.close();
  }
}

/** All span records of a store, as stored. */
export function spansIn(storePath: string): string {
  const db = openDatabase(storePath);
  try {
    const rows = db.prepare("SELECT record FROM spans").all();
    if (rows.length === 0) throw new Error("the store has no spans");
    return rows.map(({ record }) => String(record)).join("\n");
  } finally {
    db.close();
  }
}

export const by =
  (key: string) =>
  (a: Record<string, unknown>, b: Record<string, unknown>): number =>
    String(a[key]) < String(b[key]) ? -1 : 1;
