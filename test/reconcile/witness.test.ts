// The second witness of `reconcile`: usage in the files that no call explains, found without the agent's reader.
import { appendFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { TranscriptFile } from "../../src/model/agent.ts";
import { INITIAL_OFFSET } from "../../src/model/initial-offset.ts";
import { mergeEntries } from "../../src/model/merge.ts";
import type { TranscriptEntry } from "../../src/model/transcript.ts";
import { unexplainedUsage } from "../../src/reconcile/witness.ts";
import { type RecordedHome, recordedCases, recordedHome } from "../import/home.ts";
import { locateAll } from "../support/located.ts";

const homes: RecordedHome[] = [];
afterEach(() => {
  for (const { replay } of homes.splice(0)) replay.remove();
});

const CASES = await recordedCases();

async function sessionsOf(of: (typeof CASES)[number]): Promise<readonly (readonly TranscriptFile[])[]> {
  const at = await recordedHome(of);
  homes.push(at);
  const { sessions } = await locateAll(at.reader, at.home, at.roots);
  return Promise.all(sessions.map((session) => at.reader.files({ ...session, roots: at.roots })));
}

async function read(of: (typeof CASES)[number], files: readonly TranscriptFile[]) {
  const reader = (await of.agent.transcript?.())?.default;
  const byKey = new Map<string, TranscriptEntry>();
  const unread = new Map<string, number>();
  for (const file of files) {
    for await (const batch of reader?.read(file, INITIAL_OFFSET) ?? []) {
      for (const [kind, count] of batch.unreadUsage ?? []) unread.set(kind, count);
      for (const entry of batch.entries) {
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
    }
  }
  const calls = [...byKey.values()].filter((one) => one.kind === "model_call");
  return { calls: calls.sort((a, b) => a.timeMs - b.timeMs), unread };
}

test.each(CASES)("$source, $name: every usage in the files is in a call", async (of) => {
  const sessions = await sessionsOf(of);
  expect(sessions.every((files) => files.length > 0)).toBe(true);
  for (const files of sessions) {
    const { calls, unread } = await read(of, files);
    expect(unread).toEqual(new Map());
    expect(await unexplainedUsage(files, calls, of.source)).toEqual([]);
  }
});

/** Agents whose sessions are JSON lines. */
const IN_LINES = "claude-code codex copilot droid gemini-cli grok kimi pi qwen-code".split(" ");
const BASIC = CASES.filter(({ source, name }) => name === "basic" && IN_LINES.includes(source));

describe.each(BASIC)("$source", (of) => {
  const usage = { input_tokens: 70_001, output_tokens: 7_003 };
  const addedTo = (files: readonly TranscriptFile[], record: object): void =>
    appendFileSync(files[0]?.path ?? "", `${JSON.stringify(record)}\n`);

  test("a record of an unknown kind with usage is a lower bound and a finding", async () => {
    const [files = []] = await sessionsOf(of);
    const before = await read(of, files);
    const params = { update: { sessionUpdate: "paid_extra" } };
    const named = { id: "x1", type: "paid_extra", method: "session/update", params };
    addedTo(files, { ...named, timestamp: "2026-11-27T10:00:00.000Z", usage });
    const { calls, unread } = await read(of, files);
    expect(calls).toHaveLength(before.calls.length + 1);
    expect(calls.filter(({ key }) => key.startsWith("unread:"))).toMatchObject([{ covers: "turn", complete: false }]);
    expect(calls.find(({ key }) => key.startsWith("unread:"))).not.toHaveProperty("usage");
    expect(unread).toEqual(new Map([["paid_extra", 1]]));
  });

  test("usage that the reader passes over is found in reconcile, whatever the record", async () => {
    const [files = []] = await sessionsOf(of);
    addedTo(files, { type: "user", timestamp: "2026-11-27T10:00:00.000Z", extra: { usage } });
    const { calls } = await read(of, files);
    expect(await unexplainedUsage(files, calls, of.source)).toMatchObject([
      { records: 1, input: 70_001, output: 7_003 },
    ]);
  });
});
