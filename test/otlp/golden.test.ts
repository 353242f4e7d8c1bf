// The SDK's tracer, meter and exporters are the reference: the same records must give the same bytes.
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace, ValueType } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { ProtobufMetricsSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { metrics, resources, type tracing as Tracing, tracing } from "@opentelemetry/sdk-node";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import { DURATION, spanRecord, TOKENS } from "./records.ts";

const VERSION = "0.1.0";
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const ROOT = spanRecord(1, {
  name: "invoke_agent claude-code",
  startMs: 1_760_000_000_000,
  endMs: 1_760_000_009_999,
  attributes: {
    "session.id": "s-1",
    "openhook.turns": 3,
    "openhook.ratio": 0.25,
    "openhook.ok": true,
    tags: ["a", "ü"],
  },
  links: [
    { traceId: "a".repeat(32), spanId: "b".repeat(16), attributes: { "openhook.link.kind": "resumed" } },
    { traceId: "c".repeat(32), spanId: "d".repeat(16), attributes: {} },
  ],
  events: [{ name: "compaction", timeMs: 1_760_000_005_000, attributes: { trigger: "auto", before: 150_000 } }],
});
const CHAT = spanRecord(2, {
  parentSpanId: ROOT.spanId,
  name: "chat claude-sonnet-4 – ü 🙂",
  kind: "client",
  status: { code: "error", message: "overloaded" },
  attributes: { "error.type": "529", "gen_ai.usage.input_tokens": 12_345_678_901 },
});
const TOOL = spanRecord(3, { parentSpanId: CHAT.spanId, status: { code: "error" } });
const RECORDS = [ROOT, CHAT, TOOL];

test("http/json spans equal the SDK exporter's to the byte", async () => {
  const spans = await sdkSpans(RECORDS);
  const exporter = new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` });
  const result = await new Promise<{ code: number }>((resolve) => exporter.export(spans, resolve));
  await exporter.shutdown();
  expect(result.code).toBe(0);

  const sender = createSender(otlpSettings(receiver, { protocol: "http/json" }), { version: VERSION });
  expect(await sender.sendSpans(RECORDS)).toEqual({ status: "ok", rejected: 0 });
  sender.close();

  const [theirs, ours] = receiver.requests;
  expect(ours?.body.toString()).toBe(theirs?.body.toString());
  expect(ours?.headers["content-type"]).toBe(theirs?.headers["content-type"]);
});

test("http/protobuf spans equal the SDK's to the byte", async () => {
  const sender = createSender(otlpSettings(receiver), { version: VERSION });
  await sender.sendSpans(RECORDS);
  sender.close();
  const theirs = ProtobufTraceSerializer.serializeRequest(await sdkSpans(RECORDS));
  expect(receiver.requests[0]?.body.toString("hex")).toBe(Buffer.from(theirs ?? []).toString("hex"));
});

test("metrics equal those of the SDK's instruments to the byte, in JSON and protobuf", async () => {
  const collected = await sdkMetrics();
  const points = collected.scopeMetrics.flatMap((scoped) => scoped.metrics).flatMap(pointsOf);
  expect(points).toHaveLength(4);

  const exporter = new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` });
  await new Promise((resolve) => exporter.export(collected, resolve));
  await exporter.shutdown();
  for (const protocol of ["http/json", "http/protobuf"] as const) {
    const sender = createSender(otlpSettings(receiver, { protocol }), { version: VERSION });
    expect(await sender.sendMetrics(points)).toEqual({ status: "ok", rejected: 0 });
    sender.close();
  }
  const [theirs, json, protobuf] = receiver.requests;
  expect(json?.body.toString()).toBe(theirs?.body.toString());
  const theirProtobuf = Buffer.from(ProtobufMetricsSerializer.serializeRequest(collected) ?? []);
  expect(protobuf?.body.toString("hex")).toBe(theirProtobuf.toString("hex"));
});

// --- internal ---

