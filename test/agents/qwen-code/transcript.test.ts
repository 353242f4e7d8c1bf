import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/qwen-code/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { UNKNOWN_TIER } from "#core/model/model-call.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { CASES } from "../../support/replay.ts";

const SESSION = "866a447f-d69b-4798-943d-af4d6e4e9e55";
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-qwen-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const chats = (): string => join(home, ".qwen", "projects", "-home-dev-acme-shop", "chats");
const lineOf = (name: string, more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  uuid: name,
  sessionId: SESSION,
  timestamp: "2026-11-25T04:00:13.022Z",
  version: "0.24.4",
  ...more,
});
const telemetry = (name: string, uiEvent: Readonly<Record<string, unknown>>) =>
  lineOf(name, { type: "system", subtype: "ui_telemetry", systemPayload: { uiEvent } });
const answer = (name: string, responseId: string, more: Readonly<Record<string, unknown>> = {}) =>
  telemetry(name, {
    "event.name": "qwen-code.api_response",
    "event.timestamp": "2026-11-25T04:00:13.022Z",
    response_id: responseId,
    model: "qwen3-coder-plus",
    duration_ms: 100,
    input_token_count: 1000,
    output_token_count: 20,
    cached_content_token_count: 900,
    thoughts_token_count: 5,
    total_token_count: 1020,
    prompt_id: `${SESSION}########0`,
    auth_type: "openai",
    ...more,
  });
const RANDOM = "chatcmpl-34d2e4a718ffbb8b2398d3fe";

async function read(lines: readonly unknown[], agentId?: string): Promise<readonly TranscriptEntry[]> {
  const path = join(chats(), `${SESSION}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const byKey = new Map<string, TranscriptEntry>();
  for await (const { entries } of reader.read({ path, ...(agentId !== undefined && { agentId }) }, INITIAL_OFFSET)) {
    for (const entry of entries) {
      expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
      const known = byKey.get(entry.key);
      byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
    }
  }
  return [...byKey.values()];
}
const callsIn = (entries: readonly TranscriptEntry[]) => entries.filter((entry) => entry.kind === "model_call");

describe("usage", () => {
  const usageOf = async (more: Readonly<Record<string, unknown>>) =>
    callsIn(await read([answer("a", RANDOM, more)]))[0]?.usage;

  test("output includes thoughts if the total says so, otherwise they are added", async () => {
    expect(await usageOf({})).toEqual({ input: 1000, output: 20, cacheRead: 900, reasoning: 5 });
    expect(await usageOf({ total_token_count: 1025 })).toEqual({
      input: 1000,
      output: 25,
      cacheRead: 900,
      reasoning: 5,
    });
  });

  test("all zeros are unknown", async () => {
    const zeros = ["input", "output", "cached_content", "thoughts", "total"].map((name) => [`${name}_token_count`, 0]);
    expect(await usageOf(Object.fromEntries(zeros))).toBeUndefined();
  });

  test("Anthropic's cache writes are hidden in the input: they are unknown, and so are thoughts", async () => {
    const anthropic = { auth_type: "anthropic", thoughts_token_count: 0 };
    const [call] = callsIn(await read([answer("a", RANDOM, anthropic)]));
    expect(call).toMatchObject({ provider: "anthropic" });
    expect(call?.usage).not.toHaveProperty("cacheWrite");
    expect(call?.usage).not.toHaveProperty("reasoning");
    // With reads the price is a lower bound; without any nothing shows that writes are missing
    expect(call).not.toHaveProperty("tier");
    const [first] = callsIn(await read([answer("a", RANDOM, { ...anthropic, cached_content_token_count: 0 })]));
    expect(first?.tier).toBe(first?.usage?.cacheRead === undefined ? UNKNOWN_TIER : undefined);
  });
});

test.each([
  [{ prompt_id: "compress-1764041614" }, "compaction"],
  [
    { prompt_id: "s#managed-auto-memory-extractor-fff39b27#0", subagent_name: "managed-auto-memory-extractor" },
    "memory",
  ],
  [{ subagent_name: "managed-skill-nominator", subagent_id: "managed-skill-nominator-1" }, "other"],
  [{ prompt_id: "s########1" }, undefined],
  [{ prompt_id: "s#general-purpose-call_1#1", subagent_id: "general-purpose-call_1" }, undefined],
])("the purpose of a call with %j is %s", async (more, purpose) => {
  const [call] = callsIn(await read([answer("a", RANDOM, more)]));
  expect(call?.purpose).toBe(purpose);
  expect(call?.agentId).toBe(purpose === undefined && "subagent_id" in more ? more.subagent_id : undefined);
});

describe("identity of model calls", () => {
  test("a response id counts once over all sessions", async () => {
    const calls = callsIn(await read([answer("a", RANDOM), answer("b", RANDOM)]));
    expect(calls.map(({ globalKey }) => globalKey)).toEqual([`response:${RANDOM}:`]);
  });

  test("servers with few response ids: the time belongs to the id", async () => {
    const later = { "event.timestamp": "2026-11-25T04:00:14.022Z" };
    expect(callsIn(await read([answer("a", "chatcmpl-17"), answer("b", "chatcmpl-17", later)]))).toHaveLength(2);
    expect(callsIn(await read([answer("a", ""), answer("b", "")]))).toHaveLength(2);
  });

  test("lines that a fork copied have the ids of the lines they were copied from", async () => {
    const copied = { forkedFrom: { sessionId: "another", messageUuid: "a" } };
    const entries = await read([
      { ...lineOf("p", { type: "user", message: { parts: [{ text: "Hi" }] } }), ...copied },
      { ...answer("b", RANDOM), ...copied },
      lineOf("q", { type: "user", message: { parts: [{ text: "Go on" }] } }),
      answer("c", "chatcmpl-726dcd74c74ef76ebb22c9f0"),
    ]);
    expect(entries.map(({ kind, globalKey, promptKey }) => [kind, globalKey, promptKey])).toEqual([
      ["prompt", "prompt:a", "a"],
      ["model_call", `response:${RANDOM}:`, "a"],
      ["session", undefined, undefined],
      ["prompt", "prompt:q", "q"],
      ["model_call", "response:chatcmpl-726dcd74c74ef76ebb22c9f0:", "q"],
    ]);
  });

  test("copied calls whose ids other sessions have too are left out: they cannot be distinguished from others", async () => {
    const call = { functionCall: { id: "call_1", name: "read_file", args: {} } };
    const line = lineOf("a", { type: "assistant", message: { parts: [call] } });
    const copied = { forkedFrom: { sessionId: "another", messageUuid: "a" } };
    expect((await read([{ ...line, ...copied }])).map(({ kind }) => kind)).toEqual([]);
    expect((await read([line])).map(({ kind }) => kind)).toEqual(["session", "tool_use"]);
  });

  test("hidden agents' calls belong to the main agent", async () => {
    const agent = "managed-auto-memory-extractor-4f0a9417";
    const [call] = callsIn(
      await read([answer("a", RANDOM, { subagent_id: agent, prompt_id: `${SESSION}#${agent}#0` })]),
    );
    expect(call?.agentId).toBeUndefined();
  });
});

