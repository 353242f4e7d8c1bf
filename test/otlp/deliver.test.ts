import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ExportOutcome, OtlpSignalSettings } from "#core/model/settings.ts";
import type { MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import {
  type Delivery,
  type DeliveryBounds,
  type DeliverySummary,
  deliverMetrics,
  deliverQueued,
  type Row,
  rejectedOf,
} from "#send/otlp/deliver.ts";
import { createSender } from "#send/otlp/send.lazy.ts";
import { type Behaviour, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { otlpSettings } from "../support/otlp-settings.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { spanRecord, sumPoint } from "./records.ts";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => {
  receiver.clear();
  receiver.setBehaviour(undefined);
});

type Bounds = Partial<DeliveryBounds>;

function rowsOf(count: number, over: Partial<SpanRecord> = {}): Row<SpanRecord>[] {
  return Array.from({ length: count }, (_, n) => ({ seq: 100 + n, record: spanRecord(n, over) }));
}

async function deliver(
  rows: Row<SpanRecord>[],
  bounds: Bounds = {},
  signal: Partial<OtlpSignalSettings> = {},
): Promise<{ summary: DeliverySummary; deliveries: Delivery[] }> {
  const settings = { ...otlpSettings(receiver, signal), ...bounds };
  const sender = createSender(settings, { version: "0.1.0" });
  const deliveries: Delivery[] = [];
  const summary = await deliverQueued(rows, sender.sendSpans, settings, (delivery) => {
    deliveries.push(delivery);
  });
  sender.close();
  return { summary, deliveries };
}

const seqs = (deliveries: readonly Delivery[], result: Delivery["result"]) =>
  deliveries
    .filter((delivery) => delivery.result === result)
    .flatMap((delivery) => delivery.seqs)
    .sort((a, b) => a - b);

describe("a healthy backend", () => {
  test("gets everything, in requests within the bounds", async () => {
    const { summary, deliveries } = await deliver(rowsOf(95), { maxSpansPerRequest: 10, concurrency: 4 });
    expect(summary).toEqual({ sent: 95, rejected: 0, oversized: 0, kept: 0 });
    expect(seqs(deliveries, "settled")).toEqual(rowsOf(95).map((row) => row.seq));
    expect(receiver.requests).toHaveLength(10);
    expect(receiver.spansById().size).toBe(95);
  });

  test("gets no request if there is nothing to deliver", async () => {
    expect(await deliver([])).toEqual({ summary: { sent: 0, rejected: 0, oversized: 0, kept: 0 }, deliveries: [] });
  });

  test("gets the configured number of concurrent requests, and no more", async () => {
    let open = 0;
    let most = 0;
    const sendSpans = async (): Promise<ExportOutcome> => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      return { status: "ok", rejected: 0 };
    };
    const bounds = { maxSpansPerRequest: 1, maxBytesPerRequest: 10_000, concurrency: 3 };
    await deliverQueued(rowsOf(20), sendSpans, bounds, () => {});
    expect(most).toBe(3);
  });

  test("an error that is not of the encoder ends the delivery: the request may have been sent, so it is not sent in halves", async () => {
    let requests = 0;
    const sendSpans = (): Promise<ExportOutcome> => {
      requests++;
      return Promise.reject(new Error("no space left"));
    };
    const bounds = { maxSpansPerRequest: 8, maxBytesPerRequest: 10_000, concurrency: 1 };
    const deliveries: Delivery[] = [];
    const delivered = deliverQueued(rowsOf(8), sendSpans, bounds, (delivery) => {
      deliveries.push(delivery);
    });
    await expect(delivered).rejects.toThrow("no space left");
    expect([requests, deliveries]).toEqual([1, []]);
  });

  test("the outbox is read when a request can start, not ahead", async () => {
    let pulled = 0;
    let begun = 0;
    let ahead = 0;
    async function* outbox() {
      for (const row of rowsOf(40)) {
        pulled++;
        ahead = Math.max(ahead, pulled - begun * 2);
        yield row;
      }
    }
    const sendSpans = async (): Promise<ExportOutcome> => {
      begun++;
      await new Promise((resolve) => setTimeout(resolve, 1));
      return { status: "ok", rejected: 0 };
    };
    const bounds = { maxSpansPerRequest: 2, maxBytesPerRequest: 10_000, concurrency: 2 };
    await deliverQueued(outbox(), sendSpans, bounds, () => {});
    expect(begun).toBe(20);
    expect(ahead).toBeLessThanOrEqual(3);
  });

  test("a partial success settles all rows and reports how many were rejected", async () => {
    receiver.setBehaviour(() => ({ partial: { rejected: 2, message: "too old" } }));
    const { summary, deliveries } = await deliver(rowsOf(10), { maxSpansPerRequest: 5 });
    expect(summary).toEqual({ sent: 6, rejected: 4, oversized: 0, kept: 0, reason: "too old" });
    expect(seqs(deliveries, "settled")).toHaveLength(10);
  });
});