/** The records as spans of the SDK's own tracer, with their ids and times. */
async function sdkSpans(records: readonly SpanRecord[]): Promise<Tracing.ReadableSpan[]> {
  const ended: Tracing.ReadableSpan[] = [];
  const nextIds = { trace: "", span: "" };
  const provider = new tracing.BasicTracerProvider({
    resource: resources.resourceFromAttributes(records[0]?.resource ?? {}),
    idGenerator: { generateTraceId: () => nextIds.trace, generateSpanId: () => nextIds.span },
    spanProcessors: [
      { onStart() {}, onEnd: (span) => ended.push(span), forceFlush: async () => {}, shutdown: async () => {} },
    ],
  });
  const tracer = provider.getTracer("openhook-otel", VERSION);
  for (const record of records) {
    nextIds.trace = record.traceId;
    nextIds.span = record.spanId;
    const context = (spanId: string, traceId = record.traceId) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
    const parent =
      record.parentSpanId === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, context(record.parentSpanId));
    const options = {
      kind: record.kind === "client" ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: record.startMs,
      attributes: record.attributes,
      links: record.links.map((link) => ({ context: context(link.spanId, link.traceId), attributes: link.attributes })),
    };
    const span = tracer.startSpan(record.name, options, parent);
    for (const event of record.events) span.addEvent(event.name, event.attributes, event.timeMs);
    const { status } = record;
    if (status.code === "error") {
      span.setStatus({
        code: SpanStatusCode.ERROR,
        ...(status.message === undefined ? {} : { message: status.message }),
      });
    }
    span.end(record.endMs);
  }
  await provider.shutdown();
  return ended;
}

/** Streams of two counters and a histogram, from the SDK's instruments. */
async function sdkMetrics(): Promise<metrics.ResourceMetrics> {
  class Reader extends metrics.MetricReader {
    protected override async onForceFlush() {}
    protected override async onShutdown() {}
  }
  const reader = new Reader();
  const provider = new metrics.MeterProvider({
    resource: resources.resourceFromAttributes({ "service.name": "claude-code" }),
    readers: [reader],
  });
  const meter = provider.getMeter("openhook-otel");
  const { name, description, unit } = TOKENS;
  const tokens = meter.createCounter(name, { description, unit, valueType: ValueType.INT });
  tokens.add(1200, { model: "claude-sonnet-4" });
  tokens.add(7, { model: "claude-haiku-4" });
  meter.createCounter("openhook.hours", { unit: "h" }).add(1.25, { kind: "active" });
  const duration = meter.createHistogram(DURATION.name, {
    description: DURATION.description,
    unit: DURATION.unit,
    advice: { explicitBucketBoundaries: [...(DURATION.bounds ?? [])] },
  });
  for (const seconds of [0.05, 0.5, 0.75, 42]) duration.record(seconds, { "gen_ai.tool.name": "Bash" });
  const { resourceMetrics } = await reader.collect();
  await provider.shutdown();
  return resourceMetrics;
}

function pointsOf(metric: metrics.MetricData): MetricPoint[] {
  const { name, description, unit, valueType } = metric.descriptor;
  const value = valueType === ValueType.INT ? "int" : "double";
  const times = (point: { startTime: [number, number]; endTime: [number, number] }) => ({
    startMs: point.startTime[0] * 1000 + point.startTime[1] / 1e6,
    timeMs: point.endTime[0] * 1000 + point.endTime[1] / 1e6,
    resource: { "service.name": "claude-code" },
  });
  if (metric.dataPointType === metrics.DataPointType.SUM) {
    return metric.dataPoints.map((point) => ({
      shape: { name, description, unit, type: "counter", value },
      attributes: { ...point.attributes } as MetricPoint["attributes"],
      ...times(point),
      data: { kind: "sum", value: point.value },
    }));
  }
  if (metric.dataPointType !== metrics.DataPointType.HISTOGRAM) throw new Error("not one of ours");
  return metric.dataPoints.map((point) => ({
    shape: { name, description, unit, type: "histogram", value, bounds: point.value.buckets.boundaries },
    attributes: { ...point.attributes } as MetricPoint["attributes"],
    ...times(point),
    data: {
      kind: "histogram",
      count: point.value.count,
      sum: point.value.sum ?? Number.NaN,
      min: point.value.min ?? Number.NaN,
      max: point.value.max ?? Number.NaN,
      bucketCounts: point.value.buckets.counts,
    },
  }));
}
