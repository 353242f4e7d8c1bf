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
  tool_calls: toolCallsJson(summary.tools),
  totals: sumsJson(summary.sums, summary.facts),
});

// --- internal ---

/** How many tool calls there are, and how many of each status. */
const toolCallsJson = (
  tools: SessionSummary["tools"],
): { readonly total: number; readonly [status: string]: number } => ({
  total: toolCallCount(tools),
  ...Object.fromEntries(tools),
});
