import { describe, expect, test } from "vitest";
import { matchLines } from "#changes/git/match-lines.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

describe("lines that are still in a later text", () => {
  test("moved, changed and removed lines are not; those around them are", () => {
    const kept = matchLines(["a", "b", "c", "d", "e"], ["x", "a", "c", "y", "e", "b"]);
    expect([...kept]).toEqual([1, 0, 1, 0, 1]);
  });

  const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 12 });
  test("as many as the longest common subsequence, in the same order", () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const kept = before.filter((_, at) => matchLines(before, after)[at] === 1);
        expect(isSubsequence(kept, after)).toBe(true);
        expect(kept.length).toBe(commonLength(before, after));
      }),
      { numRuns: runs(800) },
    );
  });

  test("two long texts with little in common: the lines that both contain once", () => {
    const before = Array.from({ length: 4_000 }, (_, at) => (at % 40 === 0 ? `same ${at}` : `before ${at}`));
    const after = Array.from({ length: 4_000 }, (_, at) => (at % 40 === 0 ? `same ${at}` : `after ${at}`));
    expect(matchLines(before, after).reduce((sum, one) => sum + one, 0)).toBe(100);
  });
});

function isSubsequence(some: readonly string[], all: readonly string[]): boolean {
  let at = 0;
  for (const one of all) if (one === some[at]) at++;
  return at === some.length;
}

/** By dynamic programming. */
function commonLength(left: readonly string[], right: readonly string[]): number {
  let row = new Array<number>(right.length + 1).fill(0);
  for (const one of left) {
    const next = [0];
    for (const [at, other] of right.entries()) {
      next.push(one === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
