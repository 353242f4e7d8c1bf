import { describe, expect, it } from "vitest";
import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { isPlain, limitEntry } from "#core/rules/limits.ts";

describe("usage as servers report it", () => {
  it.each<[string, TokenUsage, TokenUsage | undefined]>([
    ["a cache within the input", { input: 640, output: 5, cacheRead: 640 }, { input: 640, output: 5, cacheRead: 640 }],
    [
      "a cache that is not part of the input, or the rest of the input would be negative",
      { input: 100, output: 50, cacheRead: 600, cacheWrite: 40 },
      { input: 740, output: 50, cacheRead: 600, cacheWrite: 40 },
    ],
    [
      "reasoning that is not part of the output",
      { input: 100, output: 50, reasoning: 640 },
      { input: 100, output: 690, reasoning: 640 },
    ],
    [
      "cache writes by lifetime that exceed their sum, because they are of an earlier attempt",
      { input: 100, output: 5, cacheWrite: 0, cacheWrite5m: 0, cacheWrite1h: 5_000 },
      { input: 100, output: 5, cacheWrite: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    ],
    [
      "writes for an hour that exceed all writes",
      { input: 5_000, output: 5, cacheWrite: 1_000, cacheWrite5m: 700, cacheWrite1h: 800 },
      { input: 5_000, output: 5, cacheWrite: 1_000, cacheWrite5m: 200, cacheWrite1h: 800 },
    ],
    ["only zeros, from an agent whose server reported nothing", { input: 0, output: 0, cacheRead: 0 }, undefined],
    ["an output of nothing", { input: 7, output: 0 }, { input: 7, output: 0 }],
    ["more tokens than are possible", { input: 1e11, output: 1, cacheRead: 1e11, cacheWrite: 1 }, undefined],
  ])("%s", (_, usage, meant) => {
    const bound = limitEntry(callOf(usage), (text) => text) as EntryOf<"model_call">;
    expect(bound.usage).toEqual(meant);
    expect(bound.complete).toBe(true);
    expect(isPlain(callOf(usage), () => true)).toBe(bound.usage === usage);
    expect(limitEntry(bound, (text) => text)).toEqual(bound);
  });

  it("sums that an agent computes are limited in the same way", () => {
    const sums: EntryOf<"reported_usage"> = {
      kind: "reported_usage",
      key: "sums",
      timeMs: Date.UTC(2026, 10, 22),
      byModel: { a: { input: 100, output: 50, cacheRead: 640, costUsd: 0.5 }, b: { input: 0, output: 0 } },
    };
    expect(limitEntry(sums, (text) => text)).toEqual({
      ...sums,
      byModel: { a: { input: 740, output: 50, cacheRead: 640, costUsd: 0.5 } },
    });
  });
});

const callOf = (usage: TokenUsage): EntryOf<"model_call"> => ({
  kind: "model_call",
  key: "call",
  timeMs: Date.UTC(2026, 10, 22),
  endMs: Date.UTC(2026, 10, 22),
  complete: true,
  usage,
});
