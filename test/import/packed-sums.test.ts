// Calls of an imported session on both sides of a commit: a sum has calls of one side only
import { expect, test } from "vitest";
import { PackedSums } from "#collect/import/packed-sums.ts";
import { QUARTER_MS } from "#core/model/packed.ts";
import { TOKEN_KINDS } from "#core/model/token-kinds.ts";

const START_MS = 1_000 * QUARTER_MS;
const TOKENS = TOKEN_KINDS.map(() => 1);

/** The times of calls, by the sum that they are in. */
function partsOf(boundaries: readonly number[], times: readonly number[]): readonly (readonly number[])[] {
  const sums = new PackedSums(boundaries);
  const parts: (readonly number[])[] = [];
  for (const endMs of times) {
    const call = { model: "m", isSubagents: false, calls: 1, complete: true, startMs: endMs, endMs };
    const place = sums.addCall(call, TOKENS, 0);
    parts[place] = [...(parts[place] ?? []), endMs];
  }
  expect(sums.usage.map(({ calls }) => calls)).toEqual(parts.map(({ length }) => length));
  return parts;
}

const at = (...offsets: readonly number[]): readonly number[] => offsets.map((offset) => START_MS + offset);

test.each<[string, readonly number[], readonly number[], readonly (readonly number[])[]]>([
  ["without commits, a sum per quarter", [], at(0, 5, QUARTER_MS), [at(0, 5), at(QUARTER_MS)]],
  ["a call that ends with the commit is before it", at(5), at(4, 5, 6), [at(4, 5), at(6)]],
  ["two commits in a quarter", at(5, 8), at(1, 6, 8, 9), [at(1), at(6, 8), at(9)]],
  ["a commit of an earlier quarter splits none", at(-5), at(0, 9), [at(0, 9)]],
  ["a commit at the beginning of a quarter", at(0), at(0, 1), [at(0), at(1)]],
])("%s", (_, boundaries, times, parts) => expect(partsOf(boundaries, times)).toEqual(parts));
