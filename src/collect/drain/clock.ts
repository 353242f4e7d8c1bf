import type { ExportOutcome } from "#core/model/settings.ts";
import type { Increment } from "#core/model/telemetry.ts";
import { SELF, selfIncrement } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { EARLIEST_MS, isPlausibleDate } from "#kit/time.ts";
import type { OnResponse } from "#send/otlp/send.lazy.ts";
import type { Database } from "#store/database.ts";
import { CLOCK_SKEW, readMeta, writeMeta } from "#store/meta.ts";
import { AHEAD_MS } from "#store/pending-streams.ts";
import type { Drain } from "./context.ts";
import { recordSelf } from "./self.ts";

/** Collects the outcomes of requests and the dates in responses: the backend's clock. */
export class BackendResponses {
  readonly #steps: Increment[] = [];
  readonly #now: () => number;
  #skewMs: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly add: OnResponse = ({ signal, outcome, dateMs }) => {
    this.#steps.push(
      selfIncrement(SELF.requests, 1, {
        [semconv.OPENHOOK_SIGNAL]: signal,
        [semconv.OPENHOOK_OUTCOME]: resultOf(outcome),
      }),
    );
    this.addDate(dateMs);
  };

  /** @param dateMs the `Date` of a response, in milliseconds since the epoch; ignored if it cannot be right */
  addDate(dateMs: number | undefined): void {
    if (dateMs === undefined || !isPlausibleDate(dateMs, this.#now())) return;
    // A date has whole seconds: on average half a second is cut off
    this.#skewMs = this.#now() - dateMs - 500;
    this.hasDate = true;
  }

  /** Whether a response of this drain had a date. */
  hasDate = false;

  /** Stores what was collected since the last call. */
  store(drain: Drain): void {
    recordSelf(drain, this.#steps.splice(0));
    if (this.#skewMs === undefined) return;
    const known = Number(readMeta(drain.db, CLOCK_SKEW) ?? "0");
    // Smaller differences are network delay
    if (Math.abs(known - this.#skewMs) >= SKEW_STEP_MS) writeMeta(drain.db, CLOCK_SKEW, String(this.#skewMs));
    this.#skewMs = undefined;
  }
}

/** Whether this machine's clock cannot be right, or differed so much from the backend's that its points would be rejected. */
export const isClockOff = (drain: Drain): boolean =>
  drain.now() < EARLIEST_MS || Math.abs(storedSkewOf(drain)) > AHEAD_MS;

/**
 * The time for points, in milliseconds since the epoch: this machine's, or the backend's if this machine's clock is too far off.
 * Otherwise the backend would reject the points, and everything else that a Collector put into the same request.
 */
export const backendNowMs = (drain: Drain): number => drain.now() - (isClockOff(drain) ? skewOf(drain) : 0);

/**
 * Whether old data may be removed by age. If the last drain was weeks ago, either the machine was off or its clock is wrong: this
 * drain removes nothing, the next one does.
 *
 * @param nowMs milliseconds since the epoch
 */
export function hasNoClockJump(db: Database, nowMs: number): boolean {
  const last = readMeta(db, "last_drain");
  if (last === undefined) return true;
  const { atMs } = JSON.parse(last) as { readonly atMs?: number };
  return atMs === undefined || Math.abs(nowMs - atMs) < JUMP_MS;
}

// --- internal ---

const SKEW_STEP_MS = 2_000;

/** Milliseconds that this machine is ahead; 0 if the stored value cannot be right. */
function skewOf(drain: Drain): number {
  const { now } = drain;
  const skewMs = storedSkewOf(drain);
  return isPlausibleDate(now() - skewMs, now()) ? skewMs : 0;
}

const storedSkewOf = ({ db }: Drain): number => Number(readMeta(db, CLOCK_SKEW) ?? "0");

const RESULTS = { retry: "retry", refused: "refused", "too-large": "too_large" } as const;

const resultOf = (outcome: ExportOutcome): string =>
  outcome.status === "ok" ? (outcome.rejected > 0 ? "partial" : "ok") : RESULTS[outcome.status];

const JUMP_MS = 21 * 86_400_000;
