import type { MetricPoint, MetricShape, SpanRecord } from "#core/model/telemetry.ts";

const TRACE_ID = "5b8efff798038103d269b633813fc60c";

/** The n-th span of a session; `over` replaces fields. */
export function spanRecord(n = 1, over: Partial<SpanRecord> = {}): SpanRecord {
  return {
    traceId: TRACE_ID,
    spanId: (n + 1).toString(16).padStart(16, "0"),
    name: "execute_tool Bash",
    kind: "internal",
    startMs: 1_760_000_000_000 + n,
    endMs: 1_760_000_000_250 + n,
    status: { code: "unset" },
    attributes: { "gen_ai.tool.name": "Bash" },
    links: [],
    events: [],
    resource: { "service.name": "claude-code" },
    ...over,
  };
}

export const TOKENS: MetricShape = {
  name: "gen_ai.client.inference.usage.input_tokens",
  description: "Input tokens.",
  unit: "{token}",
  type: "counter",
  value: "int",
};

export const COST: MetricShape = {
  name: "openhook.cost.usage",
  description: "Cost.",
  unit: "USD",
  type: "counter",
  value: "nano",
};

export const DURATION: MetricShape = {
  name: "gen_ai.execute_tool.duration",
  description: "Duration.",
  unit: "s",
  type: "histogram",
  value: "double",
  bounds: [0.1, 1],
};

/** A counter's point; `over` replaces fields. */
export function sumPoint(value: number, over: Partial<MetricPoint> = {}): MetricPoint {
  return {
    shape: TOKENS,
    attributes: { "gen_ai.request.model": "claude-sonnet-4" },
    resource: { "service.name": "claude-code" },
    startMs: 1_760_000_000_000,
    timeMs: 1_760_000_060_000,
    data: { kind: "sum", value },
    ...over,
  };
}