describe("a failing backend", () => {
  test("that hangs costs one timeout, not one per request", async () => {
    receiver.setBehaviour(() => ({ hang: true }));
    const begin = Date.now();
    const { summary, deliveries } = await deliver(
      rowsOf(50),
      { maxSpansPerRequest: 1, concurrency: 2 },
      { timeoutMs: 300 },
    );
    expect(Date.now() - begin).toBeLessThan(8_000);
    expect(receiver.requests).toHaveLength(2);
    expect(seqs(deliveries, "kept")).toEqual([100, 101]);
    const reason = `no answer from ${receiver.url}/v1/traces within 300 ms`;
    expect(summary).toEqual({ sent: 0, rejected: 0, oversized: 0, kept: 2, reason, stopped: "backend", halvings: 0 });
  });

  test.each([401, 404, 500])("%d stops the delivery", async (status) => {
    receiver.setBehaviour(({ index }) => (index % 10 === 9 ? undefined : { status }));
    const { summary } = await deliver(rowsOf(20), { maxSpansPerRequest: 1, concurrency: 1 });
    expect(summary.sent).toBeLessThanOrEqual(1);
    expect(summary.kept).toBe(1);
    expect(summary.reason).toContain(`answered ${status}`);
  });

  test("429 returns the delay, and earlier requests are settled", async () => {
    let requests = 0;
    receiver.setBehaviour(() => (++requests === 3 ? { status: 429, headers: { "retry-after": "30" } } : undefined));
    const { summary, deliveries } = await deliver(rowsOf(20), { maxSpansPerRequest: 2, concurrency: 1 });
    expect(summary).toMatchObject({ sent: 4, kept: 2, afterMs: 30_000 });
    expect(seqs(deliveries, "settled")).toEqual([100, 101, 102, 103]);
    expect(seqs(deliveries, "kept")).toEqual([104, 105]);
    expect(receiver.spans).toHaveLength(4);
  });

  test("one poisoned span is isolated, and all others are sent in the same delivery", async () => {
    const poisoned = new Set([3, 107]);
    const rows = rowsOf(200);
    const sendSpans = async (spans: readonly SpanRecord[]): Promise<ExportOutcome> => {
      requests++;
      const isBad = spans.some((span) => poisoned.has(rows.findIndex((row) => row.record === span)));
      return isBad ? { status: "refused", httpStatus: 400, reason: "bad span" } : { status: "ok", rejected: 0 };
    };
    let requests = 0;
    const deliveries: Delivery[] = [];
    const bounds = { maxSpansPerRequest: 100, maxBytesPerRequest: 1_000_000, concurrency: 2 };
    const summary = await deliverQueued(rows, sendSpans, bounds, (delivery) => void deliveries.push(delivery));
    expect(summary).toEqual({ sent: 198, rejected: 0, oversized: 0, kept: 2, reason: "bad span", httpStatus: 400 });
    expect(seqs(deliveries, "kept")).toEqual([103, 207]);
    expect(requests).toBeLessThanOrEqual(2 * (1 + 2 * 7));
  });

  test("a backend that rejects everything gets no more than sixteen requests", async () => {
    receiver.setBehaviour(() => ({ status: 400 }));
    const { summary } = await deliver(rowsOf(500), { maxSpansPerRequest: 50, concurrency: 1 });
    expect(summary).toMatchObject({ sent: 0, stopped: "backend", httpStatus: 400 });
    expect(receiver.requests).toHaveLength(16);
  });

  test("after a failure the first request is small, and sizes grow with success", async () => {
    await deliver(rowsOf(200), { maxSpansPerRequest: 64, concurrency: 1, halvings: 3 });
    const sizes = receiver.requests.map((request) => request.spans.length);
    expect(sizes).toEqual([8, 8, 8, 8, 16, 16, 16, 16, 32, 32, 32, 8]);
    receiver.clear();
    receiver.setBehaviour(() => ({ status: 503 }));
    const bounds = { maxSpansPerRequest: 64, concurrency: 4 };
    expect((await deliver(rowsOf(200), { ...bounds, halvings: 2 })).summary.halvings).toBe(3);
    expect((await deliver(rowsOf(200), { ...bounds, halvings: 6 })).summary.halvings).toBe(6);
    expect(receiver.requests.map((request) => request.spans.length)).toEqual([16, 1]);
  });

  test("a warning with a full success is reported", async () => {
    receiver.setBehaviour(() => ({ partial: { rejected: 0, message: "please upgrade" } }));
    const { summary } = await deliver(rowsOf(5));
    expect(summary).toEqual({ sent: 5, rejected: 0, oversized: 0, kept: 0, remark: "please upgrade" });
  });
});

