import PQueue from "p-queue";
import { messageOf } from "../model/error-message.ts";
import type { ExportOutcome } from "../model/settings.ts";
import type { MetricPoint, SpanRecord } from "../model/telemetry.ts";
import { estimatedBytes, halves, intoRequests } from "./batch.ts";
import { EncodeError } from "./encode-error.ts";
import { Pace, type PaceBounds } from "./pace.ts";
import type { Sender } from "./send.lazy.ts";
import { type Delivery, type DeliverySummary, isBadContent, rejectedOf, Tally } from "./tally.ts";

export { type Delivery, type DeliverySummary, isBadContent, joined, NOTHING_SENT, rejectedOf } from "./tally.ts";

/** A record in the outbox, with the row number that settles it. */
export interface Row<Item> {
  readonly seq: number;
  readonly record: Item;
}

/** Called for every delivery, one at a time; an exception ends the delivery. */
export type OnDelivery = (delivery: Delivery) => void | Promise<void>;

/** `halvings`: how often the size of the first request is halved, from the previous delivery. @default 0 */
export type DeliveryBounds = PaceBounds & { readonly halvings?: number };

/**
 * For points that can be sent twice without harm (cumulative sums): if the backend rejects some points of a request, each part is
 * sent again separately, so that the responses show which part it rejects.
 */
export type SplitRejected = (part: readonly Row<MetricPoint>[]) => readonly (readonly Row<MetricPoint>[])[];

/**
 * Sends outbox rows with at most `concurrency` concurrent requests, in sizes that the backend accepts.
 *
 * After the first `retry` or `refused` no further request starts, so that an unreachable backend costs one timeout and not one per
 * request. The exception is bad content (400, 422): the request is halved until the bad record is the only one, so that one
 * bad row does not block the others; sixteen such responses without a success in between stop the delivery. A request that is
 * too large is halved, down to single rows, and so is one with a record that cannot be encoded; that record is kept as refused.
 *
 * @param rows read as earlier requests complete
 * @param onDelivery settles the rows in the store
 * @throws what `rows` or `onDelivery` throw, after the running requests have ended
 */
export function deliverSpans(
  rows: AsyncIterable<Row<SpanRecord>> | Iterable<Row<SpanRecord>>,
  sender: Pick<Sender, "sendSpans">,
  bounds: DeliveryBounds,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  return deliver(rows, (records) => sender.sendSpans(records), bounds, onDelivery);
}

/**
 * `deliverSpans` for metric points, one request after the other, so that the points of a stream arrive in order. There are few
 * points, so the rate limit does not apply.
 */
export function deliverMetrics(
  rows: AsyncIterable<Row<MetricPoint>> | Iterable<Row<MetricPoint>>,
  sender: Pick<Sender, "sendMetrics">,
  { maxSpansPerSecond: _, ...bounds }: DeliveryBounds,
  onDelivery: OnDelivery,
  splitRejected?: SplitRejected,
): Promise<DeliverySummary> {
  const send = (points: readonly MetricPoint[]) => sender.sendMetrics(points);
  return deliver(rows, send, { ...bounds, concurrency: 1 }, onDelivery, splitRejected);
}

// --- internal ---

async function deliver<Item>(
  rows: AsyncIterable<Row<Item>> | Iterable<Row<Item>>,
  send: (records: readonly Item[]) => Promise<ExportOutcome>,
  bounds: DeliveryBounds,
  onDelivery: OnDelivery,
  splitRejected: (part: readonly Row<Item>[]) => readonly (readonly Row<Item>[])[] = (part) => [part],
): Promise<DeliverySummary> {
  const queue = new PQueue({ concurrency: bounds.concurrency });
  const pace = new Pace(bounds, bounds.halvings ?? 0);
  const tally = new Tally();
  let failure: { readonly error: unknown } | undefined;
  let reporting: Promise<void> = Promise.resolve();

  const hasEnded = (): boolean => {
    if (pace.isTimeOver) tally.stopForTime();
    return tally.isStopped || failure !== undefined;
  };
  const report = (delivery: Delivery): Promise<void> => {
    tally.countDelivery(delivery);
    const notify = () => onDelivery(delivery);
    reporting = reporting.then(notify, notify);
    return reporting;
  };
  const sendRows = async (part: readonly Row<Item>[]): Promise<void> => {
    if (hasEnded()) return;
    const outcome = await send(part.map((row) => row.record)).catch(unlessEncodeError);
    if (outcome instanceof Unencodable) {
      if (part.length === 1)
        return report({
          seqs: part.map((row) => row.seq),
          outcome: outcome.refused,
          result: "kept",
          encodingError: outcome.reason,
        });
      for (const half of halves(part)) await sendRows(half);
      return;
    }
    tally.countResponse(outcome);
    if (outcome.status === "ok") pace.recordAccepted();
    if (part.length > 1 && (outcome.status === "too-large" || (isBadContent(outcome) && !tally.isStopped))) {
      if (outcome.status === "too-large") pace.recordTooLarge(part.reduce((sum, row) => sum + bytesOf(row), 0));
      for (const half of halves(part)) await sendRows(half);
      return;
    }
    const rejected = rejectedOf(outcome, part.length);
    if (rejected > 0 && rejected < part.length) {
      const parts = splitRejected(part);
      if (parts.length > 1) {
        for (const smaller of parts) await sendRows(smaller);
        return;
      }
    }
    return report({ seqs: part.map((row) => row.seq), outcome, result: RESULTS[outcome.status] });
  };

  try {
    for await (const request of intoRequests(rows, pace, bytesOf)) {
      if (!(await pace.waitToStart(request.length))) tally.stopForTime();
      if (hasEnded()) break;
      queue
        .add(() => sendRows(request))
        .catch((error) => {
          failure ??= { error };
        });
      // Build a request only when it can start: all of them at once would need too much memory
      while (queue.pending >= pace.concurrency) await nextCompletion(queue);
      if (hasEnded()) break;
    }
  } finally {
    await queue.onIdle();
  }
  if (failure) throw failure.error;
  const summary = tally.summary();
  return summary.stopped === "backend" ? { ...summary, halvings: pace.halvings } : summary;
}

/** The request was not sent, because one of its records cannot be encoded. */
class Unencodable {
  readonly reason: string;
  readonly refused: ExportOutcome;
  constructor(error: unknown) {
    this.reason = messageOf(error);
    this.refused = { status: "refused", httpStatus: 400, reason: `a record cannot be encoded: ${this.reason}` };
  }
}

/** Other errors end the delivery: the request may have been sent. */
function unlessEncodeError(error: unknown): Unencodable {
  if (error instanceof EncodeError) return new Unencodable(error);
  throw error;
}

const RESULTS = {
  ok: "settled",
  "too-large": "oversized",
  retry: "kept",
  refused: "kept",
} as const satisfies Record<ExportOutcome["status"], Delivery["result"]>;

const bytesOf = (row: Row<unknown>): number => estimatedBytes(row.record);

function nextCompletion(queue: PQueue): Promise<void> {
  return new Promise((resolve) => queue.once("next", () => resolve()));
}
