/** Sums over model calls. A token count is absent when no call reports it: unknown is never 0. */
export interface CallSums {
  readonly modelCalls: number;
  /** Usage records that cover a turn or session instead of one call; the number of calls behind them is unknown. */
  readonly sumsTold: number;
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly reasoning?: number | undefined;
  /** Calls without token usage; they add to no token sum. */
  readonly callsWithoutUsage: number;
  /** Calls whose output count is a lower bound. */
  readonly incompleteCalls: number;
  /** Cost of the calls with a known price, in 10⁻⁹ USD; absent when none has one. */
  readonly costNanoUsd?: number | undefined;
  readonly unpricedCalls: number;
}
