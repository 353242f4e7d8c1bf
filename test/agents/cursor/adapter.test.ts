import { describe, expect, it, test } from "vitest";
import cursor from "#agents/cursor/index.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const NOW_MS = Date.UTC(2026, 8, 14, 9);
const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: NOW_MS,
  env: {},
  payloadBytes: 100,
  truncated: false,
  ...rest,
});

const CONVERSATION = "7d0f0c1e-2f11-4d55-9a3e-5b1f7a9c0001";
const TURN = "1f6a0b52-77a4-4c0e-8d39-0d7e7a3b0001";
const payload = (hook_event_name: string, rest: object = {}) => ({
  conversation_id: CONVERSATION,
  generation_id: TURN,
  model: "default",
  session_id: CONVERSATION,
  hook_event_name,
  cursor_version: "3.18.25",
  workspace_roots: ["/home/dev/acme-shop"],
  transcript_path: null,
  ...rest,
});
const one = (value: unknown, facts = intake()) => {
  const events = cursor.toEvents(value, facts);
  expect(events).toHaveLength(1);
  return events[0] as (typeof events)[number];
};
const recognises = (value: unknown, facts: Partial<IntakeFacts> = {}) => cursor.recognises(value, intake(facts));

describe("recognition", () => {
  it("is certain by the version field, independently of the command line", () => {
    expect(recognises(payload("stop"), { source: "claude-code" })).toBe("certain");
    expect(recognises({ cursor_version: "1.7.0" })).toBe("certain");
  });
  it("is likely by the three ids, by the transcript folder, or by a shell command", () => {
    const { cursor_version: _, ...old } = payload("stop");
    expect(recognises(old)).toBe("likely");
    expect(recognises({ transcript_path: "/home/dev/.cursor/projects/a/agent-transcripts/b/b.jsonl" })).toBe("likely");
    expect(recognises({ command: "ls", cwd: "/home/dev" })).toBe("likely");
    expect(recognises({ command: "ls", cwd: "/home/dev", args: [] })).toBe("no");
  });
  it("is possible by an event name that other agents share", () => {
    expect(recognises({ hook_event_name: "stop", cwd: "/home/dev" })).toBe("possible");
    expect(recognises({}, { source: "cursor", event: "afterFileEdit" })).toBe("possible");
    expect(recognises({})).toBe("no");
  });
  it("ignores Cursor's settings run by other agents, and Cursor's terminal", () => {
    const grok = { hookEventName: "preToolUse", sessionId: "g-1", toolName: "run_terminal_cmd" };
    expect(recognises(grok, { source: "cursor", event: "preToolUse" })).toBe("no");
    expect(recognises({ hook_event_name: "PreToolUse", session_id: "s" }, { env: { CURSOR_VERSION: "3" } })).toBe("no");
    expect(recognises({ openhook: "0.1", cursor_version: "3" })).toBe("no");
  });
});

