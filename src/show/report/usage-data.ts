import { TOKEN_NAMES } from "#core/model/token-kinds.ts";
import { costSource } from "#core/telemetry/cost.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { knownAmounts, lowerBounds, tokensByName } from "./call-totals.ts";
import { chargesJson } from "./charges.ts";
import { configuredKind } from "./configured.ts";
import { coveredJson } from "./covered.ts";
import type { UnpricedModel } from "./prices.ts";
import { CHANGE_DIMENSIONS, type UsageQuery } from "./query.ts";
import type { Question } from "./question.ts";
import type { ToolFigures } from "./usage-facts.ts";
import type { UsageReport } from "./usage-report.ts";
import { isChangeDimension, partsOf, type UsageRow } from "./usage-rows.ts";

/** The report as a JSON document. Unknown is `null`, never 0; figures that do not apply to a grouping are absent. */
export const reportJson = ({ query }: Question, report: UsageReport, timeZone: string) => ({
  ...queryJson(query, timeZone),
  rows: report.rows.map(rowJson),
  rows_left_out: report.leftOut,
  ...(report.read !== undefined && { sessions_read: report.read.sessions, sessions_to_read: report.read.of }),
  ...(report.agents !== undefined && { agents: report.agents.map(rowJson) }),
  ...(report.models !== undefined && { models: report.models.map(rowJson) }),
  total: report.total === undefined ? null : rowJson(report.total),
  plans: (report.covered ?? []).map(coveredJson),
  subscription_agents: report.subscribed ?? [],
  unpriced: report.unpriced.map(unpricedJson),
  unseen_searches: report.unseen ?? [],
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
  ...(row.configured !== undefined && configuredJson(row.configured)),
  ...(row.tools !== undefined && toolsJson(row.tools)),
  ...(row.tools === undefined && row.configured !== undefined && UNKNOWN_TOOLS),
  ...(row.after !== undefined && afterJson(row.after)),
  ...(row.runs !== undefined && {
    runs: row.runs.runs,
    failed_runs: row.runs.failedRuns,
    runs_without_outcome: row.runs.runsWithoutOutcome,
    run_ms: row.runs.runMs,
  }),
});

/** The members of a row that are about model calls. */
export function callsJson(
  calls: NonNullable<UsageRow["calls"]>,
  {
    sessionsWithoutUsage,
    agentsWithoutUsage,
    credits = new Map(),
  }: Pick<UsageRow, "sessionsWithoutUsage" | "agentsWithoutUsage" | "credits">,
) {
  // Those of several agents are different units
  const [nanoCredits] = credits.size === 1 ? credits.values() : [];
  const known = knownAmounts(calls, sessionsWithoutUsage > 0);
  return {
    model_calls: known.modelCalls,
    aggregate_records: calls.aggregateRecords,
    ...tokensByName(known),
    cache_hit_ratio: calls.cacheReportedInput ? (calls.cacheReportedRead ?? 0) / calls.cacheReportedInput : null,
    cost_usd: usd(known.costNanoUsd),
    ...chargesJson(calls, nanoCredits),
    unpriced_calls: calls.unpricedCalls,
    calls_without_usage: calls.callsWithoutUsage,
    incomplete_calls: calls.incompleteCalls,
    model_ms: calls.modelMs,
    sessions_without_usage: sessionsWithoutUsage,
    agents_without_usage: agentsWithoutUsage,
  };
}

/** The members of a row that are about tool calls. */
export const toolsJson = (tools: ToolFigures) => ({
  tool_calls: tools.calls,
  tool_errors: tools.errors,
  tool_denied: tools.denied,
  tool_unfinished: tools.unfinished,
  tool_open: tools.open,
  tool_ms: tools.toolMs,
});

