import type { Question } from "../question.ts";
import { queryJson } from "../usage-data.ts";
import type { HookFigures, HookReport, HookRow } from "./hooks.ts";

/** The report as a JSON document. Unknown is `null`, never 0. */
export function hooksJson({ query }: Pick<Question, "query">, report: HookReport, timeZone: string) {
  const { since, until, time_zone, filters } = queryJson(query, timeZone);
  return {
    ...{ since, until, time_zone, by: ["hook"] },
    filters: { agent: filters.agent, repository: filters.repository },
    rows: report.rows.map(rowJson),
    rows_left_out: report.leftOut,
    total: report.total === undefined ? null : figuresJson(report.total),
    own_hook: report.ours === undefined ? null : figuresJson(report.ours),
    agents_without_records: report.notRecorded,
    sessions_read: report.sessions.read,
    sessions_to_read: report.sessions.of,
    ended_early: report.sessions.isEnded,
  };
}

// --- internal ---

const rowJson = (row: HookRow) => ({
  hook: row.hook ?? null,
  event: row.event,
  agent: row.agent,
  ...figuresJson(row),
});

const figuresJson = (figures: HookFigures) => ({
  runs: figures.runs,
  runs_are_lower_bound: figures.isLowerBound,
  failed: figures.withoutOutcome === figures.runs ? null : figures.failed,
  blocked: figures.withoutOutcome === figures.runs ? null : figures.blocked,
  runs_without_outcome: figures.withoutOutcome,
  time_ms: figures.timeMs ?? null,
  longest_ms: figures.longestMs ?? null,
  runs_without_time: figures.withoutTime,
});
