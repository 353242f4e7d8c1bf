import { plusKnown } from "#kit/known.ts";
import type { Writable } from "#kit/writable.ts";
import { callsIn } from "./call-count.ts";
import type { ModelCall, PricedCall } from "./model-call.ts";
import { TOKEN_KINDS } from "./token-kinds.ts";
import { isWholeUsage } from "./whole-usage.ts";

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

export const NO_CALLS: CallSums = {
  modelCalls: 0,
  aggregateRecords: 0,
  callsWithoutUsage: 0,
  incompleteCalls: 0,
  unpricedCalls: 0,
};

/** Always known. */
const COUNTS = Object.keys(NO_CALLS) as readonly (keyof typeof NO_CALLS &
  ("modelCalls" | "aggregateRecords" | "callsWithoutUsage" | "incompleteCalls" | "unpricedCalls"))[];

/** Known if a call reports it. */
const KNOWN = [...TOKEN_KINDS, "costNanoUsd"] as const;

/** The names of all members. */
export const CALL_SUM_NAMES = [...COUNTS, ...KNOWN] as const satisfies readonly (keyof CallSums)[];

/** What sums need of a call. */
export interface SummedCall extends Pick<PricedCall, "costNanoUsd" | "noPrice"> {
  readonly call: Pick<ModelCall, "covers" | "coveredCalls" | "usage" | "complete">;
}

/** Sums over calls; the view `usage` of the store gives the same over the same calls. */
export function sumOfCalls(calls: Iterable<SummedCall>): CallSums {
  const sums: Writable<CallSums> = { ...NO_CALLS };
  for (const { call, costNanoUsd, noPrice } of calls) {
    const known = callsIn(call);
    const calls = known ?? 1;
    if (known === undefined) sums.aggregateRecords++;
    else sums.modelCalls += known;
    if (!isWholeUsage(call.usage)) sums.callsWithoutUsage += calls;
    if (!call.complete) sums.incompleteCalls += calls;
    if (costNanoUsd === undefined || noPrice !== undefined) sums.unpricedCalls += calls;
    if (call.usage !== undefined) addKnown(sums, call.usage, TOKEN_KINDS);
    if (costNanoUsd !== undefined) sums.costNanoUsd = (sums.costNanoUsd ?? 0) + costNanoUsd;
  }
  return sums;
}

/** Adds two sums. */
export function addSums(a: CallSums, b: CallSums): CallSums {
  const sums: Writable<CallSums> = { ...a };
  for (const name of COUNTS) sums[name] += b[name];
  addKnown(sums, b, KNOWN);
  return sums;
}

/** The sums with the opposite sign: added to other sums, they take calls out. */
export const negativeSums = (sums: CallSums): CallSums =>
  Object.fromEntries(
    Object.entries(sums).map(([name, value]) => [name, value === undefined ? value : -value]),
  ) as typeof sums;

// --- internal ---

type Known = (typeof KNOWN)[number];

function addKnown(
  sums: Writable<CallSums>,
  more: { readonly [K in Known]?: number | undefined },
  names: readonly Known[],
): void {
  for (const name of names) {
    const sum = plusKnown(sums[name], more[name]);
    if (sum !== undefined) sums[name] = sum;
  }
}
