import { createHash } from "node:crypto";
import type { OtlpSignalSettings } from "../model/settings.ts";
import type { DeliverySummary } from "../otlp/deliver.ts";
import type { Database } from "../store/database.ts";
import { readMeta, writeMeta } from "../store/meta.ts";

export type Signal = "traces" | "metrics";

/** What is known of a destination before it is asked. */
export interface Circuit {
  readonly isDue: boolean;
  /** In a row, of this destination, nothing taken between them. */
  readonly failures: number;
  /** Of the first request: what it could take when it failed last. */
  readonly halvings: number;
  /** Until when the backend itself asked to wait; in the future, or absent. */
  readonly askedUntilMs?: number;
}

/**
 * Whether a destination is to be asked now. One that failed is left alone for a while that grows with each failure, so
 * that a dead backend does not cost a timeout at every turn of every agent. Another address, header or certificate is
 * another destination: what was wrong may be mended.
 *
 * @param isEager a user asks by hand: only what the backend itself asked for (Retry-After) is kept
 */
export function circuitOf(
  db: Database,
  signal: Signal,
  settings: OtlpSignalSettings,
  nowMs: number,
  isEager: boolean,
): Circuit {
  if (readMeta(db, `${signal}.destination`) !== fingerprint(settings)) return { isDue: true, failures: 0, halvings: 0 };
  const untilMs = (name: string): number => {
    const ms = Number(readMeta(db, `${signal}.${name}`) ?? "0");
    // No wait is that long: the clock was ahead when it was noted
    return ms > nowMs + MAX_WAIT_MS ? 0 : ms;
  };
  const askedUntilMs = untilMs("asked_until_ms");
  const notBeforeMs = isEager ? askedUntilMs : Math.max(askedUntilMs, untilMs("not_before_ms"));
  return {
    isDue: nowMs >= notBeforeMs,
    failures: Number(readMeta(db, `${signal}.failures`) ?? "0"),
    halvings: Number(readMeta(db, `${signal}.halvings`) ?? "0"),
    ...(askedUntilMs > nowMs && { askedUntilMs }),
  };
}

/**
 * Notes how it went, for the next drain and for `status`.
 *
 * @param summary of a delivery that had something to deliver
 */
export function recordDelivery(
  db: Database,
  signal: Signal,
  settings: OtlpSignalSettings,
  summary: DeliverySummary,
  before: Circuit,
  nowMs: number,
): void {
  const isTaken = summary.sent + summary.rejected > 0;
  const failures = summary.stopped === "backend" ? (isTaken ? 1 : before.failures + 1) : isTaken ? 0 : before.failures;
  const askedUntilMs = summary.afterMs === undefined ? 0 : nowMs + summary.afterMs;
  const ownMs = summary.stopped === "backend" ? nowMs + delayMs(failures) : 0;
  db.transaction(() => {
    const note = (name: string, value: string | number): void => writeMeta(db, `${signal}.${name}`, String(value));
    note("destination", fingerprint(settings));
    note("failures", failures);
    note("halvings", summary.halvings ?? (isTaken ? 0 : before.halvings));
    note("asked_until_ms", askedUntilMs);
    note("not_before_ms", Math.max(askedUntilMs, ownMs));
    note("last_reason", summary.reason ?? "");
    if (isTaken) note("last_ok_ms", nowMs);
  });
}

// --- internal ---

const FIRST_DELAY_MS = 15_000;
const MAX_DELAY_MS = 30 * 60_000;
/** Of Retry-After: the transport takes no longer one for true. */
const MAX_WAIT_MS = 60 * 60_000;

/** Between half of it and all: machines that lost a backend together do not come back together. */
function delayMs(failures: number): number {
  const fullMs = Math.min(FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 20), MAX_DELAY_MS);
  return Math.round(fullMs * (0.5 + Math.random() / 2));
}

/** Only its equality matters. */
const fingerprint = (settings: OtlpSignalSettings): string =>
  createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 16);
