import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import reader from "../../src/agents/claude-code/transcript.ts";
import { decodePackedFacts, decodeTables, encodeTables } from "../../src/model/fact-columns.ts";
import { encodeFacts } from "../../src/model/facts.ts";
import type { TranscriptEntry } from "../../src/model/transcript.ts";
import { MadeFiles, readAsRows, same } from "../support/both-sinks.ts";
import { madeSessions } from "../support/claude-lines.ts";
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
  noListPrice: true,
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

describe("formats of earlier versions", () => {
  test("facts as JSON are decoded", () => {
    expect(decodePackedFacts(encodeFacts([PROMPT, CALL, END]))).toEqual([PROMPT, CALL, END]);
  });

  test("tables without names of columns are decoded", () => {
    expect(decodePackedFacts(Buffer.from(SECOND_FORM, "base64"))).toEqual(SECOND_FORM_FACTS);
  });

  test("tables without names of columns are rejected if they are truncated or have extra data", () => {
    const value = Buffer.from(SECOND_FORM, "base64");
    expect(() => decodePackedFacts(value.subarray(0, value.length - 4))).toThrow("end before");
    expect(() => decodePackedFacts(Buffer.concat([value, Buffer.alloc(1)]))).toThrow("bytes long");
  });
});

// --- internal ---

function replaced(value: Buffer, from: string, to: string): Buffer {
  value.write(to, value.indexOf(from), "latin1");
  return value;
}

/** Written by the last program version with this format. */
const SECOND_FORM = [
  "T0hUMo0CAAB7InZlcnNpb24iOjIsInRleHRzIjoxMDcsInJvd3MiOlsyLDIsMiwxXSwiY29sdW1ucyI6W1tbMSwyXSxbMSwzXSxb",
  "MCw0XSxbMCwtMV0sWzAsNV0sWzAsMV0sWzAsLTFdLFswLDddLFsxLC0yXSxbMSwtMl0sWzQsLTEyOTQ5NjcyOTZdLFsxLC0xXSxb",
  "MSwtMV0sWzEsLTFdLFswLC0xXSxbMiwxNzk1MjU1MjAyMDAwXSxbMiwxNzk1MjU1MjAxMDAwXSxbMiwxNzk1MjU1MjAyMDAwXV0s",
  "W1sxLDZdLFsxLDddLFsxLC0xXSxbMCwxXSxbMCwtMV0sWzIsMTc5NTI1NTIwMjAwMF1dLFtbMSw2XSxbMSwwXSxbMCwtMV0sWzAs",
  "MV0sWzAsLTFdLFswLC0xXSxbMSwtMV0sWzEsLTFdLFsxLC0xXSxbMiwxNzk1MjU1MjA0MDAwXV0sW1swLDBdLFswLDBdLFswLDEx",
  "XSxbMCwxXSxbMCwtMV0sWzAsMTc5NTI1NTIwMTAwMF1dXSwicHJvZ3JhbXMiOnsiNDQiOiJnaXQifSwib3RoZXJzIjoie1widmVy",
  "c2lvblwiOjEsXCJzaGFwZXNcIjpbW1tcImtpbmRcIiwxXSxbXCJrZXlcIiwxXSxbXCJ0aW1lTXNcIiwwXSxbXCJnbG9iYWxLZXlc",
  "IiwxXSxbXCJwcm9tcHRLZXlcIiwxXSxbXCJkdXJhdGlvbk1zXCIsMF1dXSxcInRleHRzXCI6W1widHVybl9lbmRcIixcInR1cm5f",
  "ZW5kOnU3XCIsXCJwMVwiXSxcInJvd3NcIjpbWzAsMCwxLDE3OTUyNTUyMDcwMDAsMSwyLDYwMDBdXX0ifXUxCnAxCm1zZ18wMTIz",
  "NDU2Nzg5YQpyZXFfYQpjbGF1ZGUtc29ubmV0LTQtNQp0b29sX3VzZQp0b29sdV8wMUEKQmFzaAptc2dfMDEyMzQ1Njc4OWIKcmVx",
  "X2IKdG9vbHVfMDFCCkVkaXQKAAYABgAMAAsAAAAA/6EvTQAIAAgAAQAAuAsAALgLAAC4CwAEAAQtAAAAuAsABAEABAAAAwACAADQ",
  "Bw==",
].join("");

const SECOND_FORM_FACTS = [
  {
    kind: "prompt",
    key: "prompt:u1",
    timeMs: 1795255201000,
    globalKey: "prompt:u1",
    promptKey: "p1",
    origin: "human",
    length: 11,
  },
  {
    kind: "model_call",
    key: "response:msg_0123456789a:req_a",
    timeMs: 1795255202000,
    globalKey: "response:msg_0123456789a:req_a",
    promptKey: "p1",
    responseId: "msg_0123456789a",
    requestId: "req_a",
    model: "claude-sonnet-4-5",
    startMs: 1795255201000,
    endMs: 1795255202000,
    usage: { input: 4294967294, output: 4294967294, cacheRead: 3000000000 },
    complete: true,
    finishReason: "tool_use",
    asksForTools: true,
  },
  {
    kind: "model_call",
    key: "response:msg_0123456789b:req_b",
    timeMs: 1795255205000,
    globalKey: "response:msg_0123456789b:req_b",
    promptKey: "p1",
    responseId: "msg_0123456789b",
    requestId: "req_b",
    model: "claude-sonnet-4-5",
    startMs: 1795255204000,
    endMs: 1795255205000,
    usage: { input: 10, output: 9, cacheWrite: 7, cacheWrite5m: 7, cacheWrite1h: 0 },
    complete: true,
    finishReason: "tool_use",
    asksForTools: true,
  },
  {
    kind: "tool_use",
    key: "use:toolu_01A",
    timeMs: 1795255202000,
    globalKey: "use:toolu_01A",
    promptKey: "p1",
    callId: "toolu_01A",
    name: "Bash",
    executable: "git",
  },
  {
    kind: "tool_use",
    key: "use:toolu_01B",
    timeMs: 1795255205000,
    globalKey: "use:toolu_01B",
    promptKey: "p1",
    callId: "toolu_01B",
    name: "Edit",
  },
  {
    kind: "tool_result",
    key: "result:toolu_01A",
    timeMs: 1795255204000,
    globalKey: "result:toolu_01A",
    promptKey: "p1",
    callId: "toolu_01A",
    status: "error",
    exitCode: 3,
  },
  {
    kind: "tool_result",
    key: "result:toolu_01B",
    timeMs: 1795255206000,
    globalKey: "result:toolu_01B",
    promptKey: "p1",
    callId: "toolu_01B",
    status: "success",
    linesAdded: 2,
    linesRemoved: 1,
  },
  {
    kind: "turn_end",
    key: "turn_end:u7",
    timeMs: 1795255207000,
    globalKey: "turn_end:u7",
    promptKey: "p1",
    durationMs: 6000,
  },
];
