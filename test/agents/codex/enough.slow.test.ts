// Slow: only `npm run test:all` runs it. Cut lines of every rollout; import/same.test.ts imports one.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type LineState, lineState } from "#agents/codex/line-context.ts";
import { readLine } from "#agents/codex/lines.ts";
import type { JsonLine } from "#agents/shared/transcript/json-line.ts";
import { readWith, shortLine, wholeLine } from "../shared/line.ts";

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })
  .filter((path) => path.includes("transcripts") && path.endsWith(".jsonl"))
  .map((path) => join(import.meta.dirname, path));

test("a line with cut strings gives the entries of the whole line, whichever string is long", () => {
  const cut = new Map<string, number>();
  for (const file of files) {
    let state = lineState(0);
    for (const text of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
      for (const long of [text, ...lengthened(JSON.parse(text))]) {
        const line = shortLine(long);
        const whole = readOne(wholeLine(long), state);
        expect(readOne(line, state), long).toEqual(whole);
        const [kind] = whole?.entries.map((entry) => entry.kind) ?? [];
        if (line.isCut && kind !== undefined) cut.set(kind, (cut.get(kind) ?? 0) + 1);
      }
      state = readOne(wholeLine(text), state)?.state ?? state;
    }
  }
  expect([...cut.keys()].sort()).toEqual(expect.arrayContaining(["model_call", "prompt", "tool_result", "tool_use"]));
});

test("parses Codex's header above a program's output without reading the full output", () => {
  const result = (output: string) => {
    const payload = { type: "function_call_output", call_id: "call_1", output };
    const { entries, fullReads } = readShort({ type: "response_item", payload });
    return { entry: entries[0], fullReads };
  };
  const printed = "Process exited with code 7\n".repeat(40);
  const early = result(`Chunk ID: 1c9980\nWall time: 0.8576 seconds\nProcess exited with code 3\nOutput:\n${printed}`);
  expect(early).toMatchObject({ entry: { status: "error", exitCode: 3 }, fullReads: 0 });
  const late = result(`Wall time: ${"0".repeat(400)} seconds\nProcess exited with code 4\nOutput:\n`);
  expect(late.entry).toMatchObject({ status: "error", exitCode: 4 });
});

test.each([
  ["an object", { base_instructions: { text: "Be brief. ".repeat(2_000) } }],
  ["a text", { instructions: "Be brief. ".repeat(2_000) }],
])("parses a thread's first line without its instructions, which are %s", (_, instructions) => {
  const payload = { id: "01a05bfb-7000-7fa1-ab2f-857d6fe767d0", cwd: "/home/dev/shop", ...instructions };
  const { entries, fullReads } = readShort({ type: "session_meta", payload });
  expect(entries).toMatchObject([{ kind: "session", cwd: "/home/dev/shop" }]);
  expect(fullReads).toBe(0);
});

/** Reads a line whose long strings are cut. `fullReads`: how many times the whole line was used. */
function readShort(record: object) {
  const { bytes, ...short } = shortLine(JSON.stringify({ timestamp: "2026-11-21T10:00:00.000Z", ...record }));
  let fullReads = 0;
  const line = {
    ...short,
    get bytes() {
      fullReads++;
      return bytes;
    },
  };
  return { entries: readOne(line, lineState(0))?.entries ?? [], fullReads };
}

const readOne = (line: JsonLine, state: LineState) => readWith(state, (next, sink) => readLine(line, next, sink));

/** Variants of the line, each with one of its strings made long. */
function* lengthened(line: unknown): Generator<string> {
  const holders: [holder: Record<string, unknown>, name: string, value: string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const [name, member] of Object.entries(holder)) {
      if (typeof member === "string") holders.push([holder, name, member]);
      else walk(member);
    }
  };
  walk(line);
  for (const [holder, name, value] of holders) {
    for (const long of [`${value}${" +more\n".repeat(100)}`, `${"-".repeat(400)}${value}`]) {
      holder[name] = long;
      yield JSON.stringify(line);
    }
    holder[name] = value;
  }
}