describe("tools", () => {
  const call = {
    tool_name: "Read",
    tool_use_id: "call-130a-0\nfc_76ff_0",
    tool_input: { file_path: "/home/dev/acme-shop/a.ts" },
  };
  it("reported twice with differently written paths are one", () => {
    const first = one(payload("preToolUse", call));
    const second = one(payload("preToolUse", { ...call, tool_input: { file_path: "/cache/a.ts" } }));
    expect(second.id).toBe(first.id);
    expect(first.id).not.toBe(one(payload("postToolUse", call)).id);
  });
  it.each([
    ['{"output":"","exitCode":2}', "error", 2],
    ['{"output":"","exitCode":0}', "success", 0],
    ['{"output":"","exitCode":"2"}', "error", 2],
    [`{"output":"${"x".repeat(2 << 20)}","exitCode":2}`, "error", 2],
    ['{"success":false}', "error", undefined],
    ['{"isError":true}', "error", undefined],
    ["not JSON", "success", undefined],
    [{ exitCode: 1 }, "error", 1],
    [undefined, "success", undefined],
  ])("%.40s is %s", (tool_output, status, exitCode) => {
    const event = one(payload("postToolUse", { ...call, tool_output, duration: 9.305 }));
    expect(event).toMatchObject({ data: { status, duration_ms: 9 } });
    expect(extrasOf(event).exit_code).toBe(exitCode);
  });
  it.each([
    [{ failure_type: "timeout" }, "timeout", undefined],
    [{ failure_type: "permission_denied" }, "permission_denied", true],
    [{ failure_type: "error" }, undefined, undefined],
    [{ failure_type: "error", is_interrupt: true }, "interrupted", undefined],
    [{}, undefined, undefined],
  ])("%j fails as %s", (failure, errorType, denied) => {
    const event = one(payload("postToolUseFailure", { ...call, ...failure }));
    expect(event).toMatchObject({ data: { status: "error" } });
    expect([extrasOf(event).error_type, extrasOf(event).denied]).toEqual([errorType, denied]);
  });
  it.each(["beforeShellExecution", "afterShellExecution", "beforeMCPExecution", "afterMCPExecution", "beforeReadFile"])(
    "%s repeats a call",
    (name) => {
      expect(cursor.toEvents(payload(name, { command: "ls", cwd: "" }), intake())).toEqual([]);
    },
  );
  it("of another contract with the same event name have a start only, in a session per process", () => {
    const ls = { command: "ls -la", cwd: "/home/dev/acme-shop" };
    const facts = { parentPid: 31, parentStart: "9", hookPid: 32, event: "beforeShellExecution" };
    const event = one(ls, intake(facts));
    expect(event).toMatchObject({ type: "tool.start", cwd: ls.cwd, data: { tool_name: "Shell" } });
    expect(extrasOf(event)).toMatchObject({ session_id_origin: "minted", executable: "ls" });
    expect(one(ls, intake({ ...facts, hookPid: 33 })).id).not.toBe(event.id);
    expect(one(ls, intake({ ...facts, hookPid: 33 })).session_id).toBe(event.session_id);
    expect(one({}, intake({ ...facts, event: "stop" })).type).toBe("turn.end");
    expect(cursor.toEvents({}, intake({ ...facts, event: "afterFileEdit" }))).toEqual([]);
  });
});

describe("turns", () => {
  const counters = { input_tokens: 100, output_tokens: 7, cache_read_tokens: 60, cache_write_tokens: 5 };
  const entries = (value: unknown) => cursor.toEntries(value, intake());

  it("count their tokens once, from the response or the end", () => {
    const [stop] = entries(payload("stop", { ...counters, status: "completed", model_id: "composer-2.5" }));
    const [response] = entries(payload("afterAgentResponse", { ...counters, text: "done" }));
    expect(stop?.key).toBe(response?.key);
    expect(stop).toMatchObject({
      kind: "model_call",
      covers: "turn",
      model: "composer-2.5",
      promptKey: TURN,
      usage: { input: 100, output: 7, cacheRead: 60, cacheWrite: 5 },
    });
    expect(response).not.toHaveProperty("model");
    expect(cursor.toEvents(payload("afterAgentResponse", { ...counters }), intake())[0]?.type).toBe("notice");
  });
  it("stay separate if the turn id is the conversation id", () => {
    const of = (more: object) => entries(payload("stop", { generation_id: CONVERSATION, ...counters, ...more }));
    expect(of({})[0]?.key).not.toBe(of({ input_tokens: 101 })[0]?.key);
    expect(of({})[0]?.key).toBe(of({})[0]?.key);
    expect(of({})[0]).not.toHaveProperty("promptKey");
    expect(entries(payload("afterAgentResponse", { generation_id: CONVERSATION, ...counters }))).toEqual([]);
  });
  it("with more cached than input tokens add the cache to the input, with a remark", () => {
    const odd = payload("stop", { ...counters, input_tokens: 10 });
    expect(entries(odd)[0]).toMatchObject({ usage: { input: 75, cacheRead: 60, cacheWrite: 5 } });
    expect(cursor.remarks(odd)).toHaveLength(1);
    expect(cursor.remarks(payload("stop", counters))).toEqual([]);
  });
  it("without counters have unknown usage", () => {
    for (const more of [{ status: "completed" }, { status: "aborted" }]) {
      const [sum] = entries(payload("stop", more));
      expect(sum).toMatchObject({ kind: "model_call", promptKey: TURN, covers: "turn" });
      expect(sum).not.toHaveProperty("usage");
      // The response of the same turn may have them
      expect(sum?.key).toBe(entries(payload("afterAgentResponse", counters))[0]?.key);
    }
    expect(entries(payload("afterAgentResponse", {}))).toEqual([]);
  });
  it("keep one counter if the others are missing", () => {
    expect(entries(payload("stop", { input_tokens: 5 }))).toMatchObject([{ usage: { input: 5 } }]);
    expect(entries(payload("stop", { output_tokens: 7, cache_read_tokens: 2 }))).toMatchObject([
      { usage: { output: 7, cacheRead: 2 } },
    ]);
  });
  it("that were interrupted or failed have that status", () => {
    expect(entries(payload("stop", { status: "aborted" }))).toContainEqual(
      expect.objectContaining({ kind: "interruption", promptKey: TURN }),
    );
    expect(one(payload("stop", { status: "aborted" })).type).toBe("turn.end");
    expect(one(payload("stop", { status: "error" }))).toMatchObject({
      type: "turn.error",
      extensions: { error_type: "_OTHER" },
    });
  });
  it("start with their prompt, whose id is never the conversation id", () => {
    expect(extrasOf(one(payload("beforeSubmitPrompt", { prompt: "hi" }))).prompt_id).toBe(TURN);
    const again = payload("beforeSubmitPrompt", { prompt: "hi", generation_id: CONVERSATION });
    expect(extrasOf(one(again))).not.toHaveProperty("prompt_id");
    expect(one(payload("beforeSubmitPrompt", { prompt: "hi" }))).toMatchObject({ data: { prompt_length: 2 } });
  });
});

