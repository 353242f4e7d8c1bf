import type { OtlpSettings } from "../model/settings.ts";

export type PaceBounds = Pick<
  OtlpSettings,
  "maxSpansPerRequest" | "maxBytesPerRequest" | "concurrency" | "maxSpansPerSecond" | "maxDeliveryMs"
>;

/**
 * Decides how large the next request may be, how many run concurrently and when one may start. After a recent failure the backend first gets
 * one small request, and sizes double while it accepts them, so that a slow backend gets what it can handle. A backend that
 * reports requests as too large gets smaller ones from then on. Times are measured with a monotonic clock from the construction on.
 */
export class Pace {
  readonly #bounds: PaceBounds;
  readonly #beganMs = performance.now();
  #maxRecords: number;
  #maxBytes: number;
  #isTrusted: boolean;
  #nextMs = this.#beganMs;
  #takenAtThisSize = 0;

  /** @param halvings of the first request */
  constructor(bounds: PaceBounds, halvings: number) {
    this.#bounds = bounds;
    this.#maxRecords = Math.max(1, Math.floor(bounds.maxSpansPerRequest / 2 ** halvings));
    this.#maxBytes = bounds.maxBytesPerRequest;
    this.#isTrusted = halvings === 0;
  }

  /** For the next delivery, after one that the backend stopped: half of the size that failed. */
  get halvings(): number {
    return Math.ceil(Math.log2(this.#bounds.maxSpansPerRequest / this.#maxRecords)) + (this.#maxRecords > 1 ? 1 : 0);
  }

  get maxRecords(): number {
    return this.#maxRecords;
  }

  /** Estimated bytes. */
  get maxBytes(): number {
    return this.#maxBytes;
  }

  get concurrency(): number {
    return this.#isTrusted ? this.#bounds.concurrency : 1;
  }

  /** Whether the time for this delivery is over. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= (this.#bounds.maxDeliveryMs ?? Number.POSITIVE_INFINITY);
  }

  /** Waits until a request with this many records may start. @returns false, immediately, if that would be after the end */
  async turn(records: number): Promise<boolean> {
    const { maxSpansPerSecond, maxDeliveryMs = Number.POSITIVE_INFINITY } = this.#bounds;
    const nowMs = performance.now();
    const beginMs = Math.max(nowMs, this.#nextMs);
    if (beginMs - this.#beganMs >= maxDeliveryMs) return false;
    if (beginMs > nowMs) await new Promise((done) => setTimeout(done, beginMs - nowMs));
    if (maxSpansPerSecond !== undefined) this.#nextMs = beginMs + (records / maxSpansPerSecond) * 1000;
    return true;
  }

  /** A request was accepted. */
  taken(): void {
    this.#isTrusted = true;
    if (++this.#takenAtThisSize < TAKEN_BEFORE_DOUBLING) return;
    this.#takenAtThisSize = 0;
    this.#maxRecords = Math.min(this.#maxRecords * 2, this.#bounds.maxSpansPerRequest);
  }

  /** A request of this estimated size was too large. */
  tooLarge(bytes: number): void {
    this.#maxBytes = Math.min(this.#maxBytes, Math.ceil(bytes / 2));
  }
}

// --- internal ---

/** A size that is too large for a backend that does not say so ends a delivery, so some requests go first. */
const TAKEN_BEFORE_DOUBLING = 4;
