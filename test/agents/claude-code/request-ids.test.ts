// Servers that send no request id, or not with every answer: the lines of their answers have none. The recordings `fork` and
// `killed-then-resumed` have none at all.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { compareRecorded } from "../../support/expected.ts";
import { CASES, Replay } from "../../support/replay.ts";
import type { Expected } from "../../support/summary.ts";
import { IS_WHOLE } from "../../support/whole.ts";

const FOLDER = join(CASES, "claude-code");
const REQUEST_ID = /,"requestId":"[^"]+"/g;

const withIds = readdirSync(FOLDER)
  .filter((name) => existsSync(join(FOLDER, name, "expected.json")))
  .filter((name) => textsOf(name).some((text) => text.search(REQUEST_ID) !== -1));
const recordings = IS_WHOLE ? withIds : ["parallel-tools"];

let replay: Replay | undefined;
afterEach(() => replay?.remove());

test("recordings have request ids, in lines that look as expected", () => {
  expect(withIds.length).toBeGreaterThan(5);
  expect(withIds).toEqual(expect.arrayContaining(["parallel-tools", "subagent"]));
});

describe.each(recordings)("%s", (name) => {
  const expected = JSON.parse(readFileSync(join(FOLDER, name, "expected.json"), "utf8")) as Expected;
  test.each([
    ["no line", () => false],
    ["every second line", (index: number) => index % 2 === 0],
  ])("each answer counts once if %s has a request id", async (_, hasId) => {
    let lines = 0;
    const edit = (text: string, path: string): string =>
      path.endsWith(".jsonl") ? text.replace(REQUEST_ID, (member) => (hasId(lines++) ? member : "")) : text;
    replay = new Replay("claude-code", name, { edit });
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true });
    compareRecorded(replay.places.storePath, expected);
  });
});

function textsOf(name: string): readonly string[] {
  const folder = join(FOLDER, name, "transcripts");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => readFileSync(join(folder, path), "utf8"));
}
