import { afterEach, beforeEach, expect, test } from "vitest";
import { createSender } from "#send/otlp/send.lazy.ts";
import { withLatestPoints } from "#setup/demo/arrived.ts";
import { type DemoReceiver, startDemoReceiver } from "#setup/demo/receiver.ts";
import { DURATION, spanRecord, sumPoint } from "../otlp/records.ts";
import { otlpSettings } from "../support/otlp-settings.ts";

let receiver: DemoReceiver;
beforeEach(async () => {
  receiver = await startDemoReceiver();
});
afterEach(() => receiver.close());

const sender = () => createSender(otlpSettings(receiver, { protocol: "http/json" }), { version: "0.1.0" });

test("spans arrive as they were sent, with every type of attribute, event, link and status", async () => {
  const root = spanRecord(1, {
    kind: "client",
    endMs: 1_760_000_009_999.125,
    attributes: { text: "ü 🙂", whole: 12_345_678_901, half: 0.5, yes: true, list: ["a", "b"] },
    links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), attributes: { "openhook.link.kind": "resumed" } }],
    events: [{ name: "compaction", timeMs: 1_760_000_005_000, attributes: { trigger: "auto" } }],
  });
  const child = spanRecord(2, { parentSpanId: root.spanId, status: { code: "error", message: "overloaded" } });
  const sending = sender();
  expect(await sending.sendSpans([root, child])).toEqual({ status: "ok", rejected: 0 });
  sending.close();

  const { spans, requests } = receiver.received();
  expect(requests).toBe(1);
  expect(spans).toEqual(
    [root, child].map((span) => ({ ...span, resource: expect.objectContaining({ "service.name": "claude-code" }) })),
  );
});

test("the latest point of a metric stream counts; a histogram's value is its count", async () => {
  const { timeMs } = sumPoint(0);
  const sending = sender();
  const histogram = { kind: "histogram", count: 3, sum: 1.2, min: 0.1, max: 0.9, bucketCounts: [1, 2, 0] } as const;
  await sending.sendMetrics([
    sumPoint(7, { timeMs: timeMs + 1 }),
    sumPoint(5),
    sumPoint(3, { shape: DURATION, data: histogram }),
  ]);
  sending.close();

  const { points } = withLatestPoints(receiver.received());
  expect(points.map(({ metric, kind, value }) => ({ metric, kind, value }))).toEqual([
    { metric: sumPoint(0).shape.name, kind: "sum", value: 7 },
    { metric: DURATION.name, kind: "histogram", value: 3 },
  ]);
});

test.each([
  ["another path", "/v1/logs", "{}"],
  ["text that is no JSON", "/v1/traces", "{"],
  ["JSON of another shape", "/v1/metrics", '{"resourceMetrics":7}'],
])("%s is refused with a reason and not counted", async (_what, path, body) => {
  const answer = await fetch(`${receiver.url}${path}`, { method: "POST", body });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: 3, message: expect.stringMatching(/./) });
  expect(receiver.received()).toEqual({ spans: [], points: [], requests: 0 });
});
