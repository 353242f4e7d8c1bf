import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/kimi/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { type Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { locateAll } from "../../support/located.ts";

const SESSION = "session_2a549b13-d509-4d5e-8a98-cf0156e36a8e";
const T = 1_795_576_764_000;
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-kimi-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

type Line = Readonly<Record<string, unknown>>;
const sessions = (): string => join(home, ".kimi-code", "sessions", "wd_shop_56039c3cf848");
const textOf = (lines: readonly Line[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
const wireOf = (agent = "main", session = SESSION): string => join(sessions(), session, "agents", agent, "wire.jsonl");

/** Merged as in the store: one entry per key. */
async function read(lines: readonly Line[], agentId?: string, parts = 1): Promise<readonly TranscriptEntry[]> {
  const byKey = new Map<string, TranscriptEntry>();
  let next: Offset = INITIAL_OFFSET;
  for (let part = 1; part <= parts; part++) {
    const path = put(wireOf(agentId), textOf(lines.slice(0, Math.ceil((lines.length * part) / parts))));
    for await (const batch of reader.read({ path, ...(agentId !== undefined && { agentId }) }, next)) {
      next = JSON.parse(JSON.stringify(batch.next)) as Offset;
      for (const entry of batch.entries) {
        expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
    }
  }
  return [...byKey.values()];
}
const callsIn = (entries: readonly TranscriptEntry[]) => entries.filter((entry) => entry.kind === "model_call");

const loop = (ms: number, event: Line): Line => ({ type: "context.append_loop_event", event, time: T + ms });
const requested = (ms: number, model = "kimi-k2", modelAlias = model): Line => ({
  type: "llm.request",
  kind: "loop",
  provider: "openai",
  model,
  modelAlias,
  time: T + ms,
});
const used = (ms: number, more: Line = {}, usage: Line = {}): Line => ({
  type: "usage.record",
  model: "kimi-k2",
  usage: { inputOther: 100, output: 20, inputCacheRead: 3, inputCacheCreation: 4, ...usage },
  usageScope: "turn",
  time: T + ms,
  ...more,
});
const step = (ms: number, uuid: string): Line => loop(ms, { type: "step.begin", uuid });
const ended = (ms: number, uuid: string, messageId: string): Line =>
  loop(ms, { type: "step.end", uuid, finishReason: "end_turn", messageId, usage: { inputOther: 100, output: 20 } });
const prompt = (ms: number, promptId: string, origin: Line = { kind: "user" }): Line => ({
  type: "turn.prompt",
  input: [{ type: "text", text: "Hi" }],
  origin,
  promptId,
  time: T + ms,
});

describe("usage", () => {
  test("the parts of the input do not overlap", async () => {
    const [call] = callsIn(await read([step(0, "s1"), requested(1), used(50), ended(60, "s1", "chatcmpl-1")]));
    expect(call).toMatchObject({
      usage: { input: 107, output: 20, cacheRead: 3, cacheWrite: 4 },
      responseId: "chatcmpl-1",
      startMs: T + 1,
      endMs: T + 50,
    });
  });

  test("all zeros are unknown", async () => {
    const none = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
    expect(callsIn(await read([step(0, "s1"), used(1, {}, none)]))[0]?.usage).toBeUndefined();
  });

  test("the model is the provider's name of the request, not the configuration's", async () => {
    const [call] = callsIn(
      await read([step(0, "s1"), requested(1, "kimi-k2-turbo-preview", "turbo"), used(2, { model: "turbo" })]),
    );
    expect(call?.model).toBe("kimi-k2-turbo-preview");
  });

  test("another model's request does not name this one", async () => {
    const [call] = callsIn(await read([step(0, "s1"), requested(1, "a", "b"), used(2, { model: "turbo" })]));
    expect(call?.model).toBe("turbo");
  });

  test("a compaction between two steps is a call without a response id", async () => {
    const lines = [step(0, "s1"), used(1), ended(2, "s1", "chatcmpl-1"), used(3, { usageScope: "session" })];
    expect(callsIn(await read(lines)).map(({ responseId }) => responseId)).toEqual(["chatcmpl-1", undefined]);
  });
});

describe("forks", () => {
  const original = [prompt(0, "msg_1"), step(1, "s1"), requested(2), used(3), ended(4, "s1", "chatcmpl-1")];
  const forked = (ms: number): Line => ({ type: "forked", agentId: "main", time: T + ms });

  test("only lines after the last mark count", async () => {
    const lines = [...original, forked(10), ...original, forked(20), prompt(30, "msg_2"), step(31, "s2"), used(32)];
    const kinds = (await read(lines)).map(({ kind, promptKey }) => [kind, promptKey]);
    expect(kinds).toEqual([
      ["prompt", "msg_2"],
      ["model_call", "msg_2"],
    ]);
  });

  test("a copied subagent has no facts", async () => {
    expect(await read([...original, forked(10)], "agent-0")).toEqual([]);
  });

  test("a mark in a message is text", async () => {
    const quoted = { ...prompt(0, "msg_1"), input: [{ type: "text", text: '\n{"type":"forked"}' }] };
    expect(callsIn(await read([quoted, step(1, "s1"), used(2)]))).toHaveLength(1);
  });

  test("the last mark is found in a large file", async () => {
    const padding = Array.from({ length: 40 }, (_, at) => ({
      type: "metadata",
      text: "x".repeat(65_536),
      time: T + at,
    }));
    const entries = await read([...original, ...padding, forked(60), step(61, "s2"), used(62)]);
    expect(callsIn(entries).map(({ timeMs }) => timeMs)).toEqual([T + 62]);
  });
});

test("a file that is read in parts gives the same entries", async () => {
  const lines = [
    prompt(0, "msg_1"),
    step(1, "s1"),
    requested(2),
    used(3),
    loop(4, { type: "tool.call", uuid: "u1", toolCallId: "Read:0", name: "Read", args: {} }),
    loop(5, { type: "tool.result", toolCallId: "Read:0", result: { output: "x" } }),
    ended(6, "s1", "chatcmpl-1"),
    step(7, "s2"),
    loop(8, { type: "tool.call", uuid: "u2", toolCallId: "Read:0", name: "Read", args: {} }),
    loop(9, { type: "tool.result", toolCallId: "Read:0", result: { output: "no", isError: true } }),
  ];
  const whole = await read(lines);
  for (const parts of [2, 3, 5, 10]) expect(await read(lines, undefined, parts)).toEqual(whole);
  const results = whole.flatMap((entry) => (entry.kind === "tool_result" ? [[entry.callId, entry.status]] : []));
  expect(results).toEqual([
    ["Read:0", "success"],
    ["Read:0#u2", "error"],
  ]);
});

test("calls that edit have the files in their arguments", async () => {
  const call = (at: number, name: string, args: object) =>
    loop(at, { type: "tool.call", uuid: `u${at}`, toolCallId: `${name}:${at}`, name, args });
  const entries = await read([
    step(0, "s1"),
    used(1),
    call(2, "Write", { path: "/home/dev/shop/a.js", content: "one\ntwo\n" }),
    call(3, "Edit", { path: "b.js", old_string: "x", new_string: "y" }),
    call(4, "Read", { path: "/home/dev/shop/c.js" }),
  ]);
  expect(entries.flatMap((entry) => (entry.kind === "tool_use" ? [entry.files] : []))).toEqual([
    [{ path: "/home/dev/shop/a.js", startLine: 1, endLine: 2 }],
    [{ path: "b.js", operation: "update" }],
    undefined,
  ]);
});

test("a killed call has its usage and asks for tools, without a response id", async () => {
  const lines = [step(0, "s1"), used(1), loop(2, { type: "tool.call", uuid: "u", toolCallId: "call_1", name: "Bash" })];
  expect(callsIn(await read(lines))[0]).toMatchObject({ asksForTools: true, complete: true });
});

test("a subagent is linked to the call that started it", async () => {
  const spawned = { type: "subagent.spawned", subagentId: "agent-0", subagentName: "coder", time: T + 2 };
  const entries = await read([
    loop(1, { type: "tool.call", uuid: "u", toolCallId: "call_995d01eac5614cc2f0b231e9", name: "Agent" }),
    { ...spawned, parentToolCallId: "call_995d01eac5614cc2f0b231e9", parentAgentId: "main" },
    loop(3, { type: "tool.result", toolCallId: "call_995d01eac5614cc2f0b231e9", result: { output: "done" } }),
  ]);
  expect(entries.find(({ kind }) => kind === "subagent")).toMatchObject({
    agentId: "agent-0",
    agentType: "coder",
    parentCallId: "call_995d01eac5614cc2f0b231e9",
  });
  expect(entries.find(({ kind }) => kind === "tool_result")).toMatchObject({ spawnedAgentId: "agent-0" });
});

test("a failed turn has an error, a cancelled one an interruption; a turn that the program starts is the machine's", async () => {
  const error = { name: "APIStatusError", details: { statusCode: 400 } };
  const entries = await read([
    prompt(0, "msg_1"),
    { type: "turn.ended", turnId: 0, reason: "failed", error, durationMs: 5, time: T + 5 },
    prompt(10, "msg_2", { kind: "task" }),
    { type: "turn.ended", turnId: 1, reason: "cancelled", time: T + 15 },
  ]);
  expect(entries.map(({ kind, promptKey }) => [kind, promptKey])).toEqual([
    ["prompt", "msg_1"],
    ["model_error", "msg_1"],
    ["turn_end", "msg_1"],
    ["prompt", "msg_2"],
    ["interruption", "msg_2"],
    ["turn_end", "msg_2"],
  ]);
  expect(entries[1]).toMatchObject({ errorType: "APIStatusError", httpStatus: 400, final: true });
  expect(entries[3]).toMatchObject({ origin: "machine" });
});

describe("places", () => {
  test("sessions of all working folders are found by creation time, with their agents", async () => {
    const state = (session: string, createdAt: number): string =>
      put(join(sessions(), session, "state.json"), JSON.stringify({ id: session, cwd: "/home/dev/shop", createdAt }));
    for (const [at, session] of ["session_b", "session_a"].entries()) {
      put(wireOf("main", session), textOf([prompt(0, "msg_1")]));
      put(wireOf("agent-0", session), textOf([step(0, "s1")]));
      state(session, T + at);
    }
    const { sessions: found } = await locateAll(reader, home);
    expect(found.map(({ sessionId }) => sessionId)).toEqual(["session_b", "session_a"]);
    const files = await reader.files({ sessionId: "session_a", home });
    expect(files.map(({ agentId }) => agentId)).toEqual([undefined, "agent-0"]);
    const [first] = files;
    const entries: TranscriptEntry[] = [];
    if (first !== undefined)
      for await (const batch of reader.read(first, INITIAL_OFFSET)) entries.push(...batch.entries);
    expect(entries[0]).toMatchObject({ kind: "session", cwd: "/home/dev/shop" });
  });

  test("KIMI_CODE_HOME moves the folder", () => {
    expect(reader.roots("/home/dev", { KIMI_CODE_HOME: "/k" })).toEqual(["/k/sessions"]);
  });
});
