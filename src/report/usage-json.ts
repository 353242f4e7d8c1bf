import { PRICE_TABLE } from "../telemetry/cost.ts";
import { isoTime, usd } from "../text/figures.ts";
import { hasUsage } from "./call-totals.ts";
import type { Question } from "./question.ts";
import type { UsageRow } from "./usage.ts";
import type { UsageReport } from "./usage-report.ts";

/** The report as a JSON document. Unknown is `null`, never 0; what a grouping cannot tell is absent. */
export const reportJson = ({ query }: Question, report: UsageReport, timeZone: string) => ({
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
  rows: report.rows.map(rowJson),
  rows_left_out: report.leftOut,
  ...(report.agents !== undefined && { agents: report.agents.map(rowJson) }),
  ...(report.models !== undefined && { models: report.models.map(rowJson) }),
  total: report.total === undefined ? null : rowJson(report.total),
  unpriced: report.unpriced.map(({ key, calls }) => ({ model: key.model ?? null, calls: calls?.unpricedCalls ?? 0 })),
});

/** One row; the same as `--csv` has. */
export const rowJson = ({ key, sessions, calls, turns, tools, untold, untoldSessions }: UsageRow) => {
  /** Without any call nothing was used and nothing paid. */
  const none = calls === undefined || hasUsage(calls) || untoldSessions > 0 ? null : 0;
  return {
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
      input: calls.input ?? none,
      output: calls.output ?? none,
      cache_read: calls.cacheRead ?? none,
      cache_write: calls.cacheWrite ?? none,
      cache_write_5m: calls.cacheWrite5m ?? none,
      cache_write_1h: calls.cacheWrite1h ?? none,
      reasoning: calls.reasoning ?? none,
      cache_hit_ratio: calls.cacheToldInput ? (calls.cacheRead ?? 0) / calls.cacheToldInput : null,
      cost_usd: usd(calls.costNanoUsd) ?? none,
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
  };
};
