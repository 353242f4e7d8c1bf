import type { ModelCall, PricedCall } from "../model/model-call.ts";
import type { Price } from "../model/price-list.ts";
import type { SettledWork, Subagent, Turn } from "../model/session.ts";
import { addSums, negativeSums, sumOfCalls } from "./call-sums.ts";

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
