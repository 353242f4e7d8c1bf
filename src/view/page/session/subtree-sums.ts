import type { Spans } from "./spans.ts";

/** Tokens and cost of a span and its descendants, each model call once. */
export interface SubtreeSums {
  readonly calls: number;
  readonly tools: number;
  readonly input: number | null;
  readonly output: number | null;
  readonly costNanoUsd: number | null;
  readonly tokensAreLowerBound: boolean;
  readonly costIsLowerBound: boolean;
}

/** Sums over all model calls of a subtree, because the attributes of a turn's span exclude its subagents. */
export function subtreeSums(spans: Spans, from: number): SubtreeSums {
  let [calls, tools, input, output, cost] = [0, 0, 0, 0, 0];
  let [withInput, withOutput, withCost, hasIncomplete] = [0, 0, 0, false];
  for (let i = from; i < from + (spans.size[from] ?? 1); i++) {
    const kind = spans.kindOf(i);
    if (kind === "tool_call") tools++;
    if (kind !== "model_call") continue;
    calls++;
    const [callInput, callOutput, callCost] = [spans.inputOf(i), spans.outputOf(i), spans.costOf(i)];
    if (callInput !== null) withInput++;
    if (callOutput !== null) withOutput++;
    if (callCost !== null) withCost++;
    input += callInput ?? 0;
    output += callOutput ?? 0;
    cost += callCost ?? 0;
    hasIncomplete ||= spans.has(i, "outputIsLowerBound");
  }
  return {
    calls,
    tools,
    input: withInput === 0 ? null : input,
    output: withOutput === 0 ? null : output,
    costNanoUsd: withCost === 0 ? null : cost,
    tokensAreLowerBound: Math.min(withInput, withOutput) < calls,
    costIsLowerBound: withCost < calls || hasIncomplete,
  };
}
