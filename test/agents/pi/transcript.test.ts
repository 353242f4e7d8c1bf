// What the recordings do not show: forks, abandoned branches, numbered call ids, sums of failed attempts.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readLine } from "#agents/pi/lines.ts";
import reader from "#agents/pi/transcript.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../../support/clock.ts";
import { locateAll } from "../../support/located.ts";
import { type RecordedCall, Replay } from "../../support/replay.ts";

const ORIGINAL = "01a210bf-84d1-742a-af59-1df72916c855";
const FORK = "01a210bf-9999-742a-af59-1df72916c855";

let replay: Replay;
beforeEach(() => {
  replay = new Replay("pi", "basic");
});
afterEach(() => replay.remove());

/** Writes the fork of the recorded session, with one more prompt and answer. */
function fork(): { readonly path: string; readonly calls: readonly RecordedCall[] } {
  const sessions = join(replay.home, ".pi", "agent", "sessions");
  const [folder = ""] = readdirSync(sessions);
  const [name = ""] = readdirSync(join(sessions, folder));
  const original = join(sessions, folder, name);
  const [, ...copied] = readFileSync(original, "utf8").trim().split("\n");
  const at = "2026-11-25T03:40:00.000Z";
  const ms = Date.parse(at);
  const path = join(sessions, folder, `2026-11-25T03-39-59-000Z_${FORK}.jsonl`);
  const lines = [
    { type: "session", version: 3, id: FORK, timestamp: at, cwd: "/home/dev/acme-shop", parentSession: original },
    ...copied.map((line) => JSON.parse(line) as object),
    line("f1", at, { role: "user", content: "And pears?", timestamp: ms }),
    line("f2", at, answer(ms + 10)),
  ];
  writeFileSync(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  const context = { cwd: "/home/dev/acme-shop", session_id: FORK, session_file: path, leaf_id: "x", has_ui: false };
  const call = (event: string, received_at: string): RecordedCall => ({
    received_at,
    event,
    stdin: { event: { type: event, reason: event === "session_start" ? "startup" : "quit" }, context },
  });
  return { path, calls: [call("session_start", at), call("session_shutdown", "2026-11-25T03:40:09.000Z")] };
}

const line = (id: string, timestamp: string, message: object) => ({
  type: "message",
  id,
  parentId: null,
  timestamp,
  message,
});
const answer = (timestamp: number, more: object = {}) => ({
  role: "assistant",
  content: [{ type: "text", text: "No." }],
  provider: "fake",
  model: "acme-coder-1",
  usage: { input: 10, output: 1, cacheRead: 5, cacheWrite: 0 },
  stopReason: "stop",
  timestamp,
  responseId: `r-${timestamp}`,
  ...more,
});

test.each(["original first", "fork first"])("a fork's copies count once, %s", async (order) => {
  const { calls } = fork();
  const drain = () => replay.drain({ endIdle: true }, clockAt(Date.parse("2026-11-25T03:41:00.000Z")));
  const parts = [replay.calls, calls];
  for (const part of order === "original first" ? parts : [...parts].reverse()) for (const one of part) replay.put(one);
  await drain();
  const db = openDatabase(replay.places.storePath);
  try {
    const sums = db
      .prepare(
        `SELECT s.session_id AS id, count(*) AS calls, sum(m.input) AS input, sum(m.output) AS output
         FROM model_calls m JOIN sessions s ON s.id = m.session GROUP BY s.session_id ORDER BY s.session_id`,
      )
      .all();
    expect(sums).toMatchObject([
      { id: ORIGINAL, calls: 3, input: 30_300, output: 102 },
      { id: FORK, calls: 1, input: 15, output: 1 },
    ]);
    const tools = db.prepare("SELECT count(*) AS n FROM tool_calls").get();
    expect(tools?.["n"]).toBe(2);
  } finally {
    db.close();
  }
});

test("a fork is located after its original, and each file is found by its session's id", async () => {
  const { path } = fork();
  const { sessions, problems } = await locateAll(reader, replay.home);
  expect(problems).toEqual([]);
  expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ORIGINAL, FORK]);
  expect(await reader.files({ sessionId: FORK, home: replay.home })).toEqual([{ path }]);
  expect(await reader.files({ sessionId: "..", home: replay.home, path })).toEqual([]);
});

/** Reads lines one after the other. */
function walk(messages: readonly object[]): readonly TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  let state = { timeMs: 0 };
  for (const [at, message] of messages.entries()) {
    const time = new Date(1_795_577_000_000 + at * 1_000).toISOString();
    const result = readLine(Buffer.from(JSON.stringify(line(`e${at}`, time, message))), state);
    if (result === undefined) throw new Error("not read");
    state = result.state;
    entries.push(...result.entries);
  }
  return entries;
}

