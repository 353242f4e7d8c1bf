import type { Spans } from "./spans.ts";

/** What is inside a span: its calls, and the part of its cost that is its subagents'. */
export interface Inside {
  readonly calls: number;
  readonly tools: number;
  readonly subagents: number;
  /** Of the subagents; `null`: unknown. */
  readonly subagentCostUsd: number | null;
  readonly subagentCostIsLowerBound: boolean;
}

/** Counts what is inside a span. Subagents of subagents are in their cost, and not counted again. */
export function insideOf(spans: Spans, index: number): Inside {
  let [tools, subagents, known, cost, isLowerBound] = [0, 0, 0, 0, false];
  let outermostEnd = 0;
  for (let i = index + 1; i < index + (spans.size[index] ?? 1); i++) {
    if (spans.kindOf(i) === "tool_call") tools++;
    if (spans.kindOf(i) !== "subagent") continue;
    subagents++;
    if (i < outermostEnd) continue;
    outermostEnd = i + (spans.size[i] ?? 1);
    if (spans.costOf(i) !== null) known++;
    cost += spans.costOf(i) ?? 0;
    isLowerBound ||= spans.has(i, "unknownCost") || spans.has(i, "costIsLowerBound");
  }
  return {
    calls: spans.callsOf(index),
    tools,
    subagents,
    subagentCostUsd: known === 0 ? null : cost,
    subagentCostIsLowerBound: isLowerBound,
  };
}
