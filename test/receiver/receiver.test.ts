import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { scopeOf, toReadableSpans } from "#send/otlp/readable.ts";
import { resourcesOver } from "#send/otlp/resource.ts";
import { spanRecord } from "../otlp/records.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver({ maxBodyBytes: 100_000 });
});
afterEach(() => receiver.close());

interface Answer {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: Buffer;
}

function post(
  path: string,
  body: Uint8Array | string,
  headers: Record<string, string> = { "content-type": "application/json" },
  method = "POST",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request(`${receiver.url}${path}`, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          type: response.headers["content-type"],
          body: Buffer.concat(chunks),
        }),
      );
      response.on("error", reject);
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

const SPAN = {
  traceId: "5b8efff798038103d269b633813fc60c",
  spanId: "eee19b7ec3c1b174",
  name: "chat",
  kind: 3,
  startTimeUnixNano: "1544712660000000001",
  endTimeUnixNano: "1544712661000000000",
};
const traceRequest = (span: object) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
const PROTOBUF = { "content-type": "application/x-protobuf" };

describe("responds as the specification requires", () => {
  test("a success is an empty message in the encoding of the request", async () => {
    expect(await post("/v1/traces", "{}")).toEqual({ status: 200, type: "application/json", body: Buffer.from("{}") });
    expect(await post("/v1/metrics", "", PROTOBUF)).toEqual({
      status: 200,
      type: "application/x-protobuf",
      body: Buffer.alloc(0),
    });
  });

  test.each([
    ["an unknown path", "/v1/profiles", "{}", { "content-type": "application/json" }, 404],
    ["no content type", "/v1/traces", "{}", {}, 415],
    ["another content type", "/v1/traces", "{}", { "content-type": "text/plain" }, 415],
    ["another compression", "/v1/traces", "{}", { "content-type": "application/json", "content-encoding": "br" }, 415],
    ["invalid gzip", "/v1/traces", "{}", { "content-type": "application/json", "content-encoding": "gzip" }, 400],
    ["broken JSON", "/v1/traces", "{", { "content-type": "application/json" }, 400],
    ["JSON of another shape", "/v1/traces", '{"resourceSpans":7}', { "content-type": "application/json" }, 400],
    ["invalid protobuf", "/v1/traces", "\u000f\u00ff", PROTOBUF, 400],
    ["a body too large", "/v1/traces", "x".repeat(100_001), PROTOBUF, 413],
  ])("%s is refused, with a message in the encoding of the request", async (_what, path, body, headers, status) => {
    const answer = await post(path, body, { ...headers });
    expect(answer.status).toBe(status);
    if (answer.type === "application/json") expect(JSON.parse(answer.body.toString())).toHaveProperty("message");
    else expect(answer.body.length).toBeGreaterThan(4);
    expect(receiver.requests).toHaveLength(0);
  });

  test("GET is not served", async () => {
    expect((await post("/v1/traces", "", {}, "GET")).status).toBe(405);
  });

  test("a small gzip body that decompresses to too much is refused", async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const answer = await post("/v1/traces", bomb, { ...PROTOBUF, "content-encoding": "gzip" });
    expect(answer.status).toBe(413);
  });

  test("a partial success has the rejected count and the message, in both encodings", async () => {
    receiver.setBehaviour(() => ({ partial: { rejected: 1, message: "no" } }));
    expect(JSON.parse((await post("/v1/traces", traceRequest(SPAN))).body.toString())).toEqual({
      partialSuccess: { rejectedSpans: "1", errorMessage: "no" },
    });
    const { body } = await post("/v1/metrics", "", PROTOBUF);
    expect([...body]).toEqual([0x0a, 6, 0x08, 1, 0x12, 2, 0x6e, 0x6f]);
    expect(receiver.spans).toHaveLength(0);
    expect(receiver.requests).toHaveLength(2);
  });
});

