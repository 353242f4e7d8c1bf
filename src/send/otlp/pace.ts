import type { OtlpSettings } from "#core/model/settings.ts";

export type PaceBounds = Pick<
  OtlpSettings,
  "maxSpansPerRequest" | "maxBytesPerRequest" | "concurrency" | "maxSpansPerSecond" | "maxDeliveryMs"
> & {
  /** Size of requests that the backend accepted in earlier deliveries, while it refused larger ones. In estimated bytes. */
  readonly sizeLimit?: number | undefined;
};

/**
 * Decides how large the next request may be, how many run concurrently and when one may start. After a recent failure the first
 * request is small, and sizes double while the backend accepts them, so that a slow backend is not overloaded. After a response
 * "too large", all further requests are smaller. Times are measured with a monotonic clock and start at construction.
 */
export class Pace {
  readonly #bounds: PaceBounds;
  readonly #startMs = performance.now();
  #maxRecords: number;
  #maxBytes: number;
  /** False after a recent failure, until the backend accepts a request. */
  #isTrusted: boolean;
  #nextStartMs = this.#startMs;
  #acceptedAtThisSize = 0;

  /** @param halvings how often the size of the first request is halved */
  constructor(bounds: PaceBounds, halvings: number) {
    this.#bounds = bounds;
    this.#maxRecords = Math.max(1, Math.floor(bounds.maxSpansPerRequest / 2 ** halvings));
    this.#maxBytes = Math.min(bounds.maxBytesPerRequest, bounds.sizeLimit ?? Number.POSITIVE_INFINITY);
    this.#isTrusted = halvings === 0;
  }

  /** If the backend stopped this delivery: `halvings` for the next one, so that it starts with half the size that failed. */
  get halvings(): number {
    return Math.ceil(Math.log2(this.#bounds.maxSpansPerRequest / this.#maxRecords)) + (this.#maxRecords > 1 ? 1 : 0);
  }

  get maxRecords(): number {
    return this.#maxRecords;
  }

  /** Limit for a request, in estimated bytes. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  get concurrency(): number {
    return this.#isTrusted ? this.#bounds.concurrency : 1;
  }

  /** Whether the time for this delivery is over. */
  get isTimeOver(): boolean {
    return performance.now() - this.#startMs >= (this.#bounds.maxDeliveryMs ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Waits until a request with this many records may start.
   *
   * @returns false, immediately, if it could only start after the time limit
   */
  async waitToStart(records: number): Promise<boolean> {
    const { maxSpansPerSecond, maxDeliveryMs = Number.POSITIVE_INFINITY } = this.#bounds;
    const nowMs = performance.now();
    const beginMs = Math.max(nowMs, this.#nextStartMs);
    if (beginMs - this.#startMs >= maxDeliveryMs) return false;
    if (beginMs > nowMs) await new Promise((done) => setTimeout(done, beginMs - nowMs));
    if (maxSpansPerSecond !== undefined) this.#nextStartMs = beginMs + (records / maxSpansPerSecond) * 1000;
    return true;
  }

  /**
   * A request of this estimated size was accepted. A limit below half of it was wrong: something else was refused, not the size. Half,
   * because estimates and real sizes differ.
   */
  recordAccepted(bytes: number): void {
    this.#isTrusted = true;
    this.#maxBytes = Math.max(this.#maxBytes, Math.min(Math.ceil(bytes / 2), this.#bounds.maxBytesPerRequest));
    if (++this.#acceptedAtThisSize < ACCEPTED_BEFORE_DOUBLING) return;
    this.#acceptedAtThisSize = 0;
    this.#maxRecords = Math.min(this.#maxRecords * 2, this.#bounds.maxSpansPerRequest);
  }

  /** A request of this estimated size was too large. */
  recordTooLarge(bytes: number): void {
    this.#maxBytes = Math.min(this.#maxBytes, Math.ceil(bytes / 2));
  }
}

// --- internal ---

/**
 * Requests of one size that must succeed before the size doubles: a backend may fail on a large request, which ends the
 * delivery.
 */
const ACCEPTED_BEFORE_DOUBLING = 4;
