import PQueue from "p-queue";
import type { ExportOutcome } from "#core/model/settings.ts";
import type { MetricPoint } from "#core/model/telemetry.ts";
import { messageOf } from "#kit/errors.ts";
import { EncodeError } from "./encode-error.ts";
import { Pace, type PaceBounds } from "./pace.ts";
import type { Sender } from "./send.lazy.ts";
import { type Delivery, type DeliverySummary, isBadContent, mayBeTooLarge, rejectedOf, Tally } from "./tally.ts";

export { type Delivery, type DeliverySummary, isBadContent, joined, NOTHING_SENT, rejectedOf } from "./tally.ts";

/** A record in the outbox, with the row number that settles it. */
export interface Row<Item> {
  readonly seq: number;
  readonly record: Item;
}

/** Called for every delivery, one at a time; an exception ends the delivery. */
type OnDelivery = (delivery: Delivery) => void | Promise<void>;

export type DeliveryBounds = PaceBounds & {
  /** How often the size of the first request is halved, from the previous delivery. @default 0 */
  readonly halvings?: number;
  /**
   * Whether a refusal can be due to the size, because earlier deliveries were refused too: then one small request finds out.
   *
   * @default false
   */
  readonly mayBeSize?: boolean;
};

/**
 * For points that can be sent twice without harm (cumulative sums): if the backend rejects some points of a request, each part is
 * sent again separately, so that the responses show which part it rejects.
 */
type SplitRejected = Split<MetricPoint>;

/**
 * Sends outbox rows with at most `concurrency` concurrent requests, in sizes that the backend accepts.
 *
 * After the first `retry` or `refused` no further request starts, so that an unreachable backend costs one timeout and not one per
 * request. The exception is bad content (400, 422): the request is halved until the bad record is the only one, so that one
 * bad row does not block the others; sixteen such responses without a success in between stop the delivery. A request that is
 * too large is halved, down to single rows, and so is one with a record that cannot be encoded; that record is kept as refused.
 * With `mayBeSize`, a request that is refused as gateways refuse large ones (403, 500, 502) is treated in the same way if one with its
 * smallest row is accepted; otherwise the delivery stops after these two.
 *
 * @param rows read as earlier requests complete
 * @param send makes one attempt with one request
 * @param onDelivery settles the rows in the store
 * @throws what `rows` or `onDelivery` throw, after the running requests have ended
 */
export function deliverQueued<Item>(
  rows: Rows<Item>,
  send: Send<Item>,
  bounds: DeliveryBounds,
  onDelivery: OnDelivery,
): Promise<DeliverySummary> {
  return new Deliverer<Item>(send, bounds, onDelivery, { small: smallestOf }).deliver(rows);
}

/**
 * `deliverQueued` for metric points, one request after the other, so that the points of a stream arrive in order. There are few
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
  // The first one, because the points of a stream must stay in order
  const ways: Ways<MetricPoint> = { small: ([first]) => first, ...(splitRejected !== undefined && { splitRejected }) };
  return new Deliverer<MetricPoint>(send, { ...bounds, concurrency: 1 }, onDelivery, ways).deliver(rows);
}

/** Limits of one request. */
interface RequestBounds {
  readonly maxRecords: number;
  /** An estimate; the sender checks the real size. */
  readonly maxBytes: number;
}

/**
 * Splits rows into requests, in order, reading at most one row beyond a request. A row that exceeds `maxBytes` becomes a
 * separate request, because only its encoded size shows whether it is too large.
 *
 * @param rows read one by one, so that memory is needed for one request only, however long the outbox is
 * @param bytesOf estimate for one row
 */
export async function* intoRequests<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  bounds: RequestBounds,
  bytesOf: (row: Row) => number,
): AsyncGenerator<readonly [Row, ...Row[]], void, void> {
  let request: [Row, ...Row[]] | undefined;
  let bytes = 0;
  for await (const row of rows) {
    const rowBytes = bytesOf(row);
    if (request !== undefined && (request.length >= bounds.maxRecords || bytes + rowBytes > bounds.maxBytes)) {
      yield request;
      request = undefined;
      bytes = 0;
    }
    if (request === undefined) request = [row];
    else request.push(row);
    bytes += rowBytes;
  }
  if (request !== undefined) yield request;
}

/** Bytes of a record as JSON: close to a JSON request, and more than protobuf needs. */
export function estimatedBytes(record: unknown): number {
  return Buffer.byteLength(JSON.stringify(record));
}

/** Both halves of a request that was too large, in order; the first has the odd row. */
export function halves<Row>(request: readonly Row[]): readonly [readonly Row[], readonly Row[]] {
  const middle = Math.ceil(request.length / 2);
  return [request.slice(0, middle), request.slice(middle)];
}

