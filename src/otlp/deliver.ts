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
export type SplitRejected = Split<MetricPoint>;

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
  rows: Rows<SpanRecord>,
  sender: Pick<Sender, "sendSpans">,
  bounds: DeliveryBounds,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  return new Deliverer<SpanRecord>((records) => sender.sendSpans(records), bounds, onDelivery).deliver(rows);
}

/**
 * `deliverSpans` for metric points, one request after the other, so that the points of a stream arrive in order. There are few
 * points, so the rate limit does not apply.
 */
export function deliverMetrics(
  rows: Rows<MetricPoint>,
  sender: Pick<Sender, "sendMetrics">,
  { maxSpansPerSecond: _, ...bounds }: DeliveryBounds,
  onDelivery: OnDelivery,
  splitRejected?: SplitRejected,
): Promise<DeliverySummary> {
  const send = (points: readonly MetricPoint[]) => sender.sendMetrics(points);
  return new Deliverer(send, { ...bounds, concurrency: 1 }, onDelivery, splitRejected).deliver(rows);
}

// --- internal ---

type Rows<Item> = AsyncIterable<Row<Item>> | Iterable<Row<Item>>;
type Send<Item> = (records: readonly Item[]) => Promise<ExportOutcome>;
type Split<Item> = (part: readonly Row<Item>[]) => readonly (readonly Row<Item>[])[];

class Deliverer<Item> {
  readonly #send: Send<Item>;
  readonly #onDelivery: OnDelivery;
  readonly #splitRejected: Split<Item>;
  readonly #queue: PQueue;
  readonly #pace: Pace;
  readonly #tally = new Tally();
  #failure: { readonly error: unknown } | undefined;
  #reporting: Promise<void> = Promise.resolve();

  /** @param splitRejected parts of a request that are sent again if the backend rejects some of its records. @default none */
  constructor(
    send: Send<Item>,
    bounds: DeliveryBounds,
    onDelivery: OnDelivery,
    splitRejected: Split<Item> = (part) => [part],
  ) {
    this.#send = send;
    this.#onDelivery = onDelivery;
    this.#splitRejected = splitRejected;
    this.#queue = new PQueue({ concurrency: bounds.concurrency });
    this.#pace = new Pace(bounds, bounds.halvings ?? 0);
  }

  async deliver(rows: Rows<Item>): Promise<DeliverySummary> {
    try {
      await this.#startRequests(rows);
    } finally {
      await this.#queue.onIdle();
    }
    if (this.#failure) throw this.#failure.error;
    const summary = this.#tally.summary();
    return summary.stopped === "backend" ? { ...summary, halvings: this.#pace.halvings } : summary;
  }

  async #startRequests(rows: Rows<Item>): Promise<void> {
    for await (const request of intoRequests(rows, this.#pace, bytesOf)) {
      if (!(await this.#pace.waitToStart(request.length))) this.#tally.stopForTime();
      if (this.#hasEnded()) return;
      this.#queue
        .add(() => this.#sendRows(request))
        .catch((error) => {
          this.#failure ??= { error };
        });
      // Build a request only when it can start: all of them at once would need too much memory
      while (this.#queue.pending >= this.#pace.concurrency) await nextCompletion(this.#queue);
      if (this.#hasEnded()) return;
    }
  }

  async #sendRows(part: readonly Row<Item>[]): Promise<void> {
    if (this.#hasEnded()) return;
    const outcome = await this.#send(part.map((row) => row.record)).catch(unlessEncodeError);
    if (outcome instanceof Unencodable) {
      if (part.length > 1) return this.#sendEach(halves(part));
      return this.#report(part, { outcome: outcome.refused, result: "kept", encodingError: outcome.reason });
    }
    this.#tally.countResponse(outcome);
    if (outcome.status === "ok") this.#pace.recordAccepted();
    const smaller = this.#smallerParts(part, outcome);
    if (smaller.length > 1) return this.#sendEach(smaller);
    return this.#report(part, { outcome, result: RESULTS[outcome.status] });
  }

  async #sendEach(parts: readonly (readonly Row<Item>[])[]): Promise<void> {
    for (const part of parts) await this.#sendRows(part);
  }

  /** The parts to send instead of a request that the backend did not accept as a whole; one or none: it is not sent again. */
  #smallerParts(part: readonly Row<Item>[], outcome: ExportOutcome): readonly (readonly Row<Item>[])[] {
    if (part.length > 1 && outcome.status === "too-large") {
      this.#pace.recordTooLarge(part.reduce((sum, row) => sum + bytesOf(row), 0));
      return halves(part);
    }
    if (part.length > 1 && isBadContent(outcome) && !this.#tally.isStopped) return halves(part);
    const rejected = rejectedOf(outcome, part.length);
    return rejected > 0 && rejected < part.length ? this.#splitRejected(part) : [];
  }

  #report(part: readonly Row<Item>[], end: Omit<Delivery, "seqs">): Promise<void> {
    const delivery = { seqs: part.map((row) => row.seq), ...end };
    this.#tally.countDelivery(delivery);
    const notify = () => this.#onDelivery(delivery);
    this.#reporting = this.#reporting.then(notify, notify);
    return this.#reporting;
  }

  #hasEnded(): boolean {
    if (this.#pace.isTimeOver) this.#tally.stopForTime();
    return this.#tally.isStopped || this.#failure !== undefined;
  }
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
