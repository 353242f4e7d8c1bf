import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { DigestSet } from "#collect/import/digest-set.ts";
import { digestOf } from "#kit/digest.ts";

/** Ids in agents' formats: with common prefixes, the same shape, and counters. */
function* realisticKeys(n: number): Generator<string> {
  const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789";
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 16;
  };
  const random = (): string =>
    `${letters[next() % letters.length]}${next().toString(36)}${next().toString(36)}${next().toString(36)}`;
  for (let i = 0; i < n; i += 4) {
    yield `msg_01${random()}`;
    yield `toolu_01${random()}:result`;
    yield `call_${i}`;
    yield `7f0c0e6e-1111-4a4a-8b8b-${i.toString(16).padStart(12, "0")}`;
  }
}

describe("digests of ids", () => {
  test("a million realistic ids have a million distinct 48-bit digests, evenly distributed", () => {
    const seen = new Set<number>();
    const buckets = new Array<number>(64).fill(0);
    let n = 0;
    for (const key of realisticKeys(1_000_000)) {
      const digest = digestOf("claude-code", key);
      seen.add(digest);
      const bucket = digest % 64;
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
      n++;
    }
    expect(seen.size).toBe(n);
    for (const one of [...seen].slice(0, 1_000)) expect(one >= 0 && one < 2 ** 48 && Number.isInteger(one)).toBe(true);
    expect(Math.min(...buckets)).toBeGreaterThan((n / 64) * 0.97);
    expect(Math.max(...buckets)).toBeLessThan((n / 64) * 1.03);
  });

  test("the same text has the same digest, and the same id of another agent has another", () => {
    // Stores contain them: they may never change
    expect(digestOf("claude-code", "msg_01ABC")).toBe(KNOWN);
    expect(digestOf("codex", "msg_01ABC")).not.toBe(KNOWN);
    expect(digestOf("a", "bc")).not.toBe(digestOf("ab", "c"));
  });

  test("a set of digests has the members of a set", () => {
    const [ours, theirs] = [new DigestSet(), new Set<number>()];
    const digests = [
      0,
      1,
      2 ** 48 - 1,
      2 ** 32,
      2 ** 32 * 5,
      ...Array.from({ length: 20_000 }, () => digestOf("s", randomUUID())),
    ];
    // The same lower half repeatedly, so that they are adjacent
    for (let i = 0; i < 2_000; i++) digests.push(i * 2 ** 32 + 77);
    for (let i = 0; i < digests.length; i += 97) {
      const some = Float64Array.from(digests.slice(i, i + 97));
      const known = some.findIndex((one, n) => theirs.has(one) || some.indexOf(one) < n);
      if (i % 2 === 0) expect(ours.addUntilKnown(some)).toBe(known === -1 ? some.length : known);
      ours.addAll(some);
      if (i % 3 === 0) expect(ours.addUntilKnown(some)).toBe(0);
      for (const one of some) theirs.add(one);
    }
    for (const one of digests) expect(ours.has(one)).toBe(true);
    for (const one of digests) {
      const other = (one + 2 ** 20 + 1) % 2 ** 48;
      expect(ours.has(other)).toBe(theirs.has(other));
    }
  });
});

const KNOWN = 218_384_654_566_485;
