import { describe, expect, test } from "vitest";
import type { ExportOutcome } from "#core/model/settings.ts";
import type { MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import {
  type Delivery,
  type DeliveryBounds,
  deliverMetrics,
  deliverQueued,
  estimatedBytes,
} from "#send/otlp/deliver.ts";
import { mayBeTooLarge } from "#send/otlp/tally.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { spanRecord, sumPoint } from "./records.ts";

const BOUNDS: DeliveryBounds = {
  maxSpansPerRequest: 512,
  maxBytesPerRequest: 3_000_000,
  concurrency: 1,
  mayBeSize: true,
};
const REFUSALS: readonly ExportOutcome[] = [
  { status: "refused", httpStatus: 403, reason: "answered 403" },
  { status: "refused", httpStatus: 500, reason: "answered 500" },
  { status: "retry", httpStatus: 502, reason: "answered 502" },
];
const OK: ExportOutcome = { status: "ok", rejected: 0 };

const rowsOf = (sizes: readonly number[]) =>
  sizes.map((size, seq) => ({ seq, record: spanRecord(seq, { name: "x".repeat(size) }) }));
const bytesOf = (records: readonly (SpanRecord | MetricPoint)[]) =>
  records.reduce((sum, record) => sum + estimatedBytes(record), 0);

/** Refuses what is larger than the limit, and everything from request `downFrom` on. */
function gateway(limit: number, refusal: ExportOutcome, downFrom = Number.POSITIVE_INFINITY) {
  const requests: { readonly seqs: readonly string[]; readonly bytes: number; readonly isAccepted: boolean }[] = [];
  const answer = async (records: readonly (SpanRecord | MetricPoint)[]): Promise<ExportOutcome> => {
    const bytes = bytesOf(records);
    const isAccepted = bytes <= limit && requests.length < downFrom;
    requests.push({
      seqs: records.map((one) => ("spanId" in one ? one.spanId : JSON.stringify(one.data))),
      bytes,
      isAccepted,
    });
    await new Promise((done) => setImmediate(done));
    return isAccepted ? OK : refusal;
  };
  return { requests, sender: { sendSpans: answer, sendMetrics: answer } };
}

async function deliver(sizes: readonly number[], to: ReturnType<typeof gateway>, bounds: Partial<DeliveryBounds> = {}) {
  const deliveries: Delivery[] = [];
  const summary = await deliverQueued(rowsOf(sizes), to.sender.sendSpans, { ...BOUNDS, ...bounds }, (one) => {
    deliveries.push(one);
  });
  return { summary, deliveries, seqs: deliveries.flatMap(({ seqs }) => seqs).sort((a, b) => a - b) };
}

describe("a gateway that refuses large requests as if for another reason", () => {
  test.each(REFUSALS)("with %j: everything arrives once, and the size is learnt", async (refusal) => {
    const to = gateway(6_000, refusal);
    const { summary, deliveries } = await deliver(Array(40).fill(200), to);
    expect(summary).toMatchObject({ sent: 40, kept: 0, oversized: 0 });
    expect(summary.stopped).toBeUndefined();
    expect(summary.sizeLimit).toBeLessThanOrEqual(6_000);
    expect(summary.sizeLimit).toBeGreaterThan(1_500);
    expect(deliveries.every(({ result }) => result === "settled")).toBe(true);
    // With the size, nothing is refused any more
    const again = gateway(6_000, refusal);
    await deliver(Array(40).fill(200), again, { sizeLimit: summary.sizeLimit });
    expect(again.requests.every(({ isAccepted }) => isAccepted)).toBe(true);
  });

  test("for any sizes, limits and concurrency: each row is settled, or larger than the limit and kept; none is sent twice", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 2, maxLength: 60 }),
        fc.integer({ min: 1_500, max: 40_000 }),
        fc.constantFrom(...REFUSALS),
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 40 }),
        async (sizes, limit, refusal, concurrency, maxSpansPerRequest) => {
          const rows = rowsOf(sizes);
          const fits = (seq: number) => bytesOf([rows[seq]?.record ?? spanRecord(0)]) <= limit;
          // If the very first request cannot be smaller, nobody can tell whether it is the size
          fc.pre(maxSpansPerRequest > 1 && rows.slice(0, 2).some(({ seq }) => fits(seq)));
          const to = gateway(limit, refusal);
          const { summary, deliveries } = await deliver(sizes, to, { concurrency, maxSpansPerRequest });
          const sent = deliveries.flatMap(({ seqs, result }) => (result === "settled" ? seqs : []));
          expect(new Set(sent).size).toBe(sent.length);
          const accepted = to.requests.filter(({ isAccepted }) => isAccepted).flatMap(({ seqs }) => seqs);
          expect(new Set(accepted).size).toBe(accepted.length);
          expect(accepted.length).toBe(sent.length);
          if (summary.stopped === undefined)
            expect(sent.sort((a, b) => a - b)).toEqual(rows.map(({ seq }) => seq).filter(fits));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

describe("a backend that refuses for another reason", () => {
  test.each(REFUSALS)("with %j: costs two requests, and stops", async (refusal) => {
    const to = gateway(0, refusal);
    const { summary, seqs } = await deliver(Array(2_000).fill(100), to, { concurrency: 1 });
    expect(to.requests.map(({ seqs: sent }) => sent.length)).toEqual([512, 1]);
    expect(summary).toMatchObject({
      sent: 0,
      kept: 512,
      oversized: 0,
      stopped: "backend",
      reason: refusal.status === "ok" ? "" : refusal.reason,
    });
    expect(summary).not.toHaveProperty("sizeLimit");
    expect(seqs).toEqual(Array.from({ length: 512 }, (_, seq) => seq));
  });

  test.each(REFUSALS)("with %j, for the first time: costs one request, as before", async (refusal) => {
    const to = gateway(0, refusal);
    const { summary } = await deliver(Array(20).fill(100), to, { mayBeSize: false });
    expect(to.requests).toHaveLength(1);
    expect(summary).toMatchObject({ kept: 20, stopped: "backend", mayBeSize: true });
  });

  test.each(REFUSALS)("with %j, in the middle of a delivery: stops after a few requests", async (refusal) => {
    for (const downFrom of [1, 2, 3, 5]) {
      const to = gateway(1e9, refusal, downFrom);
      const { summary } = await deliver(Array(400).fill(100), to, { maxSpansPerRequest: 32, halvings: 3 });
      expect(summary.stopped).toBe("backend");
      expect(summary.oversized).toBe(0);
      expect(to.requests.length).toBeLessThanOrEqual(downFrom + 8);
    }
  });

  test("because of one record: the others arrive in requests of the usual size", async () => {
    const poison = spanRecord(77).spanId;
    const sent: number[] = [];
    const sendSpans = async (records: readonly SpanRecord[]): Promise<ExportOutcome> => {
      if (records.some(({ spanId }) => spanId === poison)) return { status: "refused", httpStatus: 500, reason: "500" };
      sent.push(records.length);
      return OK;
    };
    const summary = await deliverQueued(rowsOf(Array(256).fill(100)), sendSpans, BOUNDS, () => {});
    expect(summary.sent).toBeGreaterThan(60);
    // The limit is not smaller than what was accepted, although requests of two spans were refused
    expect(summary.sizeLimit).toBeGreaterThan(30 * bytesOf([spanRecord(0)]));
    expect(Math.max(...sent)).toBeGreaterThan(30);
  });

  test("pauses, addresses, credentials and content are never taken for the size", () => {
    const refused = (httpStatus: number) => mayBeTooLarge({ status: "refused", httpStatus, reason: "" });
    expect([200, 302, 400, 401, 404, 405, 407, 415, 422].filter(refused)).toEqual([]);
    expect([403, 406, 418, 431, 500, 501].filter((one) => !refused(one))).toEqual([]);
    const retried = (httpStatus?: number, afterMs?: number) =>
      mayBeTooLarge({ status: "retry", reason: "", ...(httpStatus && { httpStatus }), ...(afterMs && { afterMs }) });
    expect([retried(), retried(429), retried(503), retried(504), retried(502, 1000)]).toEqual(Array(5).fill(false));
    expect(mayBeTooLarge(OK)).toBe(false);
  });
});

test("points of metrics keep their order", async () => {
  const to = gateway(1_500, { status: "refused", httpStatus: 403, reason: "answered 403" });
  const rows = Array.from({ length: 30 }, (_, seq) => ({ seq, record: sumPoint(seq) }));
  const summary = await deliverMetrics(rows, to.sender, BOUNDS, () => {});
  expect(summary).toMatchObject({ sent: 30, kept: 0 });
  const accepted = to.requests.filter(({ isAccepted }) => isAccepted).flatMap(({ seqs }) => seqs);
  expect(accepted).toEqual(rows.map(({ record }) => JSON.stringify(record.data)));
});
