// Some versions are documented to write tool inputs as JSON text instead of objects
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { compareRecorded } from "../support/expected.ts";
import { CASES, Replay } from "../support/replay.ts";
import type { Expected } from "../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const INPUT = ["tool_input", "toolArgs"];
let inputs = 0;

function asText(text: string, path: string): string {
  if (path !== "hooks.jsonl") return text;
  return text.replaceAll(/^.+$/gm, (line) =>
    JSON.stringify(JSON.parse(line), (name, value) => {
      if (!INPUT.includes(name) || typeof value === "string") return value;
      inputs++;
      return JSON.stringify(value);
    }),
  );
}

test.each([
  ["gemini-cli", "basic"],
  ["gemini-cli", "subagent"],
  ["copilot", "parallel-tools"],
])("%s %s: hooks and session file give one record per call", async (source, name) => {
  inputs = 0;
  replay = new Replay(source, name, { edit: asText });
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  expect(inputs).toBeGreaterThan(1);
  compareRecorded(
    replay.places.storePath,
    JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8")) as Expected,
  );
});
