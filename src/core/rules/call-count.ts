import type { ModelCall } from "../model/model-call.ts";

type Counted = Pick<ModelCall, "covers" | "coveredCalls">;

interface Run {
  readonly modelCalls: readonly Counted[];
  readonly settled?: { readonly sums: { readonly modelCalls: number; readonly aggregateRecords: number } };
}

/** How many calls a record is of; `undefined` if it is a sum and the agent does not say of how many. */
export const callsIn = ({ covers, coveredCalls }: Counted): number | undefined =>
  covers === undefined ? 1 : coveredCalls;

/**
 * How many model calls a run made, with those that were settled while it was open; `undefined` if one of its records is a
 * sum over an unknown number.
 */
export function callCountOf({ modelCalls, settled }: Run): number | undefined {
  const counts = modelCalls.map(callsIn);
  if (counts.includes(undefined) || (settled?.sums.aggregateRecords ?? 0) > 0) return undefined;
  return counts.reduce<number>((sum, count = 0) => sum + count, settled?.sums.modelCalls ?? 0);
}