test("messages of the program start turns of the program, messages during a turn start none", async () => {
  const user = (name: string, subtype?: string) =>
    lineOf(name, { type: "user", ...(subtype && { subtype }), message: { parts: [{ text: "Hi" }] } });
  const entries = await read([user("p"), user("q", "mid_turn_user_message"), user("r", "notification")]);
  const prompts = entries.flatMap((entry) => (entry.kind === "prompt" ? [[entry.promptKey, entry.origin]] : []));
  expect(prompts).toEqual([
    ["p", "human"],
    ["r", "machine"],
  ]);
});

test("the length of a prompt is that of the submitted text", async () => {
  const parts = [{ text: "Hi" }, { text: "context of another hook" }];
  const shown = { systemPayload: { displayText: "Hi", hookContext: "context of another hook" } };
  const entries = await read([
    lineOf("p", { type: "user", message: { parts } }),
    lineOf("q", { type: "user", message: { parts }, ...shown }),
  ]);
  expect(entries.flatMap((entry) => (entry.kind === "prompt" ? [entry.length] : []))).toEqual([undefined, 2]);
});

describe("tool calls", () => {
  const ended = (name: string, more: Readonly<Record<string, unknown>>) =>
    telemetry(name, {
      "event.name": "qwen-code.tool_call",
      function_name: "edit",
      prompt_id: `${SESSION}########0`,
      ...more,
    });

  test.each([
    [{ status: "success" }, { status: "success" }],
    [
      { status: "error", error_type: "file_not_found" },
      { status: "error", errorType: "file_not_found" },
    ],
    [{ status: "error", error_type: "execution_denied" }, { status: "denied" }],
    [{ status: "cancelled", error: "User did not allow tool call" }, { status: "denied" }],
    [
      { status: "cancelled", error: "Operation stopped" },
      { status: "error", errorType: "interrupted" },
    ],
  ])("%o is %o", async (event, expected) => {
    const entries = await read([ended("a", { call_id: "call_d13e442c0e681539", ...event })]);
    expect(entries.find(({ kind }) => kind === "tool_result")).toMatchObject(expected);
  });

  test("an edit has the places that its result displays", async () => {
    const resultDisplay = {
      filePath: "/home/dev/shop/a.js",
      fileDiff: "--- a.js\n+++ a.js\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n",
      isNewFile: false,
      diffStat: { model_added_lines: 1, model_removed_lines: 1 },
    };
    const id = "call_d13e442c0e681539";
    const line = lineOf(id, {
      type: "tool_result",
      message: { parts: [{ functionResponse: { id, name: "edit", response: { output: "x" } } }] },
      toolCallResult: { callId: id, status: "success", resultDisplay },
    });
    const place = { startLine: 2, endLine: 2, added: 1, removed: 1 };
    expect((await read([line])).find(({ kind }) => kind === "tool_result")).toMatchObject({
      files: [{ path: "/home/dev/shop/a.js", operation: "update", ...place }],
    });
  });

  test("in a subagent's file, an error in the response is an error", async () => {
    const result = (id: string, response: unknown) =>
      lineOf(id, {
        type: "tool_result",
        message: { parts: [{ functionResponse: { id, name: "read_file", response } }] },
        toolCallResult: { callId: id, durationMs: 3 },
      });
    const lines = [result("call_d13e442c0e681539", { output: "x" }), result("call_7d9238f57fbab769", { error: "no" })];
    const results = (await read(lines, "general-purpose-call_1")).filter((entry) => entry.kind === "tool_result");
    expect(results.map(({ status, agentId }) => [status, agentId])).toEqual([
      ["success", "general-purpose-call_1"],
      ["error", "general-purpose-call_1"],
    ]);
  });
});

