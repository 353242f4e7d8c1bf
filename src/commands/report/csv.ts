import type { UsageRow } from "../../report/usage.ts";
import { usd } from "../figures.ts";
import { printable } from "../terminal.ts";

/**
 * Rows as RFC 4180 CSV with a head line, to be written with a line feed behind each. Unknown is an empty cell, never 0; figures that a grouping cannot tell have no
 * column. Names that a spreadsheet would take for a formula begin with an apostrophe.
 */
export function* csvLines(by: readonly (keyof UsageRow["key"])[], rows: readonly UsageRow[]): Generator<string> {
  const columns = COLUMNS.filter(({ part }) => part === undefined || rows.some((row) => row[part] !== undefined));
  yield [...by, ...columns.map(({ name }) => name)].join(",") + LINE_END;
  for (const row of rows) {
    const cells = [...by.map((dimension) => row.key[dimension] ?? null), ...columns.map(({ value }) => value(row))];
    yield cells.map((value) => cell(value)).join(",") + LINE_END;
  }
}

// --- internal ---

/** RFC 4180 wants both; who writes lines adds the other. */
const LINE_END = "\r";

type Value = string | number | null | undefined;

const COLUMNS: readonly {
  readonly name: string;
  readonly part?: "calls" | "turns" | "tools";
  readonly value: (row: UsageRow) => Value;
}[] = [
  { name: "sessions", value: (row) => row.sessions },
  { name: "turns", part: "turns", value: ({ turns }) => turns?.turns },
  { name: "prompts", part: "turns", value: ({ turns }) => turns?.prompts },
  { name: "failed_turns", part: "turns", value: ({ turns }) => turns?.failed },
  { name: "interrupted_turns", part: "turns", value: ({ turns }) => turns?.interrupted },
  { name: "model_calls", part: "calls", value: ({ calls }) => calls?.modelCalls },
  { name: "sums_told", part: "calls", value: ({ calls }) => calls?.sumsTold },
  { name: "input_tokens", part: "calls", value: ({ calls }) => calls?.input },
  { name: "output_tokens", part: "calls", value: ({ calls }) => calls?.output },
  { name: "cache_read_tokens", part: "calls", value: ({ calls }) => calls?.cacheRead },
  { name: "cache_write_tokens", part: "calls", value: ({ calls }) => calls?.cacheWrite },
  { name: "cache_write_5m_tokens", part: "calls", value: ({ calls }) => calls?.cacheWrite5m },
  { name: "cache_write_1h_tokens", part: "calls", value: ({ calls }) => calls?.cacheWrite1h },
  { name: "reasoning_tokens", part: "calls", value: ({ calls }) => calls?.reasoning },
  { name: "cost_usd", part: "calls", value: ({ calls }) => usd(calls?.costNanoUsd) },
  { name: "unpriced_calls", part: "calls", value: ({ calls }) => calls?.unpricedCalls },
  { name: "calls_without_usage", part: "calls", value: ({ calls }) => calls?.callsWithoutUsage },
  { name: "incomplete_calls", part: "calls", value: ({ calls }) => calls?.incompleteCalls },
  { name: "model_ms", part: "calls", value: ({ calls }) => calls?.modelMs },
  { name: "tool_calls", part: "tools", value: ({ tools }) => tools?.calls },
  { name: "tool_errors", part: "tools", value: ({ tools }) => tools?.errors },
  { name: "tool_denied", part: "tools", value: ({ tools }) => tools?.denied },
  { name: "tool_unfinished", part: "tools", value: ({ tools }) => tools?.unfinished },
  { name: "tool_open", part: "tools", value: ({ tools }) => tools?.open },
  { name: "tool_ms", part: "tools", value: ({ tools }) => tools?.toolMs },
  { name: "sessions_without_usage", part: "calls", value: (row) => row.untoldSessions },
  { name: "agents_without_usage", part: "calls", value: (row) => row.untold.join(" ") },
];

function cell(value: Value): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : plainDecimal(value);
  const text = printable(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** What spreadsheets take for the beginning of a formula, also in full width and behind spaces. */
const FORMULA = /^[\s\u3000]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/;

/** Never `1e-9`. */
const plainDecimal = (value: number): string => value.toFixed(9).replace(/\.?0+$/, "");
