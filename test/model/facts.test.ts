import { describe, expect, test } from "vitest";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { decodeFacts, encodeFacts } from "#core/packed/facts.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

/** A few repeated texts, and arbitrary ones. */
const text = fc.oneof(fc.constantFrom("", "model-a", "toolu_1", "0", "=", "$"), fc.string({ unit: "binary" }));
const count = fc.nat({ max: 2 ** 40 });
const timeMs = fc.integer({ min: 0, max: 2 ** 42 });
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const usage = fc.record({
  input: count,
  output: count,
  cacheRead: optional(count),
  cacheWrite: optional(count),
  reasoning: optional(count),
});

const at = {
  key: text.filter((one) => one !== ""),
  timeMs,
  globalKey: optional(text),
  promptKey: optional(text),
  agentId: optional(text),
};

/** Some kinds of readers' results, with unknown members as a later version may write them. */
const entry: fc.Arbitrary<TranscriptEntry> = fc.oneof(
  fc.record({
    kind: fc.constant("prompt" as const),
    ...at,
    origin: fc.constantFrom("human" as const, "machine" as const),
    length: optional(count),
  }),
  fc.record({
    kind: fc.constant("model_call" as const),
    ...at,
    endMs: timeMs,
    complete: fc.boolean(),
    model: optional(text),
    usage: optional(usage),
  }),
  fc.record({ kind: fc.constant("tool_use" as const), ...at, callId: fc.string({ minLength: 1 }), name: text }),
  fc.record({
    kind: fc.constant("turn_end" as const),
    ...at,
    durationMs: optional(fc.double({ noNaN: true, min: 0, max: 1e9 })),
  }),
) as fc.Arbitrary<TranscriptEntry>;

/** Names that could break a naive join: with separators, numbers, and `__proto__`. */
const name = fc.oneof(
  fc.constantFrom("a", "b", "a=b", "a=", "=b", "b$", "1=a", "a=1", "__proto__", "toString", ""),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const strange = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6, noNullPrototype: true });

const written = (entries: readonly unknown[]): unknown => JSON.parse(JSON.stringify(entries));

describe("facts encoded as one text", () => {
  test("decode unchanged, for any result of a reader", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), (entries) => {
        for (const one of entries) expect(TranscriptEntry.safeParse(one).success).toBe(true);
        expect(decodeFacts(encodeFacts(entries))).toEqual(written(entries));
      }),
      { numRuns: runs(200), seed: 5 },
    );
  });

  test("decode unchanged with unknown members, in any order", () => {
    fc.assert(
      fc.property(fc.array(strange, { maxLength: 8 }), (entries) => {
        const back = decodeFacts(encodeFacts(entries as unknown as TranscriptEntry[]));
        // As texts: a member called __proto__ is a member
        expect(back.map((one) => JSON.stringify(one))).toEqual(entries.map((one) => JSON.stringify(one)));
      }),
      {
        numRuns: runs(300),
        seed: 5,
        examples: [[[{ "a=b": 1 }, { a: 1, b: 2 }]], [[{ ab: 1 }, { a: 1, b: 1 }]], [[JSON.parse('{"__proto__":1}')]]],
      },
    );
  });

  test("contain each text and each name once", () => {
    const entries = Array.from(
      { length: 100 },
      (_, i): TranscriptEntry => ({
        kind: "tool_use",
        key: `t${i}`,
        timeMs: i,
        callId: "one-and-the-same-call",
        name: "NameOfATool",
      }),
    );
    const coded = encodeFacts(entries);
    for (const once of ["one-and-the-same-call", "NameOfATool", "callId"]) expect(coded.split(once)).toHaveLength(2);
    expect(coded.length).toBeLessThan(JSON.stringify(entries).length / 3);
  });

  test("of another version are rejected, not misread", () => {
    const later = encodeFacts([]).replace('"version":1', '"version":2');
    expect(() => decodeFacts(later)).toThrow("version 2");
    expect(() => decodeFacts("{}")).toThrow();
  });
});