test("a killed subagent keeps the ends of its finished calls, from the main file", async () => {
  const recorded = join(CASES, "qwen-code", "background-subagent", "transcripts", ".qwen", "projects");
  const session = "29da81ee-fb51-4982-aee4-9f96c9c74646";
  const text = readFileSync(join(recorded, "-home-dev-acme-shop", "chats", `${session}.jsonl`), "utf8");
  const entries = await read(
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );
  const agentId = "general-purpose-call_51f55201737fb12284c919d6";
  const own = entries.filter((entry) => entry.agentId === agentId);
  expect(own.filter(({ kind }) => kind === "tool_use")).toHaveLength(2);
  expect(own.filter(({ kind }) => kind === "tool_result")).toHaveLength(2);
});

test.each([
  ["ended", "a", []],
  ["ended", "z", []],
  ["went on after the fork", "a", ["2026-11-25T04:00:30.000Z"]],
  ["went on after the fork", "z", ["2026-11-25T04:00:30.000Z"]],
] as const)("an unmarked fork of a session that %s is located after it (id %s…)", async (_, first, later) => {
  const idOf = (letter: string) => `${letter}66a447f-d69b-4798-943d-af4d6e4e9e55`;
  const [original, fork] = [idOf(first), idOf(first === "a" ? "z" : "a")];
  mkdirSync(chats(), { recursive: true });
  const write = (sessionId: string, lines: readonly (readonly [string, string])[]) =>
    writeFileSync(
      join(chats(), `${sessionId}.jsonl`),
      lines
        .map(([uuid, timestamp]) => `${JSON.stringify({ ...lineOf(uuid, { type: "user" }), sessionId, timestamp })}\n`)
        .join(""),
    );
  const copied = [
    ["1", "2026-11-25T04:00:10.000Z"],
    ["2", "2026-11-25T04:00:11.000Z"],
  ] as const;
  write(fork, [...copied, ["4", "2026-11-25T04:00:20.000Z"]]);
  write(original, [...copied, ...later.map((time) => ["3", time] as const)]);
  const found: string[] = [];
  const onProblem = (_path: string, error: Error) => expect(error).toBeNull();
  for await (const { sessionId } of reader.locate({ home, roots: reader.roots(home, {}), onProblem })) {
    found.push(sessionId);
  }
  expect(found).toEqual([original, fork]);
});

test("variables move the folder", () => {
  expect(reader.roots("/home/dev", {})).toEqual(["/home/dev/.qwen/projects"]);
  expect(reader.roots("/home/dev", { QWEN_HOME: "/q" })).toEqual(["/q/projects"]);
  expect(reader.roots("/home/dev", { QWEN_HOME: "/q", QWEN_RUNTIME_DIR: "/r" })).toEqual(["/r/projects"]);
});
