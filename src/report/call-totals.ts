import type { CallSums } from "../model/call-sums.ts";
import type { Session, SessionFacts } from "../model/session.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { StoredModelCall } from "../store/queries.ts";
import { costNanoUsd } from "../telemetry/cost.ts";

/** Sums over calls: the same as the store computes for them. */
export function sumOf(calls: readonly Pick<StoredModelCall, "call" | "costNanoUsd">[]): CallSums {
  return calls.reduce<CallSums>((sums, { call, costNanoUsd: cost }) => {
    const { usage } = call;
    return addSums(sums, {
      modelCalls: call.covers === undefined ? 1 : 0,
      sumsTold: call.covers === undefined ? 0 : 1,
      ...usage,
      callsWithoutUsage: usage === undefined ? 1 : 0,
      incompleteCalls: call.complete ? 0 : 1,
      ...(cost !== undefined && { costNanoUsd: cost }),
      unpricedCalls: cost === undefined ? 1 : 0,
    });
  }, NO_CALLS);
}

export const NO_CALLS: CallSums = {
  modelCalls: 0,
  sumsTold: 0,
  callsWithoutUsage: 0,
  incompleteCalls: 0,
  unpricedCalls: 0,
};

/** Whether tokens are known. If not, they are unknown for agents that never report them, and zero for all others. */
export const hasUsage = ({ modelCalls, sumsTold }: CallSums): boolean => modelCalls + sumsTold > 0;

/** Sums over two groups of calls; an amount that is unknown in both stays unknown. */
export function addSums(a: CallSums, b: CallSums): CallSums {
  const sum = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : x + y;
  const optional = Object.fromEntries(
    OPTIONAL_SUMS.flatMap((key) => {
      const value = sum(a[key], b[key]);
      return value === undefined ? [] : [[key, value]];
    }),
  ) as Pick<CallSums, (typeof OPTIONAL_SUMS)[number]>;
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    sumsTold: a.sumsTold + b.sumsTold,
    callsWithoutUsage: a.callsWithoutUsage + b.callsWithoutUsage,
    incompleteCalls: a.incompleteCalls + b.incompleteCalls,
    unpricedCalls: a.unpricedCalls + b.unpricedCalls,
    ...optional,
  };
}

/** The calls of the open part of a session, with their costs. */
export function openCalls(session: Session, facts: SessionFacts): readonly StoredModelCall[] {
  return [...session.turns, ...session.subagents].flatMap((run) =>
    run.modelCalls.map((call) => {
      const cost = costNanoUsd(call, facts.provider);
      return { segment: run.segment, call, ...(cost !== undefined && { costNanoUsd: cost }) };
    }),
  );
}

// --- internal ---

const OPTIONAL_SUMS = [...TOKEN_KINDS, "costNanoUsd"] as const satisfies readonly (keyof CallSums)[];