// --- internal ---

type Rows<Item> = AsyncIterable<Row<Item>> | Iterable<Row<Item>>;
type Send<Item> = (records: readonly Item[]) => Promise<ExportOutcome>;
type Split<Item> = (part: readonly Row<Item>[]) => readonly (readonly Row<Item>[])[];

interface Ways<Item> {
  /** The row to try first if a request may be too large. */
  readonly small: (part: readonly Row<Item>[]) => Row<Item> | undefined;
  /** Parts of a request that are sent again if the backend rejects some of its records. @default none */
  readonly splitRejected?: Split<Item>;
}

class Deliverer<Item> {
  readonly #send: Send<Item>;
  readonly #onDelivery: OnDelivery;
  readonly #ways: Ways<Item>;
  readonly #queue: PQueue;
  readonly #pace: Pace;
  readonly #tally = new Tally();
  readonly #mayBeSize: boolean;
  /** Estimated bytes of the largest request that was accepted. */
  #acceptedBytes = 0;
  #smallRequest: Promise<void> | undefined;
  #isSizeFound = false;
  #failure: { readonly error: unknown } | undefined;
  #reporting: Promise<void> = Promise.resolve();

  constructor(send: Send<Item>, bounds: DeliveryBounds, onDelivery: OnDelivery, ways: Ways<Item>) {
    this.#send = send;
    this.#onDelivery = onDelivery;
    this.#ways = ways;
    this.#mayBeSize = bounds.mayBeSize ?? false;
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
    const summary: DeliverySummary = {
      ...this.#tally.summary(),
      ...(this.#isSizeFound && { sizeLimit: this.#pace.maxBytes }),
    };
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
    if (outcome.status === "ok") {
      const bytes = bytesOfAll(part);
      this.#pace.recordAccepted(bytes);
      this.#acceptedBytes = Math.max(this.#acceptedBytes, bytes);
    }
    if (this.#mayBeSize && mayBeTooLarge(outcome)) return this.#sendPerhapsTooLarge(part, outcome);
    const smaller = this.#smallerParts(part, outcome);
    if (smaller.length > 1) return this.#sendEach(smaller);
    return this.#report(part, { outcome, result: RESULTS[outcome.status] });
  }

  /** After a refusal that may be due to the size. If a smaller request was accepted, it is. */
  async #sendPerhapsTooLarge(part: readonly Row<Item>[], outcome: ExportOutcome): Promise<void> {
    let rest = part;
    if (this.#acceptedBytes === 0 && this.#smallRequest === undefined && part.length > 1) {
      const small = this.#ways.small(part);
      rest = part.filter((row) => row !== small);
      this.#smallRequest = this.#sendRows(part.filter((row) => row === small));
    }
    // A single row can be the small request itself
    if (part.length > 1) await this.#smallRequest;
    const bytes = bytesOfAll(part);
    if (this.#acceptedBytes === 0 || bytes <= this.#acceptedBytes) {
      return this.#report(rest, { outcome, result: RESULTS[outcome.status] });
    }
    this.#isSizeFound = true;
    if (part.length === 1) {
      const reason = "reason" in outcome ? outcome.reason : "";
      return this.#report(part, { outcome: { status: "too-large", reason }, result: "oversized" });
    }
    this.#pace.recordTooLarge(bytes);
    return this.#sendEach(halves(rest).filter((half) => half.length > 0));
  }

  async #sendEach(parts: readonly (readonly Row<Item>[])[]): Promise<void> {
    for (const part of parts) await this.#sendRows(part);
  }

  /** The parts to send instead of a request that the backend did not accept as a whole; one or none: it is not sent again. */
  #smallerParts(part: readonly Row<Item>[], outcome: ExportOutcome): readonly (readonly Row<Item>[])[] {
    if (part.length > 1 && outcome.status === "too-large") {
      this.#pace.recordTooLarge(bytesOfAll(part));
      return halves(part);
    }
    if (part.length > 1 && isBadContent(outcome) && !this.#tally.isStopped) return halves(part);
    const rejected = rejectedOf(outcome, part.length);
    return rejected > 0 && rejected < part.length ? (this.#ways.splitRejected?.(part) ?? []) : [];
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
const bytesOfAll = (part: readonly Row<unknown>[]): number => part.reduce((sum, row) => sum + bytesOf(row), 0);

const smallestOf = <Item>(part: readonly Row<Item>[]): Row<Item> | undefined =>
  [...part].sort((a, b) => bytesOf(a) - bytesOf(b))[0];

function nextCompletion(queue: PQueue): Promise<void> {
  return new Promise((resolve) => queue.once("next", () => resolve()));
}
