import { costSource } from "#core/telemetry/cost.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import { knownAmounts } from "./call-totals.ts";
import { CHANGE_DIMENSIONS } from "./dimensions.ts";
import type { UnpricedModel } from "./no-price.ts";
import type { UsageQuery } from "./query.ts";
import type { Question } from "./question.ts";
import type { UsageReport } from "./usage-report.ts";
import type { ToolSums, UsageRow } from "./usage-row.ts";

/** The report as a JSON document. Unknown is `null`, never 0; figures that do not apply to a grouping are absent. */
export const reportJson = ({ query }: Question, report: UsageReport, timeZone: string) => ({
  ...queryJson(query, timeZone),
  rows: report.rows.map(rowJson),
  rows_left_out: report.leftOut,
  ...(report.agents !== undefined && { agents: report.agents.map(rowJson) }),
  ...(report.models !== undefined && { models: report.models.map(rowJson) }),
  total: report.total === undefined ? null : rowJson(report.total),
  subscription_agents: report.subscribed ?? [],
  unpriced: report.unpriced.map(unpricedJson),
});

/** What a report is about, the same in `report --json` and in files that the page saves. */
export const queryJson = (query: UsageQuery, timeZone: string | null) => ({
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
});

export const unpricedJson = ({ model, calls, reasons }: UnpricedModel) => ({ model, calls, reasons });

/** One row; `--csv` has the same figures. */
export const rowJson = (row: UsageRow) => ({
  ...row.key,
  ...(Object.keys(row.key).some((name) => CHANGE_DIMENSIONS.some((dimension) => dimension === name)) && {
    certainty: row.certainty ?? null,
  }),
  sessions: row.sessions,
  ...(row.turns !== undefined && {
    turns: row.turns.turns,
    prompts: row.turns.prompts,
    failed_turns: row.turns.failed,
    interrupted_turns: row.turns.interrupted,
  }),
  ...(row.calls !== undefined && callsJson(row.calls, row)),
  ...(row.tools !== undefined && toolsJson(row.tools)),
});

/** The members of a row that are about model calls. */
export function callsJson(
  calls: NonNullable<UsageRow["calls"]>,
  { sessionsWithoutUsage, agentsWithoutUsage }: Pick<UsageRow, "sessionsWithoutUsage" | "agentsWithoutUsage">,
) {
  const known = knownAmounts(calls, sessionsWithoutUsage > 0);
  return {
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
  };
}

/** The members of a row that are about tool calls. */
export const toolsJson = (tools: ToolSums) => ({
  tool_calls: tools.calls,
  tool_errors: tools.errors,
  tool_denied: tools.denied,
  tool_unfinished: tools.unfinished,
  tool_open: tools.open,
  tool_ms: tools.toolMs,
});
