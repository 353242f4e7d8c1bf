import { describe, expect, test } from "vitest";
import { dollarsOnAxis } from "../../src/view/page/text/format.ts";

describe("figures of the page", () => {
  test.each([
    [500_000_000, ["$0.50", "$1.00", "$1.50"]],
    [25_000_000, ["$0.025", "$0.050", "$0.075"]],
    [2_000_000_000, ["$2", "$4", "$6"]],
    [1_000_000_000_000, ["$1,000", "$2,000", "$3,000"]],
    [100_000, ["$0.0001", "$0.0002", "$0.0003"]],
  ])("marks %d billionths apart have the same digits, and as many as they need", (step, marks) => {
    expect([1, 2, 3].map((n) => dollarsOnAxis(n * step, step))).toEqual(marks);
  });
});
