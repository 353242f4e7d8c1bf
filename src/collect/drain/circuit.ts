import { createHash } from "node:crypto";
import type { OtlpSignal, OtlpSignalSettings } from "#core/model/settings.ts";
import type { DeliverySummary } from "#send/otlp/deliver.ts";
import type { Database } from "#store/database.ts";
import { readMeta, writeMeta } from "#store/meta.ts";

/** The state of a destination before a delivery. */
export interface Circuit {
  readonly isDue: boolean;
  /** Consecutive failures of this destination. */
  readonly failures: number;
  /** How often the first request is halved, so that it has the size that the destination accepted last. */
  readonly halvings: number;
  /** Size of requests that it accepted while it refused larger ones, in estimated bytes; doubled once a day. Absent: unknown. */
  readonly sizeLimit?: number;
  /** Whether `sizeLimit` is twice the size that is known to be accepted. */
  readonly hasGrown?: boolean;
  /** End of the wait that the backend requested; in the future, or absent. */
  readonly retryAfterUntilMs?: number;
}

/**
 * Circuit breaker: whether to send to a destination now. After a failure it is skipped for a time that increases with each
 * failure, so that an unreachable backend does not cost a timeout at every turn of every agent. With another address, header or
 * certificate it counts as another destination, because the error may be fixed.
 *
 * @param isEager the user started the drain: wait only if the backend requested it (Retry-After)
 */
export function circuitOf(
  db: Database,
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
  nowMs: number,
  isEager: boolean,
): Circuit {
  if (readMeta(db, `${signal}.destination`) !== fingerprint(settings)) return { isDue: true, failures: 0, halvings: 0 };
  const untilMs = (name: string): number => {
    const ms = Number(readMeta(db, `${signal}.${name}`) ?? "0");
    // Longer than any wait: the clock was ahead when this was stored
    return ms > nowMs + MAX_WAIT_MS ? 0 : ms;
  };
  const retryAfterUntilMs = untilMs("asked_until_ms");
  const notBeforeMs = isEager ? retryAfterUntilMs : Math.max(retryAfterUntilMs, untilMs("not_before_ms"));
  const sizeLimit = Number(readMeta(db, `${signal}.size_limit`) ?? "0");
  const hasGrown = sizeLimit > 0 && Math.abs(nowMs - Number(readMeta(db, `${signal}.size_tried_ms`) ?? "0")) >= GROW_MS;
  return {
    isDue: nowMs >= notBeforeMs,
    ...(sizeLimit > 0 && { sizeLimit: hasGrown ? sizeLimit * 2 : sizeLimit, hasGrown }),
    failures: Number(readMeta(db, `${signal}.failures`) ?? "0"),
    halvings: Number(readMeta(db, `${signal}.halvings`) ?? "0"),
    ...(retryAfterUntilMs > nowMs && { retryAfterUntilMs }),
  };
}

/**
 * Stores the result of a delivery, for the next drain and for `status`.
 *
 * @param summary of a delivery with at least one record
 * @param before the state before it
 */
export function recordDelivery(
  db: Database,
  signal: OtlpSignal,
  settings: OtlpSignalSettings,
  summary: DeliverySummary,
  before: Circuit,
  nowMs: number,
): void {
  const isAccepted = summary.sent + summary.rejected > 0;
  const failures =
    summary.stopped === "backend" ? (isAccepted ? 1 : before.failures + 1) : isAccepted ? 0 : before.failures;
  const retryAfterUntilMs = summary.afterMs === undefined ? 0 : nowMs + summary.afterMs;
  const ownMs = summary.stopped === "backend" ? nowMs + delayMs(failures) : 0;
  db.transaction(() => {
    const store = (name: string, value: string | number): void => writeMeta(db, `${signal}.${name}`, String(value));
    store("destination", fingerprint(settings));
    store("failures", failures);
    store("halvings", summary.halvings ?? (isAccepted ? 0 : before.halvings));
    if (summary.sizeLimit !== undefined || before.sizeLimit === undefined || (before.hasGrown && isAccepted)) {
      const known = summary.sizeLimit ?? before.sizeLimit ?? 0;
      store("size_limit", known >= LARGEST_REQUEST ? 0 : known);
      store("size_tried_ms", nowMs);
    }
    store("asked_until_ms", retryAfterUntilMs);
    store("not_before_ms", Math.max(retryAfterUntilMs, ownMs));
    store("last_reason", summary.reason ?? "");
    store("last_rejected", summary.rejected);
    store("last_records", summary.sent + summary.rejected + summary.oversized + summary.kept);
    if (summary.sent > 0) store("last_ok_ms", nowMs);
  });
}

// --- internal ---

/** A gateway's limit changes rarely, and each attempt costs some refused requests. */
const GROW_MS = 86_400_000;
/** The largest value of otlp.maxBytesPerRequest: no limit is needed from here on. */
const LARGEST_REQUEST = 50_000_000;
const FIRST_DELAY_MS = 15_000;
const MAX_DELAY_MS = 30 * 60_000;
/** The longest `Retry-After` that the transport accepts. */
const MAX_WAIT_MS = 60 * 60_000;

/** Random, between half and all of the delay, so that machines do not all retry at the same time. */
function delayMs(failures: number): number {
  const fullMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20), MAX_DELAY_MS);
  return Math.round(fullMs * (0.5 + Math.random() / 2));
}

/** A digest, because the headers can be secret; it is only compared. */
const fingerprint = (settings: OtlpSignalSettings): string =>
  createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
