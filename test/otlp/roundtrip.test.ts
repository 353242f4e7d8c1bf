// Every field of every record, sent in a real request and decoded by the receiver.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Attributes, MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { createSender, type Sender } from "#send/otlp/send.lazy.ts";
import { startGrpcReceiver } from "../receiver/grpc-receiver.ts";
import {
  type PlainAttributes,
  type ReceivedPoint,
  type ReceivedSpan,
  type Receiver,
  startReceiver,
} from "../receiver/receiver.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import * as arbitrary from "./arbitrary.ts";
import { COST, DURATION, spanRecord, sumPoint } from "./records.ts";

let receiver: Receiver;
let grpcReceiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  grpcReceiver = await startGrpcReceiver();
});
afterAll(() => Promise.all([receiver.close(), grpcReceiver.close()]));
beforeEach(() => {
  receiver.clear();
  grpcReceiver.clear();
});

describe.each([
  { protocol: "http/protobuf", compression: "none" },
  { protocol: "http/protobuf", compression: "gzip" },
  { protocol: "http/json", compression: "none" },
  { protocol: "http/json", compression: "gzip" },
  { protocol: "grpc", compression: "none" },
  { protocol: "grpc", compression: "gzip" },
] as const)("$protocol, $compression", ({ protocol, compression }) => {
  let target: Receiver;
  let sender: Sender;
  beforeAll(() => {
    target = protocol === "grpc" ? grpcReceiver : receiver;
    sender = createSender(otlpSettings(target, { protocol, compression }), { version: "0.1.0" });
  });
  afterAll(() => sender.close());

  test("spans arrive with every field", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary.spanRecord, { minLength: 1, maxLength: 8 }), async (records) => {
        target.clear();
        expect(await sender.sendSpans(records)).toEqual({ status: "ok", rejected: 0 });
        const [request] = target.requests;
        // gRPC's server keeps its own header to itself
        const isShown = compression === "gzip" && protocol !== "grpc";
        expect(request?.headers["content-encoding"]).toBe(isShown ? "gzip" : undefined);
        expect(sortedSpans(target.spans)).toEqual(sortedSpans(records.map(asReceived)));
      }),
      { numRuns: runs(40) },
    );
  });

  test("metric points arrive with every field", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitrary.metricPoint, { minLength: 1, maxLength: 8 }), async (points) => {
        target.clear();
        expect(await sender.sendMetrics(points)).toEqual({ status: "ok", rejected: 0 });
        expect(target.requests).toHaveLength(1);
        expect(sortedPoints(target.metricPoints)).toEqual(sortedPoints(points.map(asReceivedPoint)));
      }),
      { numRuns: runs(40) },
    );
  });

  test("points of a stream keep their order: the zero point comes before the value", async () => {
    const zero = sumPoint(0, { timeMs: 1_760_000_000_000 });
    await sender.sendMetrics([zero, sumPoint(500), sumPoint(3, { resource: { "service.name": "cursor" } })]);
    const values = target.metricPoints
      .filter((point) => point.resource["service.name"] === "claude-code")
      .map((point) => point.data.kind === "sum" && point.data.value);
    expect(values).toEqual([0, 500]);
  });

  test("values that backends reject are omitted", async () => {
    // Records come from the store as JSON, which may contain more than the type allows
    const attributes: SpanRecord["attributes"] = JSON.parse(
      '{"kept":"yes","gone":null,"nested":{"a":1},"":"no key","list":["a",1]}',
    );
    const odd = { ...attributes, nan: Number.NaN, infinite: Number.POSITIVE_INFINITY, huge: 1e300, lone: "a\ud800b" };
    await sender.sendSpans([spanRecord(1, { attributes: odd, name: "x\udfff" })]);
    expect(target.spans[0]?.attributes).toEqual({ kept: "yes", list: ["a"], lone: "a\ufffdb" });
    expect(target.spans[0]?.name).toBe("x\ufffd");
  });
});

