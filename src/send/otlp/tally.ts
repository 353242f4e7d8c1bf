import type { ExportOutcome } from "#core/model/settings.ts";
import { defined } from "#kit/objects.ts";

/** The outcome for the rows of one request. */
export interface Delivery {
  readonly seqs: readonly number[];
  /**
   * `settled`: the backend has accepted them or rejected some permanently (it reports how many, not which).
   * `oversized`: a single row that is too large. `kept`: retried by a later drain.
   */
  readonly result: "settled" | "oversized" | "kept";
  readonly outcome: ExportOutcome;
  /** Why the row could not be encoded; it was not sent. */
  readonly encodingError?: string;
}

/** Counts of rows. Rows that were not sent before the delivery stopped are not counted. */
export interface DeliverySummary {
  /** Settled, without rejected ones. */
  readonly sent: number;
  readonly rejected: number;
  readonly oversized: number;
  readonly kept: number;
  /** Why rows were kept, rejected or oversized: the first reason, in this order. Absent if all were sent. */
  readonly reason?: string;
  /** The first message of a backend that accepted everything. */
  readonly remark?: string;
  /** The longest delay that a backend requested. */
  readonly afterMs?: number;
  /** Stopped before all rows were sent: the backend accepts nothing at present, or the time limit was reached. */
  readonly stopped?: "backend" | "time";
  /** Set if the backend stopped the delivery: how often the size of the next delivery's first request is halved. */
  readonly halvings?: number;
  /** The backend refused larger requests than this, in estimated bytes, with a status that can also mean something else. */
  readonly sizeLimit?: number;
  /** The HTTP status for `reason`, if rows were kept. */
  readonly httpStatus?: number;
  /** `reason` can be due to the size of the request. */
  readonly mayBeSize?: true;
  /** What the user can do about `reason`, if the cause is clear. */
  readonly remedy?: string;
}

export const NOTHING_SENT: DeliverySummary = { sent: 0, rejected: 0, oversized: 0, kept: 0 };

/** Both deliveries as one; reasons are those of the first that has any. */
export const joined = (first: DeliverySummary, second: DeliverySummary): DeliverySummary => ({
  ...second,
  ...first,
  ...(second.stopped !== undefined && { stopped: second.stopped }),
  sent: first.sent + second.sent,
  rejected: first.rejected + second.rejected,
  oversized: first.oversized + second.oversized,
  kept: first.kept + second.kept,
});

/** Whether the backend refused the content of the request: other records may be valid. */
export const isBadContent = (outcome: ExportOutcome): boolean =>
  outcome.status === "refused" && (outcome.httpStatus === 400 || outcome.httpStatus === 422);

/**
 * Whether the response can mean that the request was too large. Gateways and firewalls say that with 403, 500, 502 and others instead
 * of 413; credentials, content, address and encoding have statuses of their own, and 429, 503 and 504 ask for a pause.
 */
export function mayBeTooLarge(outcome: ExportOutcome): boolean {
  if (outcome.status === "retry") return outcome.httpStatus === 502 && outcome.afterMs === undefined;
  const { httpStatus = 0 } = outcome.status === "refused" ? outcome : {};
  return httpStatus >= 402 && !isEndpointMissing(httpStatus) && !HAVE_OTHER_REASONS.has(httpStatus);
}

const HAVE_OTHER_REASONS: ReadonlySet<number> = new Set([407, 415, 422]);

/** Adds up outcomes and decides when to stop. */
export class Tally {
  #sent = 0;
  #rejected = 0;
  #oversized = 0;
  #kept = 0;
  #badContentInARow = 0;
  #oversizedInARow = 0;
  /** The first response that kept rows. */
  #firstKept: Exclude<ExportOutcome, { readonly status: "ok" | "too-large" }> | undefined;
  #rejectedReason: string | undefined;
  #oversizedReason: string | undefined;
  #remark: string | undefined;
  #afterMs: number | undefined;
  #stopped: "backend" | "time" | undefined;

  get isStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Called for every response, even if its rows are sent again in parts. */
  countResponse(outcome: ExportOutcome): void {
    if (outcome.status === "ok") {
      this.#badContentInARow = 0;
      this.#oversizedInARow = 0;
    }
    if (isBadContent(outcome) && ++this.#badContentInARow >= MAX_BAD_CONTENT_IN_A_ROW) this.#stopped = "backend";
  }

  stopForTime(): void {
    this.#stopped ??= "time";
  }

  countDelivery({ seqs, outcome }: Delivery): void {
    switch (outcome.status) {
      case "ok": {
        const rejected = rejectedOf(outcome, seqs.length);
        this.#sent += seqs.length - rejected;
        this.#rejected += rejected;
        if (rejected > 0) this.#rejectedReason ??= outcome.message ?? `${rejected} rejected without a reason`;
        else this.#remark ??= outcome.message;
        return;
      }
      case "too-large":
        this.#oversized += seqs.length;
        this.#oversizedReason ??= outcome.reason;
        if (++this.#oversizedInARow >= MAX_OVERSIZED_IN_A_ROW) this.#stopped = "backend";
        return;
      case "retry":
        if (outcome.afterMs !== undefined) this.#afterMs = Math.max(this.#afterMs ?? 0, outcome.afterMs);
        this.#stopped = "backend";
        break;
      case "refused":
        if (!isBadContent(outcome)) this.#stopped = "backend";
        break;
    }
    this.#kept += seqs.length;
    this.#firstKept ??= outcome;
  }

  summary(): DeliverySummary {
    const kept = this.#firstKept;
    return defined<DeliverySummary>({
      sent: this.#sent,
      rejected: this.#rejected,
      oversized: this.#oversized,
      kept: this.#kept,
      reason: kept?.reason ?? this.#rejectedReason ?? this.#oversizedReason,
      remark: this.#remark,
      afterMs: this.#afterMs,
      stopped: this.#stopped,
      httpStatus: kept?.httpStatus,
      mayBeSize: kept !== undefined && mayBeTooLarge(kept) ? true : undefined,
      remedy: kept?.status === "retry" ? kept.remedy : undefined,
    });
  }
}

/** The number of rejected records, at most `records`: a backend may count differently. */
export const rejectedOf = (outcome: ExportOutcome, records: number): number =>
  outcome.status === "ok" ? Math.min(outcome.rejected, records) : 0;

/** Whether the status means that the address has no endpoint for this signal. */
export const isEndpointMissing = (httpStatus: number | undefined): boolean => httpStatus === 404 || httpStatus === 405;

/** Whether the status redirects to another address. */
export const isRedirect = (httpStatus = 0): boolean => httpStatus >= 300 && httpStatus < 400;

// --- internal ---

/** Fourteen halvings isolate one bad span among 10,000; a backend that refuses everything stops the delivery. */
const MAX_BAD_CONTENT_IN_A_ROW = 16;
/** Stops the delivery to a backend that refuses even single spans, instead of trying each of 100,000. */
const MAX_OVERSIZED_IN_A_ROW = 50;
