import * as z from "zod";
import type { Attributes, SpanRecord } from "#core/model/telemetry.ts";

/** A received data point. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly kind: "sum" | "gauge" | "histogram";
  readonly attributes: Attributes;
  readonly resource: Attributes;
  readonly timeNs: bigint;
  /** For a histogram: its count. */
  readonly value: number;
}

/**
 * Decodes the body of a trace request as our exporter writes it with `http/json`.
 *
 * @throws for any other text
 */
export function spansIn(json: string): readonly SpanRecord[] {
  return TraceRequest.parse(JSON.parse(json)).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, resource: resource.attributes }))),
  );
}

/**
 * Decodes the body of a metrics request as our exporter writes it with `http/json`.
 *
 * @throws for any other text
 */
export function pointsIn(json: string): readonly ReceivedPoint[] {
  return MetricsRequest.parse(JSON.parse(json)).resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ metric, points }) =>
        points.map((point) => ({ ...point, metric, resource: resource.attributes })),
      ),
    ),
  );
}

// --- internal ---

const StringValue = z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue);

/** The value types that our exporter sends. */
const Value = z.union([
  StringValue,
  z.object({ intValue: z.number() }).transform(({ intValue }) => intValue),
  z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
  z.object({ arrayValue: z.object({ values: z.array(StringValue) }) }).transform(({ arrayValue }) => arrayValue.values),
]);

const KeyValues = z
  .array(z.object({ key: z.string(), value: Value }))
  .transform((list): Attributes => Object.fromEntries(list.map(({ key, value }) => [key, value])));

const Resource = z.object({ attributes: KeyValues });

const Nanoseconds = z
  .string()
  .regex(/^\d+$/)
  .transform((digits) => BigInt(digits));
const Milliseconds = Nanoseconds.transform((ns) => Number(ns / 1000n) / 1000);

const KIND_CLIENT = 3;
const STATUS_ERROR = 2;

const Span = z
  .object({
    traceId: z.string(),
    spanId: z.string(),
    parentSpanId: z.string().optional(),
    name: z.string(),
    kind: z.number(),
    startTimeUnixNano: Milliseconds,
    endTimeUnixNano: Milliseconds,
    attributes: KeyValues,
    status: z.object({ code: z.number(), message: z.string().optional() }),
    links: z.array(z.object({ traceId: z.string(), spanId: z.string(), attributes: KeyValues })),
    events: z.array(z.object({ name: z.string(), timeUnixNano: Milliseconds, attributes: KeyValues })),
  })
  .transform(
    ({ kind, startTimeUnixNano, endTimeUnixNano, status, events, ...span }): Omit<SpanRecord, "resource"> => ({
      ...span,
      kind: kind === KIND_CLIENT ? "client" : "internal",
      startMs: startTimeUnixNano,
      endMs: endTimeUnixNano,
      status: status.code === STATUS_ERROR ? { code: "error", message: status.message } : { code: "unset" },
      events: events.map(({ timeUnixNano, ...event }) => ({ ...event, timeMs: timeUnixNano })),
    }),
  );

const TraceRequest = z.object({
  resourceSpans: z.array(z.object({ resource: Resource, scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
});

const Head = z.object({ attributes: KeyValues, timeUnixNano: Nanoseconds });
const NumberPoint = Head.and(z.union([z.object({ asInt: z.number() }), z.object({ asDouble: z.number() })]));
const HistogramPoint = Head.and(z.object({ count: z.number() }));

const Metric = z
  .object({
    name: z.string(),
    sum: z.object({ dataPoints: z.array(NumberPoint) }).optional(),
    gauge: z.object({ dataPoints: z.array(NumberPoint) }).optional(),
    histogram: z.object({ dataPoints: z.array(HistogramPoint) }).optional(),
  })
  .transform(({ name, sum, gauge, histogram }) => ({
    metric: name,
    points: [
      ...(sum?.dataPoints ?? []).map((point) => pointOf("sum", point, amountOf(point))),
      ...(gauge?.dataPoints ?? []).map((point) => pointOf("gauge", point, amountOf(point))),
      ...(histogram?.dataPoints ?? []).map((point) => pointOf("histogram", point, point.count)),
    ],
  }));

const MetricsRequest = z.object({
  resourceMetrics: z.array(
    z.object({ resource: Resource, scopeMetrics: z.array(z.object({ metrics: z.array(Metric) })) }),
  ),
});

const amountOf = (point: z.infer<typeof NumberPoint>): number => ("asInt" in point ? point.asInt : point.asDouble);

const pointOf = (kind: ReceivedPoint["kind"], { attributes, timeUnixNano }: z.infer<typeof Head>, value: number) => ({
  kind,
  attributes,
  timeNs: timeUnixNano,
  value,
});
