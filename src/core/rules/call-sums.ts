import { plusKnown } from "#kit/numbers.ts";
import type { Writable } from "#kit/objects.ts";
import type { CallSums, ModelCall, PricedCall, SummedCall } from "../model/model-call.ts";
import type { Price } from "../model/price-list.ts";
import type { SettledWork, Subagent, Turn } from "../model/session.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import { callsIn, isWholeUsage } from "./calls.ts";

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

/** What is charged besides tokens. */
export const CHARGES = ["webSearches", "unpricedSearches", "feeNanoUsd", "nanoCredits"] as const;

/** Known if a call reports it. */
const KNOWN = [...TOKEN_KINDS, "costNanoUsd", ...CHARGES] as const;

/** The names of all members. */
export const CALL_SUM_NAMES = [...COUNTS, ...KNOWN] as const satisfies readonly (keyof CallSums)[];

/** Sums over calls; the view `usage` of the store gives the same over the same calls. */
export function sumOfCalls(calls: Iterable<SummedCall>): CallSums {
  const sums: Writable<CallSums> = { ...NO_CALLS };
  for (const call of calls) addCall(sums, call);
  return sums;
}

/** Adds two sums. */
export function addSums(a: CallSums, b: CallSums): CallSums {
  const sums: Writable<CallSums> = { ...a };
  addTo(sums, b);
  return sums;
}

/** Sums without calls, to be added to. With all members from the start, because adding them one by one is slow. */
export const emptySums = (): Writable<CallSums> => ({ ...NOTHING_KNOWN });

/** Adds a call to sums. */
export function addCall(sums: Writable<CallSums>, { call, costNanoUsd, noPrice, feeNanoUsd }: SummedCall): void {
  const known = callsIn(call);
  const calls = known ?? 1;
  if (known === undefined) sums.aggregateRecords++;
  else sums.modelCalls += known;
  if (!isWholeUsage(call.usage)) sums.callsWithoutUsage += calls;
  if (!call.complete) sums.incompleteCalls += calls;
  if (costNanoUsd === undefined || noPrice !== undefined) sums.unpricedCalls += calls;
  if (call.usage !== undefined) addKnown(sums, call.usage, TOKEN_KINDS);
  if (costNanoUsd !== undefined) sums.costNanoUsd = (sums.costNanoUsd ?? 0) + costNanoUsd;
  const { webSearches, nanoCredits } = call;
  if (webSearches === undefined && nanoCredits === undefined && feeNanoUsd === undefined) return;
  const unpricedSearches = webSearches === undefined || feeNanoUsd === undefined ? webSearches : 0;
  addKnown(sums, { webSearches, unpricedSearches, feeNanoUsd, nanoCredits }, CHARGES);
}

/** Adds sums to others. */
export function addTo(sums: Writable<CallSums>, more: CallSums): void {
  for (const name of COUNTS) sums[name] += more[name];
  addKnown(sums, more, KNOWN);
}

const NOTHING_KNOWN: CallSums = { ...Object.fromEntries(KNOWN.map((name) => [name, undefined])), ...NO_CALLS };

/** The sums with the opposite sign: added to other sums, they take calls out. */
const negativeSums = (sums: CallSums): CallSums =>
  Object.fromEntries(
    Object.entries(sums).map(([name, value]) => [name, value === undefined ? value : -value]),
  ) as typeof sums;

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

/** The sums of a part of a run. */
export function settledWorkOf(part: Turn | Subagent, price: (call: ModelCall) => Price): SettledWork {
  const sums = sumOfCalls(part.modelCalls.map((call) => ({ call, ...price(call) })));
  const models = [...new Set(part.modelCalls.flatMap(({ model }) => model ?? []))];
  return { startMs: part.startMs, endMs: part.endMs, sums, toolCalls: part.toolCalls.length, models };
}

/** Replaces a model call in the sums by its revised version. */
export function reviseSettledWork(work: SettledWork, before: PricedCall, after: PricedCall): SettledWork {
  const { model } = after.call;
  return {
    ...work,
    sums: addSums(addSums(work.sums, sumOfCalls([after])), negativeSums(sumOfCalls([before]))),
    models: [...new Set([...work.models, ...(model === undefined ? [] : [model])])],
  };
}

/** Adds a later part of the same run. */
export const addSettledWork = (a: SettledWork, b: SettledWork): SettledWork => ({
  startMs: Math.min(a.startMs, b.startMs),
  endMs: Math.max(a.endMs, b.endMs),
  sums: addSums(a.sums, b.sums),
  toolCalls: a.toolCalls + b.toolCalls,
  models: [...new Set([...a.models, ...b.models])],
});
