import { describe, expect, test } from "vitest";
import { figuresOf } from "#show/view/data/rows.ts";
import { measureOf, mostExpensive } from "#show/view/page/figures/compare.ts";
import { dollarsOnAxis } from "#show/view/page/text/format.ts";

describe("figures of the page", () => {
  test.each([
    [500_000_000, ["$0.50", "$1.00", "$1.50"]],
    [25_000_000, ["$0.025", "$0.050", "$0.075"]],
    [2_000_000_000, ["$2", "$4", "$6"]],
    [1_000_000_000_000, ["$1,000", "$2,000", "$3,000"]],
    [100_000, ["$0.0001", "$0.0002", "$0.0003"]],
  ])("marks %d billionths apart have the same digits, and as many as they need", (step, marks) => {
    expect([1, 2, 3].map((n) => dollarsOnAxis((n * step) / 1e9, step / 1e9))).toEqual(marks);
  });
});

describe("groups by cost", () => {
  const group = (costNanoUsd: number | undefined, input: number) => {
    const counts = { modelCalls: 1, aggregateRecords: 0, callsWithoutUsage: 0, incompleteCalls: 0, unpricedCalls: 0 };
    const calls = { ...counts, modelMs: 1, input, ...(costNanoUsd !== undefined && { costNanoUsd }) };
    return { figures: figuresOf({ key: {}, sessions: 1, calls, agentsWithoutUsage: [], sessionsWithoutUsage: 0 }) };
  };

  test("an unknown cost is not 0, so it has no share", () => {
    const groups = [group(5, 1), group(undefined, 9), group(0, 3)];
    expect(groups.map(measureOf(groups))).toEqual([5e-9, null, 0]);
  });

  test("tokens count if no group has a cost", () => {
    const groups = [group(undefined, 9), group(0, 3)];
    expect(groups.map(measureOf(groups))).toEqual([9, 3]);
  });

  test("unknown costs come last, those with the most tokens first", () => {
    const [little, much] = [group(undefined, 3), group(undefined, 9)];
    const [free, paid] = [group(0, 1), group(5, 1)];
    expect(mostExpensive([little, free, much, paid])).toEqual([paid, free, much, little]);
  });
});