describe("lines", () => {
  test("an abandoned branch counts: it was paid for", () => {
    const calls = walk([{ role: "user", content: "Hi", timestamp: 1 }, answer(2), answer(3)]);
    expect(calls.filter(({ kind }) => kind === "model_call")).toHaveLength(2);
  });

  test("numbered call ids are made unique, and each result belongs to its call", () => {
    const call = { type: "toolCall", id: "call_0", name: "read", arguments: {} };
    const uses = answer(2, { stopReason: "toolUse", content: [call] });
    const result = {
      role: "toolResult",
      toolCallId: "call_0",
      toolName: "read",
      content: [],
      isError: false,
      timestamp: 3,
    };
    const entries = walk([uses, result, { ...uses, timestamp: 4 }, { ...result, isError: true, timestamp: 5 }]);
    const ids = (kind: string) => entries.flatMap((one) => (one.kind === kind && "callId" in one ? [one.callId] : []));
    expect(new Set(ids("tool_use")).size).toBe(2);
    expect(ids("tool_result")).toEqual(ids("tool_use"));
  });

  test("an edit has its file and its lines, unless it failed", () => {
    const call = { type: "toolCall", id: "call_aaaaaaaaaaaaaaaa", name: "edit", arguments: { path: "a.js" } };
    const diff = " 1 one\n-2 two\n+2 TWO\n+3 three";
    const result = { role: "toolResult", toolCallId: call.id, toolName: "edit", content: [], details: { diff } };
    const edited = (isError: boolean) =>
      walk([answer(2, { stopReason: "toolUse", content: [call] }), { ...result, isError, timestamp: 3 }]);
    const [use, end] = edited(false).filter(({ kind }) => kind.startsWith("tool_"));
    expect(use).toMatchObject({ files: [{ path: "a.js", operation: "update" }] });
    expect(end).toMatchObject({ status: "success", linesAdded: 2, linesRemoved: 1 });
    expect(edited(true).at(-1)).not.toHaveProperty("linesAdded");
  });

  test("failed attempts that pi repeats are not final; the one after the last is, and so is any other failure", () => {
    const failed = (n: number, errorMessage: string) =>
      answer(n, { stopReason: "error", errorMessage, usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } });
    const finals = (messages: readonly object[]) =>
      walk(messages).flatMap((entry) => (entry.kind === "model_error" ? [entry.final] : []));
    expect(finals([1, 2, 3, 4].map((n) => failed(n, "503 overloaded")))).toEqual([false, false, false, true]);
    expect(finals([failed(1, "400 malformed")])).toEqual([true]);
    expect(walk([failed(1, "400 malformed")]).map(({ kind }) => kind)).toEqual(["model_error"]);
  });

  test("an answer that the user stopped counts with what it used, as incomplete", () => {
    const entries = walk([answer(1, { stopReason: "aborted" })]);
    expect(entries).toMatchObject([
      { kind: "model_call", complete: false, usage: { input: 15 } },
      { kind: "interruption" },
    ]);
  });

  test("requests that are not answers count: summaries, cache warming, and what tools used", () => {
    const usage = { input: 7, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 4 };
    const at = (id: string, more: object) => ({ id, parentId: null, timestamp: "2026-11-28T10:00:00.000Z", ...more });
    const lines = [
      at("m", { type: "model_change", provider: "anthropic", modelId: "big" }),
      at("c", { type: "compaction", usage }),
      at("h", { type: "compaction", usage, fromHook: true }),
      at("b", { type: "branch_summary", usage }),
      at("u", { type: "usage", kind: "cache_warm", provider: "anthropic", model: "small", usage }),
      at("t", { type: "message", message: { role: "toolResult", toolCallId: "call_a", timestamp: 5, usage } }),
      at("o", { type: "compaction" }),
    ];
    let state: Parameters<typeof readLine>[1] = { timeMs: 0 };
    const calls = lines.flatMap((one) => {
      const result = readLine(Buffer.from(JSON.stringify(one)), state);
      if (result === undefined) throw new Error("not read");
      state = result.state;
      return result.entries.flatMap((entry) => (entry.kind === "model_call" ? [entry] : []));
    });
    expect(calls.map(({ model, purpose }) => [model, purpose])).toEqual([
      ["big", "compaction"],
      [undefined, "compaction"],
      ["big", "compaction"],
      ["small", "other"],
      [undefined, "other"],
    ]);
    const whole = { input: 14, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 4 };
    for (const call of calls) expect(call).toMatchObject({ complete: true, usage: whole });
    expect(new Set(calls.map(({ globalKey }) => globalKey)).size).toBe(calls.length);
  });

  test("a compaction in the middle of a turn is two requests, so its usage is a sum, unless nothing was before the turn", () => {
    const split = "\n\n---\n\n**Turn Context (split turn):**\n\nNow pears.";
    const coversOf = (summary: string) => {
      const usage = { input: 7, output: 2, cacheRead: 0, cacheWrite: 0 };
      const line = { type: "compaction", id: "c", timestamp: "2026-11-28T10:00:00.000Z", summary, usage };
      const { entries = [] } = readLine(Buffer.from(JSON.stringify(line)), { timeMs: 0 }) ?? {};
      return entries.flatMap((one) => (one.kind === "model_call" ? [one.covers, one.usage] : []));
    };
    const usage = { input: 7, output: 2, cacheRead: 0, cacheWrite: 0 };
    expect(coversOf(`Apples.${split}`)).toEqual(["turn", usage]);
    expect(coversOf(`No prior history.${split}`)).toEqual([undefined, usage]);
    expect(coversOf("Apples.")).toEqual([undefined, usage]);
  });

  test("a tool's sum that includes its helpers adds only the rest, and its own calls are tool calls", () => {
    const helper = [{ role: "user", content: "b", timestamp: 30 }, answer(31)];
    const ended = (usage: object) => ({
      role: "toolResult",
      toolCallId: "call_a",
      timestamp: 50,
      usage,
      details: { results: [{ messages: helper }] },
      nestedCalls: { calls: [{ id: "call_a/1", name: "read", status: "ok", durationMs: 4 }], complete: true },
    });
    const sums = (usage: object) =>
      walk([ended(usage)]).flatMap((one) => (one.kind === "model_call" ? [one.usage?.output] : []));
    expect(sums({ input: 10, output: 1, cacheRead: 5, cacheWrite: 0 })).toEqual([1]);
    expect(sums({ input: 15, output: 4, cacheRead: 5, cacheWrite: 0 })).toEqual([1, 3]);
    expect(walk([ended({})]).filter(({ kind }) => kind === "tool_use")).toMatchObject([{ callId: "call_a/1" }]);
    expect(walk([ended({})]).at(1)).toMatchObject({ name: "read" });
    expect(walk([ended({})]).at(2)).toMatchObject({ kind: "tool_result", callId: "call_a/1", durationMs: 4 });
  });

  test("a failure that pi takes out of the conversation is repeated, whatever its settings say", () => {
    const failed = answer(1, { stopReason: "error", errorMessage: "400 malformed" });
    const time = new Date(1_795_577_000_000).toISOString();
    const first = readLine(Buffer.from(JSON.stringify(line("e0", time, failed))), { timeMs: 0 });
    const edit = { type: "context_edit", id: "e1", timestamp: time, targetId: "e0", replacement: null };
    const second = readLine(Buffer.from(JSON.stringify(edit)), first?.state ?? { timeMs: 0 });
    const [error] = first?.entries.filter(({ kind }) => kind === "model_error") ?? [];
    expect(error).toMatchObject({ final: true });
    expect(second?.entries).toEqual([{ ...error, final: false }]);
  });

  test("only zeros are unknown usage", () => {
    const [call] = walk([answer(1, { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } })]);
    expect(call).toMatchObject({ kind: "model_call", complete: true });
    expect(call).not.toHaveProperty("usage");
  });

  test("the next prompt shows that a kill lost what helpers used: one call of that turn is incomplete", () => {
    const call = (id: string, name: string) => ({ type: "toolCall", id, name, arguments: {} });
    const asks = (id: string, name: string) => answer(2, { stopReason: "toolUse", content: [call(id, name)] });
    const prompts = [1, 90].map((timestamp) => ({ role: "user", content: "a", timestamp }));
    const lost = (messages: readonly object[]) =>
      walk(messages).filter((one) => one.kind === "model_call" && one.key.startsWith("lost:"));
    const [first = {}, next = {}] = prompts;
    const killed = [first, asks("call_aaaaaaaaaaaaaaaa", "subagent")];
    expect(lost(killed)).toEqual([]);
    expect(lost([...killed, next, { ...next, timestamp: 99 }])).toMatchObject([
      { key: "lost:call_aaaaaaaaaaaaaaaa", promptKey: "1", complete: false },
    ]);
    expect(lost([first, asks("call_aaaaaaaaaaaaaaaa", "bash"), next])).toEqual([]);
    const ended = { role: "toolResult", toolCallId: "call_aaaaaaaaaaaaaaaa", content: [], timestamp: 3 };
    expect(lost([...killed, ended, next])).toEqual([]);
  });

  test("a helper's helper belongs to the helper's call", () => {
    const call = (id: string) => ({ type: "toolCall", id, name: "subagent", arguments: {} });
    const ended = (id: string, timestamp: number, messages: readonly object[]) => ({
      role: "toolResult",
      toolCallId: id,
      toolName: "subagent",
      content: [],
      isError: false,
      timestamp,
      details: { results: [{ agent: "scout", messages }] },
    });
    const inner = [{ role: "user", content: "b", timestamp: 30 }, answer(31)];
    const outer = [
      { role: "user", content: "a", timestamp: 20 },
      answer(21, { stopReason: "toolUse", content: [call("call_bbbbbbbbbbbbbbbb")] }),
      ended("call_bbbbbbbbbbbbbbbb", 40, inner),
    ];
    const entries = walk([
      answer(10, { stopReason: "toolUse", content: [call("call_aaaaaaaaaaaaaaaa")] }),
      ended("call_aaaaaaaaaaaaaaaa", 50, outer),
    ]);
    expect(entries.filter(({ kind }) => kind === "subagent")).toMatchObject([
      { agentId: "21:r-21", agentType: "scout", parentCallId: "call_aaaaaaaaaaaaaaaa" },
      { agentId: "31:r-31", parentCallId: "call_bbbbbbbbbbbbbbbb", parentAgentId: "21:r-21" },
    ]);
    expect(entries.filter(({ kind }) => kind === "model_call")).toHaveLength(3);
  });
});