test("an end before the start becomes a zero duration", async () => {
  const sender = createSender(otlpSettings(receiver), { version: "0.1.0" });
  await sender.sendSpans([spanRecord(1, { startMs: 2000, endMs: 1000 })]);
  sender.close();
  expect(receiver.spans[0]).toMatchObject({ startNs: 2_000_000_000n, endNs: 2_000_000_000n });
});

test("points that are not finite are omitted, and an empty histogram has no min and max", async () => {
  const empty = { kind: "histogram" as const, count: 0, sum: 0, bucketCounts: [0, 0, 0] };
  const min = Number.POSITIVE_INFINITY;
  const sender = createSender(otlpSettings(receiver), { version: "0.1.0" });
  const points = [sumPoint(Number.NaN), sumPoint(1, { shape: DURATION, data: { ...empty, min, max: -min } })];
  expect(await sender.sendMetrics(points)).toEqual({ status: "ok", rejected: 0 });
  expect(receiver.metricPoints.map((point) => point.data)).toEqual([
    { kind: "histogram", temporality: "cumulative", count: 0, sum: 0, bounds: [0.1, 1], bucketCounts: [0, 0, 0] },
  ]);
  receiver.clear();
  expect(await sender.sendMetrics([sumPoint(Number.NaN)])).toEqual({ status: "ok", rejected: 0 });
  expect(receiver.requests).toHaveLength(0);
  sender.close();
});

test("an update of the program starts no new series: the metrics' scope has no version", async () => {
  for (const version of ["0.1.0", "0.2.0"]) {
    const sender = createSender(otlpSettings(receiver), { version });
    await sender.sendMetrics([sumPoint(5)]);
    sender.close();
  }
  const scopes = receiver.metricPoints.map(({ scope }) => scope);
  expect(scopes).toEqual([scopes[0], scopes[0]]);
});

test("points have the configured temporality, are monotonic, and send billionths as doubles", async () => {
  const sender = createSender(otlpSettings(receiver, {}, { temporality: "delta" }), { version: "0.1.0" });
  await sender.sendMetrics([sumPoint(5), sumPoint(1_234_567_891, { shape: COST })]);
  sender.close();
  expect(receiver.metricPoints.map((point) => point.data)).toEqual([
    { kind: "sum", type: "int", value: 5, temporality: "delta", monotonic: true },
    { kind: "sum", type: "double", value: 1.234567891, temporality: "delta", monotonic: true },
  ]);
});

describe("the resource", () => {
  const record = { "service.name": "claude-code", "service.version": "2.0", team: "record" };

  async function received(resource: Record<string, string>) {
    const sender = createSender(otlpSettings(receiver, {}, { resource }), { version: "0.1.0" });
    await sender.sendSpans([spanRecord(1, { resource: record })]);
    const name = resource["service.name"];
    await sender.sendMetrics([
      sumPoint(1, { resource: record, attributes: name === undefined ? {} : { "service.name": name } }),
    ]);
    sender.close();
    expect(receiver.metricPoints[0]?.resource).toEqual(receiver.spans[0]?.resource);
    return receiver.spans[0]?.resource;
  }

  test("the record's attributes win over the settings'", async () => {
    expect(await received({ team: "settings", region: "eu" })).toEqual({ ...record, region: "eu" });
  });

  test("a configured service name replaces every agent's", async () => {
    expect(await received({ "service.name": "my-laptop" })).toEqual({ ...record, "service.name": "my-laptop" });
  });

  test("counters keep the attributes from the time they were counted, even if settings change", async () => {
    const resource = { "service.name": "new", "deployment.environment.name": "new", team: "new" };
    const sender = createSender(otlpSettings(receiver, {}, { resource }), { version: "0.1.0" });
    const attributes = { "deployment.environment.name": "old" };
    await sender.sendMetrics([sumPoint(1), sumPoint(2, { attributes })]);
    sender.close();
    expect(receiver.metricPoints.map((point) => point.resource)).toEqual([
      { "service.name": "claude-code", team: "new" },
      { "service.name": "claude-code", team: "new", "deployment.environment.name": "old" },
    ]);
    expect(receiver.metricPoints.map((point) => point.attributes)).toEqual([sumPoint(1).attributes, attributes]);
  });

  test("the counters of two agents stay separate under one service name", async () => {
    const resource = { "service.name": "my-laptop" };
    const sender = createSender(otlpSettings(receiver, {}, { resource }), { version: "0.1.0" });
    const named = { attributes: resource };
    await sender.sendMetrics([sumPoint(40, named), sumPoint(1, { ...named, resource: { "service.name": "cursor" } })]);
    sender.close();
    const found = receiver.latestPoints().map(({ attributes, data }) => [attributes["openhook.source"], data]);
    expect(found).toEqual([
      ["claude-code", expect.objectContaining({ value: 40 })],
      ["cursor", expect.objectContaining({ value: 1 })],
    ]);
  });
});

