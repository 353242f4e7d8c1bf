import type { LabelKey } from "./promql.ts";

/** A metric that the recording rules sum over machines. */
export interface Fleet {
  readonly metric: string;
  readonly part: "" | "_bucket" | "_sum" | "_count";
  /** Labels that are kept, in addition to agent and environment. */
  readonly by: readonly (LabelKey | "le")[];
}

const counter = (metric: string, ...by: readonly LabelKey[]): Fleet => ({ metric, part: "", by });
const histogram = (metric: string, ...by: readonly LabelKey[]): readonly Fleet[] =>
  (["_bucket", "_sum", "_count"] as const).map((part) => ({
    metric,
    part,
    by: part === "_bucket" ? ["le", ...by] : by,
  }));

/** All metrics that a dashboard or an alert uses summed over machines. */
export const FLEET: readonly Fleet[] = [
  counter("openhook.session.count", "endReason", "repository"),
  counter("openhook.turn.count", "turnOrigin", "turnState", "repository"),
  counter("openhook.subagent.count"),
  counter("openhook.model.call.count", "model", "subagent", "repository"),
  counter("openhook.model.error.count", "errorType"),
  counter("openhook.tool.call.count", "tool", "mcpServer", "skill", "toolStatus"),
  counter("openhook.token.usage", "tokenType", "model", "subagent", "repository"),
  counter("openhook.cost.usage", "model", "subagent", "repository"),
  counter("openhook.cost.unpriced.count", "model", "subagent", "repository"),
  counter("openhook.code.lines", "lineChange", "repository"),
  counter("openhook.cache.miss.tokens", "missCause", "model", "subagent", "repository"),
  counter("openhook.compaction.count"),
  counter("openhook.reported.cost", "model"),
  counter("openhook.native.retry.count", "model"),
  counter("openhook.native.refusal.count", "model"),
  ...histogram("openhook.native.time_to_first_chunk", "model"),
  ...histogram("openhook.permission.wait", "tool", "decision", "decidedBy"),
  ...histogram("openhook.context.tokens", "model", "subagent", "repository"),
  ...histogram("gen_ai.client.inference.duration", "model"),
  ...histogram("gen_ai.execute_tool.duration", "tool", "mcpServer"),
  ...histogram("gen_ai.invoke_agent.duration"),
];