/** Agents and files, in the same order. `null`: in no settings that are known, which does not mean that there are no others. */
const configuredJson = (configured: NonNullable<UsageRow["configured"]>) => ({
  configured: configured.length > 0 ? true : null,
  configured_by: configured.map(({ agent }) => agent),
  configured_in: configured.map(({ file }) => file),
});

/** The members about model calls after tools. */
const afterJson = (after: NonNullable<UsageRow["after"]>) => ({
  calls_after: after.modelCalls,
  cost_after_usd: after.modelCalls === 0 ? null : usd(knownAmounts(after, false).costNanoUsd),
  cost_after_is_lower_bound: lowerBounds(after, false).costIsLowerBound,
});

// --- internal ---

/** Of a configured name, if it is not known whether calls were made. */
const UNKNOWN_TOOLS: object = {
  sessions: null,
  tool_calls: null,
  tool_errors: null,
  tool_denied: null,
  tool_unfinished: null,
  tool_open: null,
  tool_ms: null,
};

/**
 * Rows as RFC 4180 CSV with a header line; the caller appends a line feed to each. Unknown is an empty cell, never 0. Columns
 * depend on the query only; figures that do not apply to a grouping have none. Names that a spreadsheet would read as a
 * formula start with an apostrophe.
 */
export function* csvLines(query: UsageQuery, rows: readonly UsageRow[]): Generator<string> {
  const { by } = query;
  const parts = partsOf(query);
  const has: Readonly<Record<Part, boolean>> = {
    ...parts,
    tokens: parts.calls,
    changes: by.some(isChangeDimension),
    configured: query.hasAfter === true && configuredKind(by) !== undefined,
    all: true,
  };
  const columns = COLUMNS.flatMap(([part, ...names]) => (has[part] ? names.map((name) => ({ part, name })) : []));
  const titles = columns.map(({ part, name }) => (part === "tokens" ? `${name}_tokens` : name));
  yield [...by, ...titles].join(",") + LINE_END;
  for (const row of rows) {
    const figures = rowJson(row);
    const cells = [...by.map((dimension) => row.key[dimension]), ...columns.map(({ name }) => figures[name])];
    yield cells.map(cell).join(",") + LINE_END;
  }
}

/** RFC 4180 requires CR LF; the caller adds LF. */
const LINE_END = "\r";

type Value = string | number | boolean | readonly string[] | null | undefined;
type Figures = ReturnType<typeof rowJson>;

type Part = "all" | "calls" | "tokens" | "turns" | "tools" | "after" | "runs" | "configured" | "changes";

/** Parts of a row, and their members in the JSON row, which name the columns; those of tokens have the unit at their end. */
const COLUMNS: readonly (readonly [part: Part, ...names: (keyof Figures)[]])[] = [
  ["changes", "certainty"],
  ["configured", "configured", "configured_by", "configured_in"],
  ["all", "sessions"],
  ["turns", "turns", "prompts", "failed_turns", "interrupted_turns"],
  ["calls", "model_calls", "aggregate_records"],
  ["tokens", ...Object.values(TOKEN_NAMES)],
  ["calls", "cost_usd", "fees_usd", "web_searches", "web_searches_without_fee", "credits"],
  ["calls", "unpriced_calls", "calls_without_usage", "incomplete_calls", "model_ms"],
  ["tools", "tool_calls", "tool_errors", "tool_denied", "tool_unfinished", "tool_open", "tool_ms"],
  ["after", "calls_after", "cost_after_usd", "cost_after_is_lower_bound"],
  ["runs", "runs", "failed_runs", "runs_without_outcome", "run_ms"],
  ["calls", "sessions_without_usage", "agents_without_usage"],
];

function cell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : plainDecimal(value);
  const text = printable(typeof value === "string" ? value : value.join(" "));
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What spreadsheets read as the start of a formula, including full-width characters and leading spaces. */
const FORMULA = /^[\s\u3000]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/;

/** Never `1e-9`. */
const plainDecimal = (value: number): string => value.toFixed(9).replace(/\.?0+$/, "");
