// Versions 1.0.69 to 1.0.92 have a row per request in a database, and no record of it in the session file
import { appendFileSync, cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import reader from "#agents/copilot/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, Offset } from "#core/model/transcript.ts";
import { removeFolder } from "../../support/remove.ts";
import { CASES } from "../../support/replay.ts";

const ID = "0b8c8c22-47ce-4518-a725-d558edb25bfb";
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-copilot-"));
  cpSync(join(CASES, "copilot", "older-version-1.0.88-subagent", "transcripts"), home, { recursive: true });
});
afterEach(() => removeFolder(home));

/** The calls of all parts since the last reading. */
async function callsSince(offsets: Map<string, Offset>): Promise<readonly EntryOf<"model_call">[]> {
  const calls: EntryOf<"model_call">[] = [];
  for (const file of await reader.files({ sessionId: ID, home })) {
    for await (const { entries, next } of reader.read(file, offsets.get(file.path) ?? INITIAL_OFFSET)) {
      calls.push(...entries.filter((entry) => entry.kind === "model_call"));
      offsets.set(file.path, JSON.parse(JSON.stringify(next)));
    }
  }
  return calls;
}

test("each request counts once, read in two steps and continued by a version that also writes records", async () => {
  const db = new Libsql(join(home, ".copilot", "session-store.db"), {});
  const copy = (ids: string, to: string, from: string) =>
    db.exec(`INSERT INTO ${to} SELECT * FROM ${from} WHERE id ${ids}`);
  db.exec("CREATE TABLE later AS SELECT * FROM assistant_usage_events WHERE id > 2");
  db.exec("DELETE FROM assistant_usage_events WHERE id > 2");
  const offsets = new Map<string, Offset>();
  const tokens = (calls: readonly EntryOf<"model_call">[]) =>
    calls.map(({ agentId, usage }) => [agentId === undefined ? "main" : "subagent", usage?.input, usage?.output]);
  expect(tokens(await callsSince(offsets))).toEqual([
    ["main", 9_007, 35],
    ["main", 9_111, 33],
  ]);

  copy("IS NOT NULL", "assistant_usage_events", "later");
  db.exec("UPDATE later SET id = 6, input_tokens = 77, output_tokens = 7 WHERE id = 5");
  copy("= 6", "assistant_usage_events", "later");
  db.close();
  const accounting = { sourceSessionId: ID, sequence: 1, usageId: "resp-1" };
  const usage = { model: "gpt-5-mini", inputTokens: 77, outputTokens: 7, apiCallId: "resp-1", accounting };
  const record = { type: "session.usage_record", data: { usage }, id: "r1", timestamp: "2026-11-28T19:20:00.000Z" };
  appendFileSync(join(home, ".copilot", "session-state", ID, "events.jsonl"), `${JSON.stringify(record)}\n`);
  expect(tokens(await callsSince(offsets))).toEqual([
    ["subagent", 2_003, 41],
    ["subagent", 2_311, 60],
    ["main", 9_523, 12],
    ["main", 77, 7],
  ]);
  expect(await callsSince(offsets)).toEqual([]);
});
