import type { ModelCall } from "./model-call.ts";

type Counted = Pick<ModelCall, "covers" | "coveredCalls">;

/** How many calls a record is of; `undefined` if it is a sum and the agent does not say of how many. */
export const callsIn = ({ covers, coveredCalls }: Counted): number | undefined =>
  covers === undefined ? 1 : coveredCalls;

/** How many model calls a run made, with those that were settled while it was open; `undefined`: unknown. */
export const callCountOf = (run: {
  readonly modelCalls: readonly Counted[];
  readonly settled?: { readonly sums: { readonly modelCalls: number } };
}): number | undefined =>
  run.modelCalls.reduce<number | undefined>((sum, call) => {
    const calls = callsIn(call);
    return sum === undefined || calls === undefined ? undefined : sum + calls;
  }, run.settled?.sums.modelCalls ?? 0);