describe("a long queue", () => {
  test("is sent no faster than the limit", async () => {
    const begin = performance.now();
    const { summary } = await deliver(rowsOf(300), { maxSpansPerRequest: 50, maxSpansPerSecond: 500 });
    expect(summary.sent).toBe(300);
    // The last request starts after the time of the five before it
    expect(performance.now() - begin).toBeGreaterThan(490);
  });

  test("stops at its deadline and leaves the rest for the next delivery", async () => {
    receiver.setBehaviour(() => ({ delayMs: 50 }));
    const bounds = { maxSpansPerRequest: 1, concurrency: 1, maxDeliveryMs: 300 };
    const { summary, deliveries } = await deliver(rowsOf(100), bounds);
    expect(summary).toMatchObject({ kept: 0, stopped: "time" });
    expect(summary.sent).toBeGreaterThan(0);
    expect(summary.sent).toBeLessThan(20);
    expect(seqs(deliveries, "settled")).toEqual(rowsOf(summary.sent).map((row) => row.seq));
    expect(receiver.spans).toHaveLength(summary.sent);
  });

  test("does not wait beyond its deadline", async () => {
    const begin = performance.now();
    const bounds = { maxSpansPerRequest: 10, maxSpansPerSecond: 1, maxDeliveryMs: 200 };
    expect((await deliver(rowsOf(100), bounds)).summary).toMatchObject({ sent: 10, stopped: "time" });
    expect(performance.now() - begin).toBeLessThan(8_000);
  });
});

describe("requests that are too large", () => {
  const tooLargeAbove =
    (bytes: number): Behaviour =>
    ({ headers }) =>
      Number(headers["content-length"]) > bytes ? { status: 413 } : undefined;

  test("are halved until they are accepted", async () => {
    receiver.setBehaviour(tooLargeAbove(1000));
    const { summary, deliveries } = await deliver(rowsOf(40), { maxSpansPerRequest: 40 });
    expect(summary).toEqual({ sent: 40, rejected: 0, oversized: 0, kept: 0 });
    expect(seqs(deliveries, "settled")).toHaveLength(40);
    expect(receiver.spans.map((span) => span.spanId)).toEqual(rowsOf(40).map((row) => row.record.spanId));
  });

  test("a single span that is too large is reported, and the others are sent", async () => {
    receiver.setBehaviour(tooLargeAbove(5000));
    const rows = rowsOf(9);
    rows[4] = { seq: 104, record: spanRecord(4, { attributes: { text: "x".repeat(20_000) } }) };
    const { summary, deliveries } = await deliver(rows);
    const reason = `${receiver.url}/v1/traces answered 413: answered 413 as requested`;
    expect(summary).toEqual({ sent: 8, rejected: 0, oversized: 1, kept: 0, reason });
    expect(seqs(deliveries, "oversized")).toEqual([104]);
    expect(receiver.spansById().size).toBe(8);
  });

  test("determine the size of the next requests", async () => {
    receiver.setBehaviour(tooLargeAbove(3000));
    await deliver(rowsOf(400), { maxSpansPerRequest: 100, concurrency: 1 });
    const refused = receiver.requests.filter((request) => !request.accepted).length;
    expect(refused).toBeLessThanOrEqual(8);
    expect(receiver.spansById().size).toBe(400);
  });

  test("if every single span is too large, not every one is tried", async () => {
    receiver.setBehaviour(tooLargeAbove(10));
    const { summary } = await deliver(rowsOf(400), { maxSpansPerRequest: 4, concurrency: 1 });
    expect(summary).toMatchObject({ sent: 0, oversized: 50, stopped: "backend" });
  });

  test("by our own bound are never sent: the encoded size is checked", async () => {
    // In OTLP's JSON, attributes are much larger than in our records
    const attributes = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, n]));
    const bounds = { maxBytesPerRequest: 6000, concurrency: 1 };
    const { summary } = await deliver(rowsOf(30, { attributes }), bounds, { protocol: "http/json" });
    expect(summary).toEqual({ sent: 30, rejected: 0, oversized: 0, kept: 0 });
    for (const request of receiver.requests) expect(request.body.length).toBeLessThanOrEqual(6000);
  });

  test("for any sizes and bounds, every row is settled exactly once and nothing arrives twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 30 }),
        fc.record({
          maxSpansPerRequest: fc.integer({ min: 1, max: 12 }),
          maxBytesPerRequest: fc.integer({ min: 500, max: 9000 }),
          concurrency: fc.integer({ min: 1, max: 4 }),
        }),
        fc.integer({ min: 500, max: 9000 }),
        async (lengths, bounds, backendBytes) => {
          receiver.clear();
          receiver.setBehaviour(tooLargeAbove(backendBytes));
          const rows = lengths.map((length, n) => ({
            seq: n,
            record: spanRecord(n, { attributes: { text: "x".repeat(length) } }),
          }));
          const { summary, deliveries } = await deliver(rows, bounds);
          expect(deliveries.flatMap((delivery) => delivery.seqs).sort((a, b) => a - b)).toEqual(
            rows.map((row) => row.seq),
          );
          expect(summary.sent + summary.oversized).toBe(rows.length);
          expect(receiver.spans).toHaveLength(summary.sent);
          expect(receiver.spansById().size).toBe(summary.sent);
          for (const request of receiver.requests) {
            expect(request.body.length).toBeLessThanOrEqual(bounds.maxBytesPerRequest);
            expect(request.spans.length).toBeLessThanOrEqual(bounds.maxSpansPerRequest);
          }
        },
      ),
      { numRuns: runs(25) },
    );
  });
});

