// A turn has the usage of the subagents that ended in it, and their own files have it again.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import reader from "#agents/grok/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { removeFolder } from "../../support/remove.ts";

const START_MS = Date.parse("2026-11-25T05:00:00.000Z");
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-grok-"));
});
afterEach(() => removeFolder(home));

const folderOf = (session: string): string => join(home, ".grok", "sessions", "%2Fp", session);
const usageOf = (input: number, output: number, modelCalls?: number) => ({
  inputTokens: input,
  outputTokens: output,
  cachedReadTokens: 0,
  modelCalls,
});

type Line = readonly [atMs: number, update: object, owner?: string | undefined, promptId?: string];

function write(session: string, updates: readonly Line[]): void {
  mkdirSync(folderOf(session), { recursive: true });
  const lines = updates.map(([atMs, update, owner = session, promptId], index) => {
    const meta = { eventId: `${owner}-${index}`, agentTimestampMs: START_MS + atMs, promptId };
    return JSON.stringify({ params: { sessionId: session, update, _meta: meta } });
  });
  writeFileSync(join(folderOf(session), "updates.jsonl"), lines.map((line) => `${line}\n`).join(""));
}

function writeChild(
  parent: string,
  child: string,
  turns: readonly (readonly [endedMs: number, usage: object])[],
): void {
  mkdirSync(join(folderOf(parent), "subagents", child), { recursive: true });
  write(
    child,
    turns.map(([atMs, usage], index) => [atMs, turnEnd(`${child}-t${index}`, { m: usage }, 10)] as const),
  );
  const all = turns.map(([atMs, usage]) => ({
    endedAt: new Date(START_MS + atMs).toISOString(),
    modelUsage: { m: usage },
  }));
  writeFileSync(join(folderOf(child), "usage.json"), JSON.stringify({ turns: all }));
}

const prompt = (index: number) => ({
  sessionUpdate: "user_message_chunk",
  content: { type: "text", text: "Do it" },
  _meta: { modelId: "m", promptIndex: index },
});
const turnEnd = (id: string, modelUsage: object, elapsedMs: number) => ({
  sessionUpdate: "turn_completed",
  prompt_id: id,
  stop_reason: "end_turn",
  usage: { modelUsage },
  elapsed_ms: elapsedMs,
});
const spawned = (child: string) => ({ sessionUpdate: "subagent_spawned", child_session_id: child });

async function entriesOf(session: string): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId: session, home })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) entries.push(...batch.entries);
  }
  return entries;
}
const modelCallsOf = async (session: string) =>
  (await entriesOf(session)).filter((entry): entry is EntryOf<"model_call"> => entry.kind === "model_call");
async function callsOf(session: string) {
  return (await modelCallsOf(session)).map(({ model, agentId, usage }) => [
    agentId,
    model,
    usage?.input,
    usage?.output,
  ]);
}

test("a subagent's usage counts with the subagent, and the rest with the turn", async () => {
  write("parent", [
    [0, prompt(0)],
    [10, spawned("child")],
    [100, turnEnd("p0", { m: usageOf(1_000, 50) }, 100)],
  ]);
  writeChild("parent", "child", [[60, usageOf(300, 20)]]);
  expect(await callsOf("parent")).toEqual([
    [undefined, "m", 700, 30],
    ["child", "m", 300, 20],
  ]);
});

test("usage of a background subagent is subtracted only from the turn in which the subagent reported it", async () => {
  write("parent", [
    [0, prompt(0)],
    [10, spawned("child")],
    [100, turnEnd("p0", { m: usageOf(1_000, 50) }, 100)],
    [300, prompt(1)],
    [400, turnEnd("p1", { m: usageOf(500, 9) }, 100)],
  ]);
  writeChild("parent", "child", [
    [200, usageOf(300, 20)],
    [350, usageOf(100, 4)],
  ]);
  expect(await callsOf("parent")).toEqual([
    [undefined, "m", 1_000, 50],
    [undefined, "m", 400, 5],
    ["child", "m", 300, 20],
    ["child", "m", 100, 4],
  ]);
});

test.each([
  ["the turn's number has those of the subagent, which count with the subagent", 5, 2, [3, 2]],
  ["an older version does not say how many calls a turn made", undefined, undefined, [undefined, undefined]],
  ["without the subagent's number, the rest is unknown", 5, undefined, [undefined, undefined]],
  ["without the turn's number, only the subagent's is known", undefined, 2, [undefined, 2]],
  ["tokens of no call: the numbers contradict each other", 2, 2, [undefined, 2]],
])("model calls: %s", async (_, ofTurn, ofSubagent, expected) => {
  write("parent", [
    [0, prompt(0)],
    [10, spawned("child")],
    [100, turnEnd("p0", { m: usageOf(1_000, 50, ofTurn) }, 100)],
  ]);
  writeChild("parent", "child", [[60, usageOf(300, 20, ofSubagent)]]);
  const calls = await modelCallsOf("parent");
  expect(calls.map(({ covers, coveredCalls }) => [covers, coveredCalls])).toEqual(expected.map((n) => ["turn", n]));
});

test("a turn that is read twice has its number of model calls once", async () => {
  const end = turnEnd("p0", { m: usageOf(1_000, 50, 3) }, 100);
  write("twice", [
    [0, prompt(0)],
    [50, { sessionUpdate: "agent_message_chunk" }, undefined, "p0"],
    [100, end],
    [110, end],
  ]);
  const calls = await modelCallsOf("twice");
  expect(new Set(calls.map(({ key }) => key))).toEqual(new Set(["turn:p0"]));
  expect(calls.reduce<TranscriptEntry>(mergeEntries, calls[0] as TranscriptEntry)).toMatchObject({ coveredCalls: 3 });
});

