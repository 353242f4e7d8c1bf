import { printable } from "#kit/text/terminal.ts";
import type { UsageQuery } from "./query.ts";
import { rowJson } from "./usage-json.ts";
import type { UsageRow } from "./usage-row.ts";
import { isChangeDimension, partsOf } from "./usage-rows.ts";

/**
 * Rows as RFC 4180 CSV with a header line; the caller appends a line feed to each. Unknown is an empty cell, never 0. Columns
 * depend on the query only; figures that do not apply to a grouping have none. Names that a spreadsheet would read as a
 * formula start with an apostrophe.
 */
export function* csvLines(query: UsageQuery, rows: readonly UsageRow[]): Generator<string> {
  const { by } = query;
  const parts = partsOf(query);
  const parted = { ...parts, changes: by.some(isChangeDimension) };
  const columns = COLUMNS.filter(([, part]) => part === "all" || parted[part]);
  yield [...by, ...columns.map(([name]) => name)].join(",") + LINE_END;
  for (const row of rows) {
    const figures = rowJson(row);
    const cells = [...by.map((dimension) => row.key[dimension]), ...columns.map(([, , key]) => figures[key])];
    yield cells.map(cell).join(",") + LINE_END;
  }
}

// --- internal ---

/** RFC 4180 requires CR LF; the caller adds LF. */
const LINE_END = "\r";

type Value = string | number | readonly string[] | null | undefined;
type Figures = ReturnType<typeof rowJson>;

/** Column name, part of the row, and member of the JSON row. */
const COLUMNS: readonly (readonly [
  name: string,
  part: "all" | "calls" | "turns" | "tools" | "changes",
  key: keyof Figures,
])[] = [
  ["certainty", "changes", "certainty"],
  ["sessions", "all", "sessions"],
  ["turns", "turns", "turns"],
  ["prompts", "turns", "prompts"],
  ["failed_turns", "turns", "failed_turns"],
  ["interrupted_turns", "turns", "interrupted_turns"],
  ["model_calls", "calls", "model_calls"],
  ["aggregate_records", "calls", "aggregate_records"],
  ["input_tokens", "calls", "input"],
  ["output_tokens", "calls", "output"],
  ["cache_read_tokens", "calls", "cache_read"],
  ["cache_write_tokens", "calls", "cache_write"],
  ["cache_write_5m_tokens", "calls", "cache_write_5m"],
  ["cache_write_1h_tokens", "calls", "cache_write_1h"],
  ["reasoning_tokens", "calls", "reasoning"],
  ["cost_usd", "calls", "cost_usd"],
  ["unpriced_calls", "calls", "unpriced_calls"],
  ["calls_without_usage", "calls", "calls_without_usage"],
  ["incomplete_calls", "calls", "incomplete_calls"],
  ["model_ms", "calls", "model_ms"],
  ["tool_calls", "tools", "tool_calls"],
  ["tool_errors", "tools", "tool_errors"],
  ["tool_denied", "tools", "tool_denied"],
  ["tool_unfinished", "tools", "tool_unfinished"],
  ["tool_open", "tools", "tool_open"],
  ["tool_ms", "tools", "tool_ms"],
  ["sessions_without_usage", "calls", "sessions_without_usage"],
  ["agents_without_usage", "calls", "agents_without_usage"],
];

function cell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : plainDecimal(value);
  const text = printable(typeof value === "string" ? value : value.join(" "));
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What spreadsheets read as the start of a formula, including full-width characters and leading spaces. */
const FORMULA = /^[\s\u3000]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/;

/** Never `1e-9`. */
const plainDecimal = (value: number): string => value.toFixed(9).replace(/\.?0+$/, "");