// --- internal ---

function asReceived(record: SpanRecord): ReceivedSpan {
  const { status } = record;
  const message = status.code === "error" && status.message !== "" ? status.message : undefined;
  return {
    resource: record.resource,
    scope: { name: "openhook-otel", version: "0.1.0" },
    traceId: record.traceId,
    spanId: record.spanId,
    ...(record.parentSpanId === undefined ? {} : { parentSpanId: record.parentSpanId }),
    name: record.name,
    kind: record.kind,
    startNs: nanosOf(record.startMs),
    endNs: nanosOf(record.endMs),
    attributes: plain(record.attributes),
    status: { code: status.code, ...(message === undefined ? {} : { message }) },
    events: record.events.map(({ name, timeMs, attributes }) => ({
      name,
      timeNs: nanosOf(timeMs),
      attributes: plain(attributes),
    })),
    links: record.links.map((link) => ({ ...link, attributes: plain(link.attributes) })),
    flags: 0x101,
  };
}

function asReceivedPoint({ shape, data, ...point }: MetricPoint): ReceivedPoint {
  const { name, description, unit } = shape;
  return {
    resource: point.resource,
    scope: { name: "openhook-otel", version: "" },
    name,
    description,
    unit,
    attributes: plain(point.attributes),
    startNs: nanosOf(point.startMs),
    timeNs: nanosOf(point.timeMs),
    data:
      data.kind === "histogram"
        ? { ...data, temporality: "cumulative", bounds: shape.bounds ?? [] }
        : {
            kind: "sum",
            type: shape.value === "int" ? "int" : "double",
            value: shape.value === "nano" ? data.value / 1e9 : data.value,
            temporality: "cumulative",
            monotonic: true,
          },
  };
}

/** A bigint where a double is not exact, like the receiver. */
function plain(attributes: Attributes): PlainAttributes {
  const entries = Object.entries(attributes).map(([key, value]) => {
    const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
    return [key, isLarge ? BigInt(Number(value)) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** By decimal digits, independent of the code under test. */
function nanosOf(ms: number): bigint {
  const [whole = "", fraction = ""] = String(ms).split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}

// Requests group by resource (and metric), so only the order within a group is kept
function sortedSpans(spans: readonly ReceivedSpan[]): readonly ReceivedSpan[] {
  return [...spans].sort((a, b) => compare(groupOf(a), groupOf(b)));
}

function sortedPoints(points: readonly ReceivedPoint[]): readonly ReceivedPoint[] {
  return [...points].sort((a, b) => compare(`${groupOf(a)} ${a.name}`, `${groupOf(b)} ${b.name}`));
}

function groupOf({ resource }: { readonly resource: ReceivedSpan["resource"] }): string {
  return `${resource["service.name"]} ${resource["service.version"]}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
