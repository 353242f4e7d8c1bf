import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { decodeTables, encodeTables, factsOf } from "../../src/model/fact-columns.ts";
import { encodeFacts } from "../../src/model/facts.ts";
import { compareBoth, MadeFiles, readAtOnce, same } from "../support/at-once.ts";
import { madeSessions } from "../support/claude-lines.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const line = (type: string, message: string): string =>
  `{"type":"${type}","uuid":"u-${type}","timestamp":"2026-11-21T10:00:00.000Z","message":${message}}\n`;
const PROMPT = line("user", '{"content":"hi"}');
const USAGE = '{"input_tokens":1294967294,"output_tokens":4294967294,"cache_read_input_tokens":3000000000}';
const ANSWER = line("assistant", `{"id":"msg_0123456789","model":"m","content":[],"usage":${USAGE}}`);
const END = line("system", "{}").replace('"uuid"', '"subtype":"turn_duration","uuid"');

const encoded = (text: string): Uint8Array => {
  const once = readAtOnce(made.put([{ bytes: Buffer.from(text) }]));
  if (once === undefined) throw new Error("it was not read at once");
  return encodeTables(once.tables);
};

describe("tables as one value", () => {
  test("give the facts back that were put in, wherever the value lies in memory", async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(madeSessions(), fc.nat(9), (session, before) =>
        made.check(session, async (files) => {
          const both = await compareBoth(files);
          if (both === undefined) return;
          const value = encodeTables(both.tables);
          const moved = Buffer.concat([Buffer.alloc(before, 0xff), value, Buffer.alloc(3, 0xff)]);
          const entries = factsOf(moved.subarray(before, before + value.length));
          found += entries.length;
          same(new Map(entries.map((entry) => [entry.key, entry])), both.entries);
          same(encodeTables(both.tables), value);
        }),
      ),
      { numRuns: 200, endOnFailure: true },
    );
    expect(found).toBeGreaterThan(200);
  });

  test("count tokens with all bits of their four bytes", () => {
    const calls = decodeTables(encoded(PROMPT + ANSWER)).filter((entry) => entry.kind === "model_call");
    const [input, output, cacheRead] = [4_294_967_294, 4_294_967_294, 3_000_000_000];
    expect(calls.map(({ usage }) => usage)).toEqual([{ input, output, cacheRead }]);
  });

  test("keep what no table is for beside", () => {
    const kinds = decodeTables(encoded(PROMPT + END)).map(({ kind }) => kind);
    expect(kinds).toEqual(["prompt", "turn_end"]);
  });

  test("of nothing are nothing", () => {
    expect(decodeTables(encoded(""))).toEqual([]);
  });

  test.each([
    ["without its first letters", (value: Buffer) => value.fill(0, 0, 4), "these are no tables of facts"],
    ["of a later version", (value: Buffer) => replaced(value, '"version":2', '"version":3'), "version 3"],
    ["cut short", (value: Buffer) => value.subarray(0, value.length - 8), "end before"],
    ["with more behind", (value: Buffer) => Buffer.concat([value, Buffer.alloc(8)]), "bytes long"],
    ["cut in its head", (value: Buffer) => value.subarray(0, 20), "JSON"],
  ])("%s is none", (_, change, message) => {
    const value = change(Buffer.from(encoded(PROMPT + ANSWER)));
    expect(() => decodeTables(value)).toThrow(message);
  });
});

test("facts are read in whichever form they are kept", () => {
  const entries = decodeTables(encoded(PROMPT));
  expect(factsOf(encodeFacts(entries))).toEqual(entries);
});

// --- internal ---

function replaced(value: Buffer, from: string, to: string): Buffer {
  value.write(to, value.indexOf(from), "latin1");
  return value;
}
