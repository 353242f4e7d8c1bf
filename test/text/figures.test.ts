import { describe, expect, test } from "vitest";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import { costText, count, dollars, megabytes, preciseDollars, tokensText } from "#kit/text/figures.ts";

const NONE = sumOfCalls([]);

describe("how numbers are shown", () => {
  test.each([
    [0, "0 MB"],
    [1, "<0.1 MB"],
    [49_999, "<0.1 MB"],
    [50_000, "0.1 MB"],
    [12_300_000, "12.3 MB"],
    [1_204_000_000, "1,204 MB"],
  ])("%d bytes: %s; never 0 MB for something", (bytes, text) => expect(megabytes(bytes)).toBe(text));

  test("a value that rounds up to the next unit is shown in it", () => {
    expect([9_999, 10_000, 99_949, 99_950, 999_499, 999_500, 999_499_999, 999_500_000].map(count)).toEqual([
      "9,999",
      "10.0k",
      "99.9k",
      "100k",
      "999k",
      "1.0M",
      "999M",
      "1.0B",
    ]);
    expect([0, 4_999_999, 5_000_000, 994_999_999, 995_000_001].map(dollars)).toEqual([
      "$0",
      "<$0.01",
      "$0.01",
      "$0.99",
      "$1.00",
    ]);
    expect([99_999, 100_000, 999_949_999, 999_950_000].map(preciseDollars)).toEqual([
      "<$0.0001",
      "$0.0001",
      "$0.9999",
      "$1.00",
    ]);
  });

  test("a sum without some of its calls is a lower bound, a sum over no call is unknown", () => {
    expect([costText(NONE), tokensText(NONE)]).toEqual(["?", "?"]);
    const whole = { ...NONE, modelCalls: 2, input: 10_200, output: 80, costNanoUsd: 12_300_000 };
    expect([costText(whole), tokensText(whole)]).toEqual(["$0.01", "10.2k→80"]);
    const cutShort = { ...whole, incompleteCalls: 1 };
    expect([costText(cutShort), tokensText(cutShort)]).toEqual(["≥$0.01", "10.2k→≥80"]);
    const incomplete = { ...whole, callsWithoutUsage: 1, unpricedCalls: 1 };
    expect([costText(incomplete), tokensText(incomplete)]).toEqual(["≥$0.01", "≥10.2k→≥80"]);
  });
});
