import PQueue from "p-queue";
import type { OtlpSettings, Outcome } from "../model/settings.ts";
import type { MetricPoint, SpanRecord } from "../model/telemetry.ts";
import { estimatedBytes, halves, intoRequests } from "./batch.ts";
import type { Sender } from "./send.ts";

/** A record that waits in the outbox, under the number that settles it. */
export interface Row<Item> {
  readonly seq: number;
  readonly record: Item;
}

/** What became of the rows of one request. */
export interface Delivery {
  readonly seqs: readonly number[];
  /**
   * `settled`: the backend has answered for all of them (some may be rejected for good: it says how many, not which).
   * `oversized`: one row that is too large even alone. `kept`: to be tried at a later drain.
   */
  readonly result: "settled" | "oversized" | "kept";
  readonly outcome: Outcome;
}

/** Counts of rows. Rows whose turn did not come before the delivery stopped are in none of them. */
export interface DeliverySummary {
  /** Settled, without the rejected. */
  readonly sent: number;
  readonly rejected: number;
  readonly oversized: number;
  readonly kept: number;
  /** Why rows were kept, rejected or found too large: the first reason of that order. Absent when all were sent. */
  readonly reason?: string;
  /** The longest wait a backend asked for. */
  readonly afterMs?: number;
}

/** Told of every delivery, one at a time; what it throws ends the delivery. */
export type OnDelivery = (delivery: Delivery) => void | Promise<void>;

type Bounds = Pick<OtlpSettings, "maxSpansPerRequest" | "maxBytesPerRequest" | "concurrency">;

/**
 * Sends outbox rows, at most `concurrency` requests at once, in parts that the backend takes.
 *
 * After the first `retry` or `refused` no further request is begun, so that a dead backend costs one timeout and not
 * one per request. The exception is a 400: it says that this content is bad, and the next may be good, so rows behind a
 * poisoned one still go out; only three 400s without any success between them stop the delivery.
 * A request that is too large is halved, down to single rows.
 *
 * @param rows pulled as requests become free
 * @param onDelivery settles the rows in the store
 * @throws what `rows` or `onDelivery` throw, after the requests under way have come back
 */
export function deliverSpans(
  rows: AsyncIterable<Row<SpanRecord>> | Iterable<Row<SpanRecord>>,
  sender: Pick<Sender, "sendSpans">,
  bounds: Bounds,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  return deliver(rows, (records) => sender.sendSpans(records), bounds, bounds.concurrency, onDelivery);
}

/**
 * The same for metric points, one request after the other, so that the points of a stream arrive in their order.
 */
export function deliverMetrics(
  rows: AsyncIterable<Row<MetricPoint>> | Iterable<Row<MetricPoint>>,
  sender: Pick<Sender, "sendMetrics">,
  bounds: Bounds,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  return deliver(rows, (points) => sender.sendMetrics(points), bounds, 1, onDelivery);
}

// --- internal ---

const MAX_BAD_CONTENT_IN_A_ROW = 3;

async function deliver<Item>(
  rows: AsyncIterable<Row<Item>> | Iterable<Row<Item>>,
  send: (records: readonly Item[]) => Promise<Outcome>,
  bounds: Bounds,
  concurrency: number,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  const queue = new PQueue({ concurrency });
  const tally = new Tally();
  let failure: { readonly error: unknown } | undefined;
  let telling: Promise<void> = Promise.resolve();

  const tell = (delivery: Delivery): Promise<void> => {
    tally.count(delivery);
    const now = () => onDelivery(delivery);
    telling = telling.then(now, now);
    return telling;
  };
  const sendRows = async (part: readonly Row<Item>[]): Promise<void> => {
    const seqs = part.map((row) => row.seq);
    if (tally.stopped || failure) return;
    const outcome = await send(part.map((row) => row.record));
    if (outcome.status !== "too-large") {
      return tell({ seqs, outcome, result: outcome.status === "ok" ? "settled" : "kept" });
    }
    if (part.length === 1) return tell({ seqs, outcome, result: "oversized" });
    for (const half of halves(part)) await sendRows(half);
  };

  const requests = intoRequests(
    rows,
    { maxRecords: bounds.maxSpansPerRequest, maxBytes: bounds.maxBytesPerRequest },
    (row) => estimatedBytes(row.record),
  );
  try {
    for await (const request of requests) {
      if (tally.stopped || failure) break;
      queue
        .add(() => sendRows(request))
        .catch((error) => {
          failure ??= { error };
        });
      // A request is read when it can be begun, neither earlier nor all at once
      while (queue.pending >= concurrency) await nextCompletion(queue);
      if (tally.stopped || failure) break;
    }
  } finally {
    await queue.onIdle();
  }
  if (failure) throw failure.error;
  return tally.summary();
}

function nextCompletion(queue: PQueue): Promise<void> {
  return new Promise((resolve) => queue.once("next", () => resolve()));
}

class Tally {
  #sent = 0;
  #rejected = 0;
  #oversized = 0;
  #kept = 0;
  #badContentInARow = 0;
  #keptReason: string | undefined;
  #rejectedReason: string | undefined;
  #oversizedReason: string | undefined;
  #afterMs: number | undefined;
  stopped = false;

  count({ seqs, outcome }: Delivery): void {
    switch (outcome.status) {
      case "ok": {
        // A backend may count what it rejects otherwise than in our records
        const rejected = Math.min(outcome.rejected, seqs.length);
        this.#sent += seqs.length - rejected;
        this.#rejected += rejected;
        if (rejected > 0) this.#rejectedReason ??= outcome.message ?? `${rejected} rejected without a reason`;
        this.#badContentInARow = 0;
        return;
      }
      case "too-large":
        this.#oversized += seqs.length;
        this.#oversizedReason ??= outcome.reason;
        return;
      case "retry":
        if (outcome.afterMs !== undefined) this.#afterMs = Math.max(this.#afterMs ?? 0, outcome.afterMs);
        this.stopped = true;
        break;
      case "refused":
        if (outcome.httpStatus === 400) this.#badContentInARow += 1;
        else this.stopped = true;
        if (this.#badContentInARow >= MAX_BAD_CONTENT_IN_A_ROW) this.stopped = true;
        break;
    }
    this.#kept += seqs.length;
    this.#keptReason ??= outcome.reason;
  }

  summary(): DeliverySummary {
    const reason = this.#keptReason ?? this.#rejectedReason ?? this.#oversizedReason;
    return {
      sent: this.#sent,
      rejected: this.#rejected,
      oversized: this.#oversized,
      kept: this.#kept,
      ...(reason === undefined ? {} : { reason }),
      ...(this.#afterMs === undefined ? {} : { afterMs: this.#afterMs }),
    };
  }
}