test("the usage of a subagent whose files are gone stays in the turn", async () => {
  write("parent", [
    [0, prompt(0)],
    [10, spawned("child")],
    [100, turnEnd("p0", { m: usageOf(1_000, 50) }, 100)],
  ]);
  expect(await callsOf("parent")).toEqual([[undefined, "m", 1_000, 50]]);
});

test("a model that only the subagent used is no part of the turn", async () => {
  write("parent", [
    [0, prompt(0)],
    [10, spawned("child")],
    [100, turnEnd("p0", { m: usageOf(300, 20), other: usageOf(7, 1) }, 100)],
  ]);
  writeChild("parent", "child", [[60, usageOf(300, 20)]]);
  expect(await callsOf("parent")).toEqual([
    [undefined, "other", 7, 1],
    ["child", "m", 300, 20],
  ]);
});

test("a fork's copies count in the origin, and in the fork if the origin is gone", async () => {
  const copied = [
    [0, prompt(0), "origin"],
    [100, turnEnd("p0", { m: usageOf(1_000, 50) }, 100), "origin"],
  ] as const;
  write("fork", [...copied, [200, prompt(1)], [300, turnEnd("p1", { m: usageOf(40, 4) }, 100)]]);
  expect(await callsOf("fork")).toEqual([
    [undefined, "m", 1_000, 50],
    [undefined, "m", 40, 4],
  ]);
  write("origin", copied);
  expect(await callsOf("fork")).toEqual([[undefined, "m", 40, 4]]);
});

test("a turn that was killed has unknown usage, and its open call is unfinished", async () => {
  write("killed", [
    [0, prompt(0)],
    [10, { sessionUpdate: "tool_call", toolCallId: "call_c47e56d57a6407f5", title: "write" }, undefined, "p0"],
    [900, { sessionUpdate: "turn_completed", prompt_id: "p0", stop_reason: "interrupted" }],
  ]);
  const entries = await entriesOf("killed");
  expect(entries.map(({ kind }) => kind)).toEqual(["prompt", "model_call", "tool_use", "tool_result"]);
  expect(entries[1]).toMatchObject({ covers: "turn", complete: false });
  expect(entries[1]).not.toHaveProperty("usage");
  expect(entries.at(-1)).toMatchObject({ callId: "call_c47e56d57a6407f5", status: "unfinished" });
});

test.each(["running", "cancelled"])(
  "a subagent that was %s when Grok was killed belongs to the call open at its start",
  async (status) => {
    const spawn = (id: string, description: string) => ({
      sessionUpdate: "tool_call",
      toolCallId: id,
      title: "spawn_subagent",
      rawInput: { description },
    });
    const ended = (id: string) => ({ sessionUpdate: "tool_call_update", toolCallId: id, status: "completed" });
    // No line subagent_spawned: Grok was killed before it wrote it. A later process ended the turn
    write("parent", [
      [0, prompt(0)],
      [10, spawn("call_c47e56d57a6407f5", "Find it"), undefined, "p0"],
      [20, ended("call_c47e56d57a6407f5"), undefined, "p0"],
      [30, spawn("call_d58f67e68b7518a6", "Find it"), undefined, "p0"],
      [900, { sessionUpdate: "turn_completed", prompt_id: "p0", stop_reason: "interrupted" }],
      [950, prompt(1)],
      [960, spawn("call_e69078f79c8629b7", "Find it"), undefined, "p1"],
    ]);
    writeChild("parent", "child", [[60, usageOf(300, 20)]]);
    const meta = {
      parent_session_id: "parent",
      child_session_id: "child",
      subagent_type: "explore",
      description: "Find it",
      status,
      started_at: new Date(START_MS + 40).toISOString(),
    };
    const path = join(folderOf("parent"), "subagents", "child", "meta.json");
    writeFileSync(path, JSON.stringify(meta));
    const subagents = async () => (await entriesOf("parent")).filter(({ kind }) => kind === "subagent");
    expect(await subagents()).toEqual([
      {
        kind: "subagent",
        key: "subagent:child",
        timeMs: START_MS + 40,
        agentId: "child",
        agentType: "explore",
        parentCallId: "call_d58f67e68b7518a6",
      },
    ]);
    writeFileSync(path, JSON.stringify({ ...meta, status: "completed" }));
    expect(await subagents()).toEqual([]);
  },
);

test("calls of a subagent that a later process found cancelled are unfinished, so that it ends with its own process", async () => {
  write("parent", [[0, prompt(0)]]);
  writeChild("parent", "child", []);
  const call = (id: string) => ({ sessionUpdate: "tool_call", toolCallId: id, title: "read_file" });
  write("child", [
    [50, call("call_c47e56d57a6407f5")],
    [60, { sessionUpdate: "tool_call_update", toolCallId: "call_c47e56d57a6407f5", status: "completed" }],
    [70, call("call_d58f67e68b7518a6")],
  ]);
  const path = join(folderOf("parent"), "subagents", "child", "meta.json");
  const left = async (status: string) => {
    writeFileSync(path, JSON.stringify({ status, started_at: new Date(START_MS + 40).toISOString() }));
    const results = (await entriesOf("parent")).filter((entry) => entry.kind === "tool_result");
    return results.map(({ timeMs, agentId, callId, status: result }) => [timeMs - START_MS, agentId, callId, result]);
  };
  const ended = [60, "child", "call_c47e56d57a6407f5", "success"];
  expect(await left("cancelled")).toEqual([ended, [70, "child", "call_d58f67e68b7518a6", "unfinished"]]);
  expect(await left("running")).toEqual([ended]);
  expect(await left("completed")).toEqual([ended]);
});
