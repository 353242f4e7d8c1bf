import { describe, expect, test } from "vitest";
import type { ModelCall, PricedCall } from "#core/model/model-call.ts";
import type { Turn } from "#core/model/session.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { addTotals, NO_TOTALS, reviseTotals, totalOf } from "#core/telemetry/totals.ts";
import { defined } from "#kit/objects.ts";

const turn = (startMs: number, endMs: number, ...usages: readonly (TokenUsage | undefined)[]): Turn => ({
  ...{ key: `p${startMs}`, origin: "human", segment: 0, state: "ended", hasHookPrompt: true, backgroundCount: 0 },
  ...{ startMs, endMs, toolCalls: [], errors: [], closed: true, uses: [] },
  modelCalls: usages.map(
    (usage, i): ModelCall => ({
      ...{ key: `${startMs}/${i}`, startMs, endMs, complete: usage !== undefined },
      ...(usage !== undefined && { usage }),
    }),
  ),
});
const total = (...turns: readonly Turn[]) =>
  totalOf(turns, ({ usage }) => (usage?.output === undefined ? {} : { costNanoUsd: usage.output }));

describe("sums of parts", () => {
  const first = turn(100, 200, { input: 10, output: 1, cacheRead: 4 }, undefined);
  const later = turn(300, 400, { input: 20, output: 2 });

  test("equal the sums of the whole, in any order", () => {
    const all = total(first, later);
    expect(addTotals(total(first), total(later))).toEqual(all);
    expect(addTotals(total(later), total(first))).toEqual(all);
    expect(addTotals(NO_TOTALS, all)).toEqual(all);
    expect(all).toMatchObject({ modelCalls: 3, callsWithUsage: 2, incompleteCalls: 1, firstMs: 100, lastMs: 400 });
    expect(all).toMatchObject({ input: 30, output: 3, costNanoUsd: 3, pricedCalls: 2, unpricedCalls: 1 });
  });

  test("are unknown, not 0, if no call reported any", () => {
    expect(total(later).cacheRead).toBeUndefined();
    expect(total(first, later)).toMatchObject({ cacheRead: 4 });
    expect(total(first, later).cacheWrite).toBeUndefined();
    expect(total(turn(0, 1, { input: 1, output: 1, cacheWrite: 0 })).cacheWrite).toBe(0);
  });

  test("with a call that was completed later equal the sums of the final calls", () => {
    const [unknown, placeholder, whole] = [
      turn(100, 200, undefined),
      turn(100, 200, { input: 10, output: 1 }),
      turn(100, 200, { input: 10, output: 70, cacheRead: 4 }),
    ];
    const pricedOf = (one: Turn): PricedCall => {
      const [call] = one.modelCalls;
      if (call === undefined) throw new Error("a turn without a call");
      return defined<PricedCall>({ call, costNanoUsd: call.usage?.output });
    };
    const states = [unknown, placeholder, whole];
    for (const was of states) {
      for (const is of states.slice(states.indexOf(was))) {
        const revised = reviseTotals(total(was, later), pricedOf(was), pricedOf(is));
        expect(revised).toEqual(total(is, later));
      }
    }
  });

  test("contain what the agent reported last", () => {
    const reported = (input: number) => ({ ...NO_TOTALS, reported: { m: { input, output: 0 } } });
    expect(addTotals(reported(1), reported(2)).reported).toEqual({ m: { input: 2, output: 0 } });
    expect(addTotals(reported(1), NO_TOTALS).reported).toEqual({ m: { input: 1, output: 0 } });
  });
});
