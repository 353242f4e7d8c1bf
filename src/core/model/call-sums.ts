import type { ModelCall, PricedCall } from "./model-call.ts";

/** Sums over model calls. A token count is absent when no call reports it: unknown is never 0. */
export interface CallSums {
  readonly modelCalls: number;
  /** Usage records that cover a turn or session instead of one call, and do not say how many calls. Below, each is one call. */
  readonly aggregateRecords: number;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly reasoning?: number | undefined;
  /** Calls whose input or output is unknown. What is known of them is in the sums, which are lower bounds. */
  readonly callsWithoutUsage: number;
  /** Calls whose output count is a lower bound. */
  readonly incompleteCalls: number;
  /** Known cost of the calls, in 10⁻⁹ USD; absent when none has any. */
  readonly costNanoUsd?: number | undefined;
  /** Calls whose cost is unknown or a lower bound. */
  readonly unpricedCalls: number;
}

/** What sums need of a call. */
export interface SummedCall extends Pick<PricedCall, "costNanoUsd" | "noPrice"> {
  readonly call: Pick<ModelCall, "covers" | "coveredCalls" | "usage" | "complete">;
}

// --- internal ---
