import { describe, expect, test } from "vitest";
import {
  dollars,
  duration,
  exact,
  leastDollars,
  percentOf,
  plural,
  preciseDollars,
  shortCount,
} from "#kit/text/amounts.ts";

describe("amounts for people, in the terminal and on the page", () => {
  test("durations have a space before the unit, and two units from a minute on", () => {
    expect([0, 0.2, 659, 999.4, 999.5, 59_949, 59_950, 3_599_499, 3_599_500, 90_000_000].map(duration)).toEqual([
      "0 s",
      "<1 ms",
      "659 ms",
      "999 ms",
      "1.0 s",
      "59.9 s",
      "1m 00s",
      "59m 59s",
      "1h 00m",
      "1d 1h",
    ]);
  });

  test("digits are in groups of three", () => {
    expect([0, 999, 4278, 1_234_567].map(exact)).toEqual(["0", "999", "4,278", "1,234,567"]);
    expect([4278, 10_000, 1_234_567, 12_300_000_000].map(shortCount)).toEqual(["4,278", "10.0k", "1.2M", "12.3B"]);
    expect([1, 2500].map((n) => plural(n, "turn"))).toEqual(["1 turn", "2,500 turns"]);
  });

  test("money has two decimals, a single amount below a dollar four", () => {
    const nanoUsd = [0, 90_000, 9_700_000, 50_000_000, 12_300_000_000, 1_234_567_891_000_000];
    expect([90_000, 4_999_999, 5_000_000].map((one) => leastDollars(one))).toEqual([">$0", ">$0", "≥$0.01"]);
    expect(nanoUsd.map(dollars)).toEqual(["$0", "<$0.01", "$0.01", "$0.05", "$12.30", "$1,234,567.89"]);
    expect(nanoUsd.map(preciseDollars)).toEqual(["$0", "<$0.0001", "$0.0097", "$0.0500", "$12.30", "$1,234,567.89"]);
  });

  test("a share above 0 % is never shown as 0 %, and one below 100 % never as 100 %", () => {
    expect([0, 0.001, 0.005, 0.58, 0.994, 0.999, 1].map(percentOf)).toEqual([
      "0%",
      "<1%",
      "1%",
      "58%",
      "99%",
      ">99%",
      "100%",
    ]);
    expect([0.7 + 0.1 + 0.2, 1 - (0.7 + 0.1 + 0.2)].map(percentOf)).toEqual(["100%", "0%"]);
  });
});
