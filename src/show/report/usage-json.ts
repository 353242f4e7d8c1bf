import { costSource } from "#core/telemetry/cost.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import { knownAmounts } from "./call-totals.ts";
import { CHANGE_DIMENSIONS } from "./dimensions.ts";
import type { UnpricedModel } from "./no-price.ts";
import type { Question } from "./question.ts";
import type { UsageReport } from "./usage-report.ts";
import type { UsageRow } from "./usage-row.ts";

/** The report as a JSON document. Unknown is `null`, never 0; figures that do not apply to a grouping are absent. */
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
  price_table: costSource().prices,
  rows: report.rows.map(rowJson),
  rows_left_out: report.leftOut,
  ...(report.agents !== undefined && { agents: report.agents.map(rowJson) }),
  ...(report.models !== undefined && { models: report.models.map(rowJson) }),
  total: report.total === undefined ? null : rowJson(report.total),
  subscription_agents: report.subscribed ?? [],
  unpriced: report.unpriced.map(unpricedJson),
});

export const unpricedJson = ({ model, calls, reasons }: UnpricedModel) => ({ model, calls, reasons });

/** One row; `--csv` has the same figures. */
export const rowJson = ({
  key,
  sessions,
  calls,
  turns,
  tools,
  agentsWithoutUsage,
  sessionsWithoutUsage,
  certainty,
}: UsageRow) => {
  const known = calls === undefined ? undefined : knownAmounts(calls, sessionsWithoutUsage > 0);
  return {
    ...key,
    ...(Object.keys(key).some((name) => CHANGE_DIMENSIONS.some((one) => one === name)) && {
      certainty: certainty ?? null,
    }),
    sessions,
    ...(turns !== undefined && {
      turns: turns.turns,
      prompts: turns.prompts,
      failed_turns: turns.failed,
      interrupted_turns: turns.interrupted,
    }),
    ...(calls !== undefined &&
      known !== undefined && {
        model_calls: known.modelCalls,
        aggregate_records: calls.aggregateRecords,
        input: known.input,
        output: known.output,
        cache_read: known.cacheRead,
        cache_write: known.cacheWrite,
        cache_write_5m: known.cacheWrite5m,
        cache_write_1h: known.cacheWrite1h,
        reasoning: known.reasoning,
        cache_hit_ratio: calls.cacheReportedInput ? (calls.cacheReportedRead ?? 0) / calls.cacheReportedInput : null,
        cost_usd: usd(known.costNanoUsd),
        unpriced_calls: calls.unpricedCalls,
        calls_without_usage: calls.callsWithoutUsage,
        incomplete_calls: calls.incompleteCalls,
        model_ms: calls.modelMs,
        sessions_without_usage: sessionsWithoutUsage,
        agents_without_usage: agentsWithoutUsage,
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