test("a failing store ends the delivery with its error, after all requests in flight were settled", async () => {
  const settled: number[] = [];
  const settings = otlpSettings(receiver, {}, { maxSpansPerRequest: 1, concurrency: 2 });
  const sender = createSender(settings, { version: "0.1.0" });
  const delivering = deliverQueued(rowsOf(20), sender.sendSpans, settings, ({ seqs: [seq = 0] }) => {
    settled.push(seq);
    throw new Error("disk full");
  });
  await expect(delivering).rejects.toThrow("disk full");
  sender.close();
  expect(settled.length).toBe(receiver.requests.length);
  expect(settled.length).toBeLessThanOrEqual(3);
});

test("a failing outbox ends the delivery with its error, after all requests in flight were answered", async () => {
  const settings = otlpSettings(receiver, {}, { maxSpansPerRequest: 1, concurrency: 2 });
  const sender = createSender(settings, { version: "0.1.0" });
  const settled: number[] = [];
  async function* outbox() {
    yield* rowsOf(2);
    throw new Error("the store is gone");
  }
  const delivering = deliverQueued(
    outbox(),
    sender.sendSpans,
    settings,
    (delivery) => void settled.push(...delivery.seqs),
  );
  await expect(delivering).rejects.toThrow("the store is gone");
  sender.close();
  expect(settled).toEqual([100]);
});

test("metric points are sent one request after the other, in order, at any concurrency", async () => {
  const settings = otlpSettings(receiver, {}, { maxSpansPerRequest: 2, concurrency: 4 });
  const sender = createSender(settings, { version: "0.1.0" });
  receiver.setBehaviour(({ index }) => ({ delayMs: index % 2 === 0 ? 10 : 0 }));
  const rows = Array.from({ length: 9 }, (_, n) => ({ seq: n, record: sumPoint(n) }));
  const summary = await deliverMetrics(rows, sender, settings, () => {});
  sender.close();
  expect(summary).toEqual({ sent: 9, rejected: 0, oversized: 0, kept: 0 });
  expect(receiver.metricPoints.map((point) => point.data.kind === "sum" && point.data.value)).toEqual(
    rows.map((row) => row.seq),
  );
});

test("points that can be sent twice: a request with rejected points is sent again in parts, whose responses show the rejected points", async () => {
  const requests: (readonly number[])[] = [];
  const sender = {
    // Rejects odd values
    sendMetrics: async (points: readonly MetricPoint[]): Promise<ExportOutcome> => {
      const values = points.map(({ data }) => (data.kind === "sum" ? data.value : 0));
      requests.push(values);
      return { status: "ok", rejected: values.filter((value) => value % 2 === 1).length, message: "odd" };
    },
  };
  const rows = Array.from({ length: 6 }, (_, n) => ({ seq: n, record: sumPoint(n) }));
  const parts = (part: readonly Row<MetricPoint>[]) =>
    [0, 1].map((odd) => part.filter(({ seq }) => seq % 2 === odd)).filter((some) => some.length > 0);
  const deliveries: Delivery[] = [];
  const bounds = { maxSpansPerRequest: 100, maxBytesPerRequest: 1e6, concurrency: 1 };
  const summary = await deliverMetrics(rows, sender, bounds, (one) => void deliveries.push(one), parts);
  expect(requests).toEqual([
    [0, 1, 2, 3, 4, 5],
    [0, 2, 4],
    [1, 3, 5],
  ]);
  expect(summary).toEqual({ sent: 3, rejected: 3, oversized: 0, kept: 0, reason: "odd", remark: "odd" });
  expect(deliveries.map(({ seqs, outcome }) => [seqs, rejectedOf(outcome, seqs.length)])).toEqual([
    [[0, 2, 4], 0],
    [[1, 3, 5], 3],
  ]);
});
