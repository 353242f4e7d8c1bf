import { hasUsage } from "../../report/session-view.ts";
import type { UsageRow } from "../../report/usage.ts";
import { PRICE_TABLE } from "../../telemetry/cost.ts";
import { isoTime, usd } from "../figures.ts";
import type { Question } from "./question.ts";
import type { Answer } from "./words.ts";

/** The report as a JSON document. Unknown is `null`, never 0; what a grouping cannot tell is absent. */
export const reportJson = ({ query }: Question, answer: Answer, timeZone: string) => ({
  since: isoTime(query.sinceMs),
  until: isoTime(query.untilMs),
  time_zone: timeZone,
  by: query.by,
  filters: {
    agent: query.agent ?? null,
    model: query.model ?? null,
    repository: query.repository ?? null,
  },
  price_table: PRICE_TABLE,
  rows: answer.rows.map(rowJson),
  rows_left_out: answer.leftOut,
  ...(answer.agents !== undefined && { agents: answer.agents.map(rowJson) }),
  ...(answer.models !== undefined && { models: answer.models.map(rowJson) }),
  total: answer.total === undefined ? null : rowJson(answer.total),
  unpriced: answer.unpriced.map(({ key, calls }) => ({ model: key.model ?? null, calls: calls?.unpricedCalls ?? 0 })),
});

// --- internal ---

const rowJson = ({ key, sessions, calls, turns, tools, untold, untoldSessions }: UsageRow) => ({
  ...key,
  sessions,
  ...(turns !== undefined && {
    turns: turns.turns,
    prompts: turns.prompts,
    failed_turns: turns.failed,
    interrupted_turns: turns.interrupted,
  }),
  ...(calls !== undefined && {
    model_calls: calls.modelCalls === 0 && (calls.sumsTold > 0 || untoldSessions > 0) ? null : calls.modelCalls,
    sums_told: calls.sumsTold,
    input: calls.input ?? (hasUsage(calls) || untoldSessions > 0 ? null : 0),
    output: calls.output ?? (hasUsage(calls) || untoldSessions > 0 ? null : 0),
    cache_read: calls.cacheRead ?? null,
    cache_write: calls.cacheWrite ?? null,
    cache_write_5m: calls.cacheWrite5m ?? null,
    cache_write_1h: calls.cacheWrite1h ?? null,
    reasoning: calls.reasoning ?? null,
    cache_hit_ratio: calls.cacheToldInput ? (calls.cacheRead ?? 0) / calls.cacheToldInput : null,
    cost_usd: usd(calls.costNanoUsd),
    unpriced_calls: calls.unpricedCalls,
    calls_without_usage: calls.callsWithoutUsage,
    incomplete_calls: calls.incompleteCalls,
    model_ms: calls.modelMs,
    sessions_without_usage: untoldSessions,
    agents_without_usage: untold,
  }),
  ...(tools !== undefined && {
    tool_calls: tools.calls,
    tool_errors: tools.errors,
    tool_denied: tools.denied,
    tool_unfinished: tools.unfinished,
    tool_open: tools.open,
    tool_ms: tools.toolMs,
  }),
});
