import { describe, expect, test } from "vitest";
import { type EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { ENTRIES } from "../support/merging-entries.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const PROPERTY = { numRuns: runs(400) };

describe.each(Object.entries(ENTRIES))("mergeEntries of %s", (_, entry) => {
  test("the order of reading does not matter", () => {
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        expect(mergeEntries(a, b)).toEqual(mergeEntries(b, a));
      }),
      PROPERTY,
    );
    fc.assert(
      fc.property(entry, entry, entry, (a, b, c) => {
        expect(mergeEntries(mergeEntries(a, b), c)).toEqual(mergeEntries(a, mergeEntries(b, c)));
      }),
      PROPERTY,
    );
  });

  test("reading twice changes nothing, in any order", () => {
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        expect(mergeEntries(a, a)).toEqual(a);
        const both = mergeEntries(a, b);
        // Also as text, because the store compares texts to detect changes
        for (const again of [a, b]) expect(JSON.stringify(mergeEntries(both, again))).toBe(JSON.stringify(both));
      }),
      PROPERTY,
    );
  });

  test("the result is an entry again", () => {
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        expect(TranscriptEntry.safeParse(mergeEntries(a, b)).error).toBeUndefined();
      }),
      PROPERTY,
    );
  });

  test("members that only one record has are kept", () => {
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        const both = mergeEntries(a, b) as Record<string, unknown>;
        // Reported sums replace each other as a whole
        const names = a.kind === "reported_usage" ? ["byModel"] : [...Object.keys(a), ...Object.keys(b)];
        for (const name of names) {
          // The price list is that of the record whose usage is kept
          if (name !== "promptKey" && name !== "agentId" && name !== "tier") expect(both[name], name).toBeDefined();
        }
        if (a.kind === "reported_usage") return;
        // Of the main conversation and a subagent, one has a copy of the other's
        expect(both["agentId"] !== undefined).toBe(a.agentId !== undefined && b.agentId !== undefined);
      }),
      PROPERTY,
    );
  });
});

describe("records of one answer", () => {
  const first: EntryOf<"model_call"> = {
    kind: "model_call",
    key: "response:msg_1",
    timeMs: 1_000,
    promptKey: "prompt-1",
    startMs: 900,
    endMs: 1_000,
    usage: { input: 12, output: 3 },
    complete: false,
  };

  test("the last record has the end and the output count; the first has the start", () => {
    const last: EntryOf<"model_call"> = {
      ...first,
      timeMs: 1_400,
      startMs: 1_300,
      endMs: 1_400,
      usage: { input: 12, output: 96 },
      complete: true,
      finishReason: "end_turn",
    };
    expect(mergeEntries(last, first)).toEqual({
      ...first,
      startMs: 900,
      endMs: 1_400,
      usage: { input: 12, output: 96 },
      complete: true,
      finishReason: "end_turn",
    });
  });

  test("the model and the price list are those of the fuller record, independently of their names", () => {
    for (const [one, other] of [
      ["alder", "birch"],
      ["birch", "alder"],
    ] as const) {
      const begun = { ...first, model: one, tier: "priority" };
      const answered = { ...first, model: other, usage: { input: 14, output: 96 }, complete: true };
      for (const merged of [mergeEntries(begun, answered), mergeEntries(answered, begun)]) {
        expect(merged).toMatchObject({ model: other, usage: answered.usage });
        expect(merged).not.toHaveProperty("tier");
      }
    }
  });

  test("figures that only one of two records has are kept: input with its cache, or output with its reasoning", () => {
    const asked = { ...first, usage: { input: 12, cacheRead: 10 } };
    const answered = { ...first, usage: { output: 96, reasoning: 4 } };
    for (const merged of [mergeEntries(asked, answered), mergeEntries(answered, asked)]) {
      expect(merged).toMatchObject({ usage: { input: 12, cacheRead: 10, output: 96, reasoning: 4 } });
    }
    const whole = { ...first, usage: { input: 12, output: 3 } };
    expect(mergeEntries(whole, answered)).toMatchObject({ usage: { input: 12, output: 96, reasoning: 4 } });
    expect(mergeEntries(asked, whole)).toMatchObject({ usage: { input: 12, output: 3 } });
  });

  test("a last record without usage does not remove the tokens", () => {
    const { usage: _, ...bare } = first;
    const merged = mergeEntries(first, { ...bare, timeMs: 1_400, endMs: 1_400, complete: true, finishReason: "stop" });
    expect(merged).toMatchObject({ usage: { input: 12, output: 3 }, complete: true, finishReason: "stop" });
  });

  test("a record of the main conversation that a subagent's file copies stays in the main conversation", () => {
    const copy = { ...first, agentId: "compact-1" };
    expect(mergeEntries(first, copy)).toEqual(first);
    expect(mergeEntries(copy, first)).toEqual(first);
    expect(mergeEntries(copy, { ...copy })).toEqual(copy);
  });

  test("lines written after the next prompt stay in the turn in which the answer began", () => {
    expect(mergeEntries({ ...first, timeMs: 1_400, promptKey: "another" }, first)).toMatchObject({
      promptKey: "prompt-1",
    });
  });
});
