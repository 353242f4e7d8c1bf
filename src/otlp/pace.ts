import type { OtlpSettings } from "../model/settings.ts";

export type PaceBounds = Pick<
  OtlpSettings,
  "maxSpansPerRequest" | "maxBytesPerRequest" | "concurrency" | "maxSpansPerSecond" | "maxDeliveryMs"
>;

/**
 * How large the next request may be, how many at once, and when it may be begun. A backend that failed lately is asked
 * with one small request first, and they double while it takes them: one that is slow, or breaks off what is large for it,
 * gets what it can take. One that says that requests are too large gets smaller ones from then on. Time is measured from
 * the making, by a clock that nobody sets.
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

  /** For the next delivery, after one that the backend stopped: half of what it failed at. */
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

  /** Whether the time for this delivery has passed. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= (this.#bounds.maxDeliveryMs ?? Number.POSITIVE_INFINITY);
  }

  /** Waits until a request of so many records may begin. @returns false, at once, when that is after the time is over */
  async turn(records: number): Promise<boolean> {
    const { maxSpansPerSecond, maxDeliveryMs = Number.POSITIVE_INFINITY } = this.#bounds;
    const nowMs = performance.now();
    const beginMs = Math.max(nowMs, this.#nextMs);
    if (beginMs - this.#beganMs >= maxDeliveryMs) return false;
    if (beginMs > nowMs) await new Promise((done) => setTimeout(done, beginMs - nowMs));
    if (maxSpansPerSecond !== undefined) this.#nextMs = beginMs + (records / maxSpansPerSecond) * 1000;
    return true;
  }

  /** A request was taken. */
  taken(): void {
    this.#isTrusted = true;
    if (++this.#takenAtThisSize < TAKEN_BEFORE_DOUBLING) return;
    this.#takenAtThisSize = 0;
    this.#maxRecords = Math.min(this.#maxRecords * 2, this.#bounds.maxSpansPerRequest);
  }

  /** A request of so many estimated bytes was too large. */
  tooLarge(bytes: number): void {
    this.#maxBytes = Math.min(this.#maxBytes, Math.ceil(bytes / 2));
  }
}

// --- internal ---

/** What is too large for a backend that does not say so ends a delivery: some get through before it is tried. */
const TAKEN_BEFORE_DOUBLING = 4;
