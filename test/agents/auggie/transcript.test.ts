// What the recordings do not show: figures in parts and missing ones, models, sessions of a parent, copies.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/auggie/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { locateAll } from "../../support/located.ts";

const ID = "3d0f7a52-0000-4000-8000-000000000001";
let home = "";
let folder = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-auggie-"));
  folder = join(home, ".augment", "sessions");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const write = (chatHistory: readonly object[], more: object = {}, name = ID): void =>
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({
      sessionId: ID,
      created: "2026-11-20T09:00:00.000Z",
      modified: "2026-11-20T09:10:00.000Z",
      agentState: { modelId: "of-session" },
      chatHistory,
      ...more,
    }),
  );
async function entries(): Promise<readonly TranscriptEntry[]> {
  const all: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId: ID, home })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) all.push(...batch.entries);
  }
  for (const entry of all) expect(TranscriptEntry.parse(entry)).toEqual(entry);
  return all;
}
const callsOf = async () => (await entries()).flatMap((entry) => (entry.kind === "model_call" ? [entry] : []));
const usage = (token_usage: object | null, id = 1) => ({ id, type: 10, token_usage });
const exchange = (request_id: string, response_nodes: readonly object[], more: object = {}) => ({
  exchange: { request_id, request_message: "", request_nodes: [], response_nodes, ...more },
  completed: true,
  sequenceId: 1,
  finishedAt: "2026-11-20T09:00:05.000Z",
});

describe("an answer's figures", () => {
  test("input includes the cache; parts of one answer are added", async () => {
    write([
      exchange("r1", [
        usage({ input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100 }),
        usage({ input_tokens: 1, output_tokens: 2, cache_creation_input_tokens: 7 }, 2),
      ]),
    ]);
    expect(await callsOf()).toMatchObject([
      { requestId: "r1", usage: { input: 118, output: 7, cacheRead: 100, cacheWrite: 7 }, complete: true },
    ]);
  });
  test("zeros, null and no part are unknown", async () => {
    write([
      exchange("r1", [usage({ input_tokens: 0, output_tokens: 0 })]),
      exchange("r2", [usage(null)]),
      exchange("r3", [{ id: 1, type: 0, content: "Hi" }]),
    ]);
    const calls = await callsOf();
    expect(calls.map(({ requestId }) => requestId)).toEqual(["r1", "r2", "r3"]);
    for (const call of calls) expect(call.usage).toBeUndefined();
  });
  test("a request without any answer is no call", async () => {
    write([exchange("r1", [])]);
    expect(await callsOf()).toEqual([]);
  });
  test("the model is the bill's, else the request's, else the session's", async () => {
    const billed = { id: 2, type: 9, billing_metadata: { effective_model_name: "billed" } };
    const [one] = [usage({ input_tokens: 1, output_tokens: 1 })];
    write([
      exchange("r1", [one, billed], { model_id: "asked" }),
      exchange("r2", [one], { model_id: "asked" }),
      exchange("r3", [one]),
    ]);
    expect((await callsOf()).map(({ model }) => model)).toEqual(["billed", "asked", "of-session"]);
  });
});

describe("calls of tools", () => {
  test("have the times and lines of their results", async () => {
    const tool_use = {
      tool_use_id: "toolu_01A1b2C3d4E5f6G7h8",
      tool_name: "save-file",
      input_json: '{"path":"a"}',
      started_at_ms: 1_000,
    };
    const tool_result_node = {
      tool_use_id: "toolu_01A1b2C3d4E5f6G7h8",
      content: "ok",
      is_error: false,
      start_time_ms: 1_000,
      duration_ms: 250,
      metadata: { tool_lines_added: "3", tool_lines_deleted: "0" },
    };
    write([
      exchange("r1", [{ id: 1, type: 5, tool_use }]),
      exchange("r2", [], { request_nodes: [{ id: 0, type: 1, tool_result_node }] }),
    ]);
    expect(await entries()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "tool_use", callId: "toolu_01A1b2C3d4E5f6G7h8", timeMs: 1_000 }),
        expect.objectContaining({
          kind: "tool_result",
          timeMs: 1_250,
          durationMs: 250,
          linesAdded: 3,
          linesRemoved: 0,
        }),
      ]),
    );
  });
});

describe("calls with numbered ids", () => {
  test("of the agent and its subagent are different calls, each with its own result", async () => {
    const use = (tool_name: string) => ({
      id: 1,
      type: 5,
      tool_use: { tool_use_id: "call_1", tool_name, input_json: "{}" },
    });
    const result = (is_error: boolean) => ({
      request_nodes: [{ id: 0, type: 1, tool_result_node: { tool_use_id: "call_1", content: "x", is_error } }],
    });
    write([exchange("r1", [use("sub-agent-a")]), exchange("r2", [], result(false))], {
      subAgents: [
        {
          name: "a",
          tool_call_request_id: "r1",
          chatHistory: [exchange("s1", [use("view")]), exchange("s2", [], result(true))],
        },
      ],
    });
    const all = await entries();
    const uses = all.flatMap((entry) => (entry.kind === "tool_use" ? [entry] : []));
    const results = all.flatMap((entry) => (entry.kind === "tool_result" ? [entry] : []));
    expect(new Set(uses.map(({ callId }) => callId)).size).toBe(2);
    expect(results.map(({ callId, status, agentId }) => [callId, status, agentId])).toEqual([
      [uses[0]?.callId, "success", undefined],
      [uses[1]?.callId, "error", "s1"],
    ]);
    expect(all).toContainEqual(expect.objectContaining({ kind: "subagent", parentCallId: uses[0]?.callId }));
  });
});

describe("files", () => {
  test("a subagent's own session names its parent", async () => {
    write([], { parentConversationId: "parent" });
    expect(await entries()).toMatchObject([{ kind: "session", parentSessionId: "parent" }]);
  });
  test("copies are part of the session, with equal keys; other files are not", async () => {
    const one = exchange("r1", [usage({ input_tokens: 1, output_tokens: 1 })]);
    write([one]);
    write([one, exchange("r0", [usage({ input_tokens: 2, output_tokens: 2 })])], {}, `${ID}-backup1`);
    writeFileSync(join(folder, "note.txt"), "x");
    const { sessions } = await locateAll(reader, home, [folder]);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ID]);
    expect(new Set((await callsOf()).map(({ key }) => key))).toEqual(new Set(["call:r1", "call:r0"]));
    expect((await callsOf()).filter(({ key }) => key === "call:r1")).toHaveLength(2);
  });
  test("a damaged file is unreadable, and gives nothing", async () => {
    writeFileSync(join(folder, `${ID}.json`), '{"sessionId":');
    const [file] = await reader.files({ sessionId: ID, home });
    for await (const batch of reader.read(file ?? { path: "" }, INITIAL_OFFSET)) {
      expect(batch).toMatchObject({ entries: [], unreadable: 1 });
    }
  });
});
