import { describe, expect, test } from "vitest";
import { cleanWith } from "#collect/import/clean-entries.ts";
import { recordDigests } from "#collect/import/digest-set.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodeTables, encodeTables } from "#core/packed/fact-columns.ts";
import { redact } from "#core/privacy/redact.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { ENTRIES } from "../support/merging-entries.ts";
import fc from "../support/properties.ts";
import { rowsOf } from "../support/rows.ts";
import { runs } from "../support/whole.ts";

const clean = cleanWith(redact, redact);

/** The entries as a drain joins them, by key. */
function joined(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const all = new Map<string, TranscriptEntry>();
  for (const entry of entries.map(clean.entry)) {
    const known = all.get(entry.key);
    all.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return sorted([...all.values()]);
}

const sorted = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] =>
  [...entries].sort((a, b) => (a.key < b.key ? -1 : 1));

const stored = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] =>
  sorted(decodeTables(encodeTables(rowsOf(entries, clean).tables())));

describe.each(Object.entries(ENTRIES))("rows of %s", (_, entry) => {
  test("are joined like entries, in any order and with any duplicates", () => {
    const some = fc.array(
      fc.tuple(entry, fc.constantFrom("", ":2")).map(([one, rest]) => ({ ...one, key: `${one.key}${rest}` })),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(some, fc.nat(), (entries, turn) => {
        const expected = joined(entries);
        expect(stored(entries)).toEqual(expected);
        const at = entries.length === 0 ? 0 : turn % entries.length;
        expect(stored([...entries.slice(at), ...entries.slice(0, at), ...entries])).toEqual(expected);
      }),
      { numRuns: runs(400) },
    );
  });

  test("own the digests of their global keys", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 4 }), (entries) => {
        expect([...rowsOf(entries, clean).owned()].sort()).toEqual(
          [...recordDigests("claude-code", joined(entries))].sort(),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("odd values are stored as a drain stores them", () => {
  const at = { timeMs: 1_795_255_201_000, promptKey: "p1", agentId: "a1" };
  const call = { kind: "model_call", key: "response:m:", ...at, responseId: "m", endMs: at.timeMs } as const;
  test.each<[string, TranscriptEntry]>([
    ["a key of 300 characters", { kind: "tool_use", key: `use:${"x".repeat(300)}`, ...at, callId: "x", name: "Read" }],
    [
      "an id with a line feed",
      { kind: "tool_use", key: "use:a\nb", globalKey: "use:a\nb", ...at, callId: "a\nb", name: "b" },
    ],
    ["a name of 300 characters", { kind: "tool_use", key: "use:1", ...at, callId: "1", name: "n".repeat(300) }],
    ["half a character", { kind: "tool_use", key: "use:1", ...at, callId: "1", name: "a\ud83d" }],
    [
      "a secret in a name",
      { kind: "tool_use", key: "use:1", ...at, callId: "1", name: `mcp__ghp_${"a1B2".repeat(9)}` },
    ],
    [
      "a negative exit code",
      { kind: "tool_result", key: "result:1", ...at, callId: "1", status: "error", exitCode: -9 },
    ],
    ["a time before 2000", { kind: "prompt", key: "prompt:1", ...at, timeMs: 5, origin: "human" }],
    ["a cache beside the input", { ...call, complete: true, usage: { input: 1, output: 2, cacheRead: 7 } }],
    ["only an output", { ...call, complete: true, usage: { output: 2, cacheRead: 7 } }],
    ["only an input", { ...call, complete: true, usage: { input: 9, reasoning: 3 } }],
    ["a zero alone", { ...call, complete: true, usage: { output: 0 } }],
    ["only zeros", { ...call, complete: true, usage: { input: 0, output: 0 } }],
    ["more tokens than possible", { ...call, complete: false, usage: { input: 1e15, output: 2 } }],
    ["an answer that started before 1970", { ...call, complete: true, startMs: -1 }],
  ])("%s", (_, entry) => {
    expect(stored([entry])).toEqual(joined([entry]));
    expect(stored([entry, entry])).toEqual(joined([entry]));
  });

  test("ids that make the same key in two ways", () => {
    const one: TranscriptEntry = { ...call, key: "response:a:b:c", responseId: "a", requestId: "b:c", complete: true };
    const other: TranscriptEntry = {
      ...call,
      key: "response:a:b:c",
      responseId: "a:b",
      requestId: "c",
      complete: true,
    };
    expect(stored([one, other])).toEqual(joined([one, other]));
    expect(stored([other, one])).toEqual(joined([one, other]));
  });
});
