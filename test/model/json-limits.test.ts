import { describe, expect, test } from "vitest";
import { excessOf, limitsFor } from "#kit/json-limits.ts";
import { withoutLargeValues } from "#kit/shrink.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const LIMITS = { bytes: 10_000, values: 50 };

/** Values and members of a JSON value, counted without its text. */
const countOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? Object.values(value).reduce<number>((sum, one) => sum + countOf(one), 1)
    : 1;

describe("a JSON text is refused before it is parsed", () => {
  test.each([
    ["many small values", JSON.stringify(Array.from({ length: 60 }, () => 0)), /more than 50 values/],
    ["many empty objects", JSON.stringify(Array.from({ length: 60 }, () => ({}))), /more than 50 values/],
    [
      "many members",
      JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, n) => [n, n]))),
      /more than 50 values/,
    ],
    ["many bytes", JSON.stringify("x".repeat(10_001)), /bytes/],
    [
      "values behind a text with brackets and quotes",
      JSON.stringify(['\\"[{,\\', ...Array.from({ length: 60 }, () => 0)]),
      /values/,
    ],
  ])("%s", (_, json, why) => {
    expect(excessOf(json, LIMITS)).toMatch(why);
    expect(excessOf(Buffer.from(json), LIMITS)).toMatch(why);
  });

  test("a deep one, of any length that can be too deep", () => {
    const json = `${"[".repeat(2_000)}${"]".repeat(2_000)}`;
    expect(excessOf(json, { bytes: 1e9, values: 1_500 })).toMatch(/inside each other/);
  });

  test("commas and brackets in texts are no values", () => {
    const json = JSON.stringify({ text: '[{,"\\,]}'.repeat(500) });
    expect(excessOf(json, LIMITS)).toBeUndefined();
  });

  test("whatever is accepted has few values", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (json) => {
        const excess = excessOf(json, LIMITS);
        expect(excessOf(Buffer.from(json, "utf8"), LIMITS) === undefined).toBe(excess === undefined);
        if (excess === undefined) expect(countOf(JSON.parse(json))).toBeLessThanOrEqual(LIMITS.values + 1);
      }),
      { numRuns: runs(300) },
    );
  });
});

test("the limits follow the memory of the process, and have a lower and an upper bound", () => {
  expect(limitsFor(64 << 20).values).toBe(65_536);
  expect(limitsFor(1 << 20)).toEqual({ bytes: 4 << 20, values: 32_000 });
  expect(limitsFor(1e12)).toEqual({ bytes: 64 << 20, values: 1_000_000 });
});

test("without its large values a text keeps its ids and figures", () => {
  const rows = Array.from({ length: 3_000_000 }, () => 0);
  const json = Buffer.from(JSON.stringify({ id: "a", usage: { tokens: 5 }, rows, end: true }));
  const part = withoutLargeValues(json, 4 << 20);
  expect(JSON.parse(part.ok ? part.text() : "")).toEqual({
    id: "a",
    usage: { tokens: 5 },
    rows: expect.stringMatching(/left out/),
    end: true,
  });
});
