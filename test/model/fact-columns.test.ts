import { afterAll, describe, expect, test } from "vitest";
import reader from "#agents/claude-code/transcript.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { decodePackedFacts, decodeTables, encodeTables } from "#core/packed/fact-columns.ts";
import { encodeFacts } from "#core/packed/facts.ts";
import { MadeFiles, readAsRows, same } from "../support/both-sinks.ts";
import { madeSessions } from "../support/claude-lines.ts";
import fc from "../support/properties.ts";
import { rowsOf } from "../support/rows.ts";
import { runs } from "../support/whole.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const PLACE = { timeMs: 1_795_255_201_000, promptKey: "p1" };
const PROMPT: TranscriptEntry = { kind: "prompt", key: "prompt:u1", globalKey: "prompt:u1", ...PLACE, origin: "human" };
const CALL: TranscriptEntry = {
  kind: "model_call",
  key: "response:msg_1:req_1",
  globalKey: "response:msg_1:req_1",
  ...PLACE,
  responseId: "msg_1",
  requestId: "req_1",
  endMs: 1_795_255_202_000.5,
  usage: { input: 99_999_999_999, output: 4_294_967_294, cacheRead: 3_000_000_000 },
  complete: false,
  purpose: "memory",
  tier: "priority",
  webSearches: 2,
  nanoCredits: 1_250_000_000,
};
const END: TranscriptEntry = { kind: "turn_end", key: "turn_end:u2", ...PLACE };

const encoded = (...entries: readonly TranscriptEntry[]): Uint8Array => encodeTables(rowsOf(entries).tables());

describe("tables encoded as one value", () => {
  test("return the encoded facts, at any position in memory", async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(madeSessions(), fc.nat(9), (session, before) =>
        made.check(session, async (files) => {
          const { rows } = await readAsRows(reader, "claude-code", files);
          const value = encodeTables(rows.tables());
          const moved = Buffer.concat([Buffer.alloc(before, 0xff), value, Buffer.alloc(3, 0xff)]);
          const entries = decodePackedFacts(moved.subarray(before, before + value.length));
          found += entries.length;
          same(decodeTables(encoded(...entries)), entries);
        }),
      ),
      { numRuns: runs(200), endOnFailure: true },
    );
    expect(found).toBeGreaterThan(25);
  });

  test("contain every member, including fractions and large numbers", () => {
    expect(decodeTables(encoded(PROMPT, CALL))).toEqual([PROMPT, CALL]);
  });

  test.each([
    ["a key that is made of the ids", CALL],
    ["a key that is not", { ...CALL, key: "usage:t1:3:4", globalKey: "usage:t1:3:4" }],
    ["a global key that differs from the key", { ...CALL, globalKey: "elsewhere" }],
    ["no global key", { ...PROMPT, globalKey: undefined }],
  ] as readonly (readonly [string, TranscriptEntry])[])("keep %s", (_, entry) => {
    expect(decodeTables(encoded(entry))).toEqual([JSON.parse(JSON.stringify(entry))]);
  });

  test("keep texts in any script", () => {
    const entry: TranscriptEntry = { kind: "tool_use", key: "use:ü", ...PLACE, callId: "ü", name: "mcp__店__検索 🛒" };
    expect(decodeTables(encoded(entry))).toEqual([entry]);
  });

  test("keep kinds of facts that have no table", () => {
    expect(decodeTables(encoded(PROMPT, END))).toEqual([PROMPT, END]);
  });

  test("no facts decode to no facts", () => {
    expect(decodeTables(encoded())).toEqual([]);
  });

  test.each([
    ["a value without its first letters", (value: Buffer) => value.fill(0, 0, 4), "these are no tables of facts"],
    ["a value of a later version", (value: Buffer) => replaced(value, '"version":3', '"version":4'), "version 4"],
    ["a value that is cut short", (value: Buffer) => value.subarray(0, value.length - 8), "end before"],
    ["a value with extra bytes at its end", (value: Buffer) => Buffer.concat([value, Buffer.alloc(8)]), "bytes long"],
    ["a value that is cut in its header", (value: Buffer) => value.subarray(0, 20), "JSON"],
  ])("%s is rejected", (_, change, message) => {
    const value = change(Buffer.from(encoded(PROMPT, CALL)));
    expect(() => decodeTables(value)).toThrow(message);
  });
});

test("facts as JSON are decoded, as they are stored after names were removed from them", () => {
  expect(decodePackedFacts(encodeFacts([PROMPT, CALL, END]))).toEqual([PROMPT, CALL, END]);
});

// --- internal ---

function replaced(value: Buffer, from: string, to: string): Buffer {
  value.write(to, value.indexOf(from), "latin1");
  return value;
}
