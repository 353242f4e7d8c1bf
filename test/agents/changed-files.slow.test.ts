// Slow: only `npm run test:all` runs it. Session files with other line ends, marks and repeated lines;
// shared/transcript/jsonl.test.ts has the lines.
//
// Session files that editors, copies and crashes changed have the same figures.
import { afterEach, describe, expect, test } from "vitest";
import { importInto } from "../import/run.ts";
import { storedTotals } from "../import/totals.ts";
import { Replay } from "../support/replay.ts";

const RECORDINGS = [
  ["qwen-code", "multi-turn"],
  ["kimi", "subagent"],
  ["pi", "subagent"],
  ["vibe", "multi-turn"],
  ["vibe", "subagent"],
  ["grok", "subagent"],
  ["droid", "subagent"],
  ["openhands", "subagent"],
] as const;

const CHANGES: Readonly<Record<string, (lines: readonly string[]) => string>> = {
  "each line twice": (lines) => textOf(lines.flatMap((line) => [line, line])),
  "carriage returns": (lines) => textOf(lines.map((line) => `${line}\r`)),
  "an empty first line": (lines) => textOf(["", ...lines]),
  "a torn first line": (lines) => textOf(['{"type":"x","te', ...lines]),
  "a torn line before each other": (lines) => textOf(lines.flatMap((line) => ['{"type":', line])),
  "no end of the last line": (lines) => textOf(lines).trimEnd(),
  "zeros behind the last line": (lines) => `${textOf(lines)}${"\0".repeat(4096)}\n`,
};

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(RECORDINGS)("%s %s: the figures are the same with", (source, name) => {
  test.each(Object.keys(CHANGES))("%s", async (change) => {
    const edit = (text: string, path: string): string =>
      path.endsWith(".jsonl") && path !== "hooks.jsonl"
        ? (CHANGES[change]?.(text.split("\n").filter((line) => line !== "")) ?? text)
        : text;
    expect(await imported(source, name, edit)).toEqual(await imported(source, name));
  });

  test("a byte order mark in every file", async () => {
    const edit = (text: string, path: string): string =>
      /\.jsonl?$/.test(path) && path !== "hooks.jsonl" ? `\ufeff${text}` : text;
    expect(await imported(source, name, edit)).toEqual(await imported(source, name));
  });
});

// --- internal ---

const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

async function imported(source: string, name: string, edit = (text: string, _path: string): string => text) {
  replay?.remove();
  replay = new Replay(source, name, { edit });
  await importInto(replay, source);
  const totals = storedTotals(replay.places.storePath);
  expect(totals.input).toBeGreaterThan(0);
  return totals;
}
