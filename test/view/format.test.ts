import { describe, expect, test } from "vitest";
import { shortModel } from "#kit/text/model-name.ts";
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

test.each([
  ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
  ["gpt-5.1-2025-11-13", "gpt-5.1"],
  ["claude-haiku-4-5@20251001", "claude-haiku-4-5"],
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "us.anthropic.claude-sonnet-4-5"],
  ["gemini-3-pro-preview", "gemini-3-pro-preview"],
  // Not a date, and nothing but a date
  ["qwen-30000000", "qwen-30000000"],
  ["-20250929", "-20250929"],
])("the model %s is shown as %s", (name, shown) => {
  expect(shortModel(name)).toBe(shown);
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