describe("decoding", () => {
  test("reads the specification's JSON: hex ids, nanoseconds as text, unknown fields ignored", async () => {
    const attributes = [
      { key: "traceId", value: { stringValue: "not an id" } },
      { key: "whole", value: { intValue: "9007199254740993" } },
      { key: "nested", value: { kvlistValue: { values: [{ key: "spanId", value: { boolValue: true } }] } } },
      { key: "list", value: { arrayValue: { values: [{ doubleValue: 0.5 }, { intValue: 7 }] } } },
      { key: "bytes", value: { bytesValue: "AAE=" } },
      { key: "empty", value: {} },
    ];
    const status = { code: 2, message: "bad" };
    await post("/v1/traces", traceRequest({ ...SPAN, attributes, status, fromTheFuture: { a: 1 } }));
    expect(receiver.spans).toEqual([
      {
        resource: {},
        scope: { name: "", version: "" },
        traceId: SPAN.traceId,
        spanId: SPAN.spanId,
        name: "chat",
        kind: "client",
        startNs: 1544712660000000001n,
        endNs: 1544712661000000000n,
        attributes: {
          traceId: "not an id",
          whole: 9007199254740993n,
          nested: { spanId: true },
          list: [0.5, 7],
          bytes: Uint8Array.of(0, 1),
          empty: null,
        },
        status: { code: "error", message: "bad" },
        events: [],
        links: [],
        flags: 0,
      },
    ]);
  });

  test.each([
    ["a short trace id", { traceId: "5b8e" }],
    ["a span id of zeros", { spanId: "0".repeat(16) }],
    ["no span id", { spanId: "" }],
    ["an id that is not hexadecimal", { traceId: "W47/95gDgQPSabYzgT/GDA==" }],
    ["an enum by name", { kind: "SPAN_KIND_CLIENT" }],
    ["an unknown kind", { kind: 9 }],
  ])("refuses %s", async (_what, wrong) => {
    expect((await post("/v1/traces", traceRequest({ ...SPAN, ...wrong }))).status).toBe(400);
    expect(receiver.spans).toHaveLength(0);
  });

  test("gives the same span for protobuf and JSON of the SDK's serializers", async () => {
    const record = spanRecord(1, {
      parentSpanId: "b".repeat(16),
      status: { code: "error", message: "m" },
      attributes: { s: "ü", i: -3, d: 0.1, b: false, l: ["x", "y"] },
      links: [{ traceId: "c".repeat(32), spanId: "d".repeat(16), attributes: { k: 1 } }],
      events: [{ name: "e", timeMs: 1_760_000_000_001, attributes: { k: true } }],
    });
    const spans = toReadableSpans([record], resourcesOver({}), scopeOf("1"));
    await post("/v1/traces", ProtobufTraceSerializer.serializeRequest(spans) ?? "", PROTOBUF);
    await post("/v1/traces", JsonTraceSerializer.serializeRequest(spans) ?? "");
    const [protobuf, json] = receiver.spans;
    expect(protobuf).toEqual(json);
    expect(protobuf).toMatchObject({
      attributes: record.attributes,
      links: record.links,
      parentSpanId: "b".repeat(16),
    });
  });

  test("refuses a data point without a value", async () => {
    const metrics = [{ name: "m", sum: { dataPoints: [{ timeUnixNano: "1" }] } }];
    const body = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] });
    expect((await post("/v1/metrics", body)).status).toBe(400);
  });

  test("reads gauges", async () => {
    const metrics = [{ name: "m", unit: "1", gauge: { dataPoints: [{ timeUnixNano: "5", asDouble: 1.5 }] } }];
    await post("/v1/metrics", JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }));
    expect(receiver.metricPoints[0]).toMatchObject({
      name: "m",
      unit: "1",
      timeNs: 5n,
      data: { kind: "gauge", type: "double", value: 1.5 },
    });
  });
});

test("latestPoints has the newest point of each stream, by time and then by arrival", async () => {
  const point = (model: string, timeUnixNano: string, asInt: string) => ({
    attributes: [{ key: "model", value: { stringValue: model } }],
    timeUnixNano,
    asInt,
  });
  for (const dataPoints of [
    [point("opus", "10", "1"), point("haiku", "10", "7")],
    [point("opus", "30", "3"), point("opus", "20", "2")],
    [point("haiku", "10", "8")],
  ]) {
    const metrics = [{ name: "tokens", sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints } }];
    await post("/v1/metrics", JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }));
  }
  const latest = receiver
    .latestPoints()
    .map((one) => [one.attributes["model"], one.data.kind === "sum" && one.data.value]);
  expect(latest).toEqual([
    ["opus", 3],
    ["haiku", 8],
  ]);
});

test("a span that arrives twice is in spansById once", async () => {
  await post("/v1/traces", traceRequest(SPAN));
  await post("/v1/traces", traceRequest({ ...SPAN, name: "chat again" }));
  expect(receiver.spans).toHaveLength(2);
  expect([...receiver.spansById().values()].map((span) => span.name)).toEqual(["chat again"]);
  receiver.clear();
  expect(receiver.spans).toHaveLength(0);
  expect(receiver.requests).toHaveLength(0);
});

describe("faults on demand", () => {
  test("a failing status has its body, and its records do not count as accepted", async () => {
    receiver.setBehaviour(({ path, index }) => (index === 0 ? { status: 503, body: `not now, ${path}` } : undefined));
    expect(await post("/v1/traces", traceRequest(SPAN))).toMatchObject({
      status: 503,
      body: Buffer.from("not now, /v1/traces"),
    });
    expect(receiver.spans).toHaveLength(0);
    expect(receiver.requests[0]).toMatchObject({ accepted: false, spans: [{ name: "chat" }] });
    expect((await post("/v1/traces", traceRequest(SPAN))).status).toBe(200);
    expect(receiver.spans).toHaveLength(1);
  });

  test("a reset connection fails the request, and its records are accepted only if requested", async () => {
    receiver.setBehaviour(() => ({ reset: "after-reading", accepted: true }));
    await expect(post("/v1/traces", traceRequest(SPAN))).rejects.toThrow();
    expect(receiver.spans).toHaveLength(1);
    receiver.setBehaviour(() => ({ reset: "before-reading" }));
    await expect(post("/v1/traces", traceRequest(SPAN))).rejects.toThrow();
    receiver.setBehaviour(() => ({ reset: "within-answer" }));
    await expect(post("/v1/traces", traceRequest(SPAN))).rejects.toThrow();
    expect(receiver.spans).toHaveLength(1);
  });

  test("a dripping response is complete in the end", async () => {
    receiver.setBehaviour(() => ({ dripMs: 0, body: "slowly" }));
    expect((await post("/v1/traces", traceRequest(SPAN))).body.toString()).toBe("slowly");
  });

  test("close ends a hanging request", async () => {
    const other = await startReceiver({ behaviour: () => ({ hang: true }) });
    const hanging = new Promise((resolve) => {
      const sending = request(`${other.url}/v1/traces`, { method: "POST", headers: PROTOBUF });
      sending.on("error", resolve);
      sending.end();
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.close();
    expect(await hanging).toBeInstanceOf(Error);
  });
});

test("a port in use is an error", async () => {
  await expect(startReceiver({ port: receiver.port })).rejects.toThrow("EADDRINUSE");
});
