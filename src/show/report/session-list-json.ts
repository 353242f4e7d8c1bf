import { endJson, headJson, sumsJson } from "./session-json.ts";
import { activeMs, isOpen, type SessionSummary, toolCallCount } from "./session-summary.ts";

/** One session of `openhook-otel sessions --json`. */
export const summaryJson = (summary: SessionSummary) => ({
  ...headJson(summary),
  ...endJson(summary.segments.at(-1)),
  open: isOpen(summary),
  active_ms: activeMs(summary.segments),
  work_ms: summary.workMs,
  segments: summary.segments.length,
  turns: summary.turns,
  prompts: summary.prompts,
  subagents: summary.subagents,
  tool_calls: { total: toolCallCount(summary.tools), ...Object.fromEntries(summary.tools) },
  totals: sumsJson(summary.sums, summary.facts),
});