describe("subagents, as captured from 3.18.25", () => {
  const callId = "call-2ec9530d-29\nfc_49466487_0";
  const start = payload("subagentStart", {
    generation_id: CONVERSATION,
    subagent_id: callId,
    tool_call_id: callId,
    subagent_type: "general-purpose",
    parent_conversation_id: CONVERSATION,
    task: "secret",
  });
  it("are reported by their parent, with the call that started them", () => {
    expect(extrasOf(one(start))).toMatchObject({ agent_id: callId, agent_type: "general-purpose" });
    expect(extrasOf(one(start))).not.toHaveProperty("parent_session_id");
    expect(cursor.toEntries(start, intake())).toEqual([
      {
        kind: "subagent",
        key: `subagent:${callId}`,
        timeMs: NOW_MS,
        agentId: callId,
        agentType: "general-purpose",
        parentCallId: callId,
      },
    ]);
  });
  it("that report events themselves belong to their parent", () => {
    const own = one({ ...start, conversation_id: "c-2", session_id: "c-2" });
    expect(own.session_id).toBe("c-2");
    expect(extrasOf(own).parent_session_id).toBe(CONVERSATION);
  });
  it("end with their id, which older versions have only in a file name", () => {
    const stop = payload("subagentStop", { agent_transcript_path: "C:\\x\\subagents\\a1f0.jsonl" });
    expect(extrasOf(one(stop)).agent_id).toBe("a1f0");
    expect(extrasOf(one(payload("subagentStop", { subagent_id: callId, agent_transcript_path: null }))).agent_id).toBe(
      callId,
    );
  });
});

describe("sessions", () => {
  it.each([
    ["completed", "completed"],
    ["aborted", "user_exit"],
    ["error", "error"],
    ["window_close", "user_exit"],
    ["user_close", "user_exit"],
    ["unknown", "completed"],
  ])("ended by %s are %s", (reason, expected) => {
    const event = one(payload("sessionEnd", { reason, duration_ms: 59_900 }));
    expect(event).toMatchObject({ data: { reason: expected, duration_ms: 59_900 } });
  });
  it("never have a model named default or an empty folder", () => {
    expect(one(payload("sessionStart", { model_id: "default" }))).toMatchObject({ data: {} });
    expect(one(payload("sessionStart", { model: "composer-2.5", model_id: "default" }))).toMatchObject({
      data: { model: "composer-2.5" },
    });
    expect(one(payload("preToolUse", { cwd: "" })).cwd).toBe("/home/dev/acme-shop");
    expect(one(payload("preToolUse", { workspace_roots: ["/c:/Users/dev/acme-shop"] })).cwd).toBe(
      "c:/Users/dev/acme-shop",
    );
  });
  it("do not exist without a conversation id", () => {
    const open = { hook_event_name: "workspaceOpen", cursor_version: "3", workspace_roots: [] };
    expect(cursor.toEvents(open, intake())).toEqual([]);
    expect(cursor.toEvents({ ...open, hook_event_name: "stop" }, intake())).toEqual([]);
  });
});

test("a resumed session starts again, although the payload is equal", () => {
  const start = payload("sessionStart", { generation_id: CONVERSATION, is_background_agent: false });
  const first = one(start, intake({ parentPid: 77, parentStart: "1" })).id;
  // Another registration of the same process
  expect(one(start, intake({ parentPid: 77, parentStart: "1", hookPid: 5 })).id).toBe(first);
  expect(one(start, intake({ parentPid: 78, parentStart: "2", timeMs: NOW_MS + 60_000 })).id).not.toBe(first);
});
