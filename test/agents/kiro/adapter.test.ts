import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import card from "#agents/kiro/index.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { NOTHING_SETTLED, type ToolCall } from "#core/model/session.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { buildSession } from "#core/session/build.ts";
import { compareLines, type DocumentedCall, linesOf, mapped, truthOf } from "../../support/documented.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const CASES = ["basic", "failure", "ide-0x", "ide-1x", "no-session-id", "v3"];
const callsOf = (name: string) => linesOf<DocumentedCall>(join(HERE, name, "calls.jsonl"));

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "kiro",
  timeMs: Date.UTC(2026, 8, 14, 9),
  env: {},
  parentPid: 77,
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const firstEvent = (payload: unknown, rest: Partial<IntakeFacts> = {}) => card.toEvents(payload, intake(rest))[0];

test.each(CASES)("%s: each line gives the expected event", async (name) => {
  compareLines(await mapped(callsOf(name)), truthOf(join(HERE, name)).lines);
});

describe("pairing", () => {
  const toolsOf = async (name: string): Promise<readonly ToolCall[]> => {
    const events = (await mapped(callsOf(name))).flatMap((one) => one.events);
    const sessionId = events[0]?.session_id ?? "";
    const session = buildSession({
      facts: { source: "kiro", sessionId },
      events: events.filter((event) => event.session_id === sessionId),
      entries: [],
      context: NOTHING_SETTLED,
      expectsTranscript: false,
      endIdle: { reason: "timeout", nativeReason: "idle" },
    });
    return session.turns.flatMap((turn) => turn.toolCalls);
  };

  it("pairs the oldest of two equal open calls; calls declined or open at the end are unfinished", async () => {
    const tools = await toolsOf("failure");
    expect(tools.map(({ name, status, exitCode }) => [name, status, exitCode])).toEqual([
      ["execute_bash", "error", undefined],
      ["execute_bash", "error", 1],
      ["execute_bash", "unfinished", undefined],
      ["@git/status", "unfinished", undefined],
    ]);
    expect(tools.at(-1)?.mcpServer).toBe("git");
  });
  it("pairs by the tool's name if the end has no input", async () => {
    expect((await toolsOf("ide-1x")).map(({ name, status }) => [name, status])).toEqual([
      ["execute_bash", "success"],
      ["execute_bash", "error"],
      ["str_replace", "success"],
    ]);
  });
  it("keeps a call without a name as unfinished", async () => {
    expect((await toolsOf("ide-0x")).map(({ name, status }) => [name, status])).toEqual([
      ["unknown", "unfinished"],
      ["fs_write", "success"],
    ]);
  });
});

describe("a call's end", () => {
  const end = (tool_response: unknown) => {
    const event = firstEvent({
      hook_event_name: "postToolUse",
      cwd: "/w",
      tool_name: "x",
      tool_input: {},
      tool_response,
    });
    return event?.type === "tool.end" && event.data !== undefined
      ? [event.data.status, extrasOf(event).exit_code, extrasOf(event).status_origin]
      : [];
  };
  it.each([
    [{ success: true, result: [] }, ["success", undefined, "native"]],
    [{ success: false, result: ["no"] }, ["error", undefined, "native"]],
    [{ success: true, result: [{ exit_status: "2" }] }, ["error", 2, "native"]],
    [{ success: true, result: [{ exit_status: "0" }] }, ["success", 0, "native"]],
    [{ exit_status: 130 }, ["error", 130, "native"]],
    ['{"success":false}', ["error", undefined, "native"]],
    ["Output:\nfine\n\nExit Code: 0", ["success", 0, "native"]],
    ["Output:\nno\n\nExit Code: 127\n", ["error", 127, "native"]],
    ["Exit Code: -1", ["error", -1, "native"]],
    ["printed Exit Code: 1 and continued", ["success", undefined, "assumed"]],
    ["Created the src/a.ts file.", ["success", undefined, "assumed"]],
    [undefined, ["success", undefined, "assumed"]],
    [[{ success: false }], ["error", undefined, "native"]],
    // The CLI's TUI
    [{ items: [{ Json: { exit_status: "exit status: 0", stdout: "", stderr: "" } }] }, ["success", 0, "native"]],
    [{ items: [{ Json: { exit_status: "exit status: 2", stdout: "", stderr: "no" } }] }, ["error", 2, "native"]],
    [{ items: [{ Json: { exit_status: "exit code: 0xc0000005", stdout: "" } }] }, ["error", undefined, "native"]],
    [{ items: [{ Json: { exit_status: "3" } }] }, ["error", 3, "native"]],
    [{ items: [{ Json: { exit_status: "exit code: 1", stdout: "" } }] }, ["error", 1, "native"]],
    [{ items: [{ Json: { exit_status: "signal: 9 (SIGKILL)", stdout: "" } }] }, ["error", undefined, "native"]],
    [{ items: [{ Json: { content: [{ type: "text", text: "no" }], isError: true } }] }, ["error", undefined, "native"]],
    [{ items: [{ Json: { content: [], isError: false } }] }, ["success", undefined, "native"]],
    [{ items: [{ Text: '{"success":false} is in this file' }] }, ["success", undefined, "assumed"]],
    [{ items: [{ Text: "" }, { Image: { format: "png" } }] }, ["success", undefined, "assumed"]],
    [{ items: null }, ["success", undefined, "assumed"]],
  ])("%j", (response, expected) => {
    expect(end(response)).toEqual(expected);
  });
});

describe("the session", () => {
  const stop = { hook_event_name: "stop", cwd: "/w" };
  it("comes from the payload, else the environment, else is one per process and folder", () => {
    const env = { KIRO_SESSION_ID: "7150ba7d" };
    expect(firstEvent({ ...stop, session_id: "s" }, { env })?.session_id).toBe("s");
    const inherited = firstEvent(stop, { env });
    expect(inherited?.session_id).toBe("7150ba7d");
    expect(inherited === undefined ? {} : extrasOf(inherited)).toMatchObject({ session_id_origin: "environment" });
    const minted = firstEvent(stop);
    expect(minted === undefined ? {} : extrasOf(minted)).toMatchObject({ session_id_origin: "minted" });
    expect(firstEvent({ ...stop, hook_event_name: "agentSpawn" }, { timeMs: 1 })?.session_id).toBe(minted?.session_id);
    expect(firstEvent(stop, { parentPid: 78 })?.session_id).not.toBe(minted?.session_id);
    expect(firstEvent(stop, { parentStart: "later" })?.session_id).not.toBe(minted?.session_id);
    expect(firstEvent({ ...stop, cwd: "/other" })?.session_id).not.toBe(minted?.session_id);
  });
  it("keeps two equal events separate by their arrival", () => {
    const twice = [
      firstEvent(stop, { hookPid: 1 }),
      firstEvent(stop, { hookPid: 2 }),
      firstEvent(stop, { hookPid: 1 }),
    ];
    expect(new Set(twice.map((event) => event?.id)).size).toBe(2);
  });
});

describe("agent files that v3 runs in addition to its hook files", () => {
  const v3 = {
    session_id: "sess_5e748cf0-2069-4448-b1f7-35a1e42a0003",
    cwd: "/w",
    tool_name: "fs_read",
    tool_input: {},
  };
  it("give no events", () => {
    expect(firstEvent({ ...v3, hook_event_name: "PreToolUse" }, { event: "agent" })).toBeUndefined();
    expect(firstEvent({ ...v3, hook_event_name: "preToolUse" }, { event: "agent" })).toBeUndefined();
    expect(firstEvent({ ...v3, hook_event_name: "PreToolUse" }, {})?.type).toBe("tool.start");
    expect(firstEvent({ ...v3, session_id: "c186a259", hook_event_name: "preToolUse" }, { event: "agent" })?.type).toBe(
      "tool.start",
    );
  });
  it("are recognised even with empty stdin", () => {
    expect(card.recognises({}, intake({ event: "agent" }))).toBe("possible");
    expect(firstEvent({}, { event: "agent" })).toBeUndefined();
  });
});

test("recognises tool names, and the session id in the environment", () => {
  const recognition = (payload: unknown, rest: Partial<IntakeFacts> = {}) => {
    const { source: _, ...unnamed } = intake(rest);
    return card.recognises(payload, unnamed);
  };
  const pre = { hook_event_name: "preToolUse", cwd: "/w", tool_input: {} };
  expect(recognition({ ...pre, tool_name: "use_aws" })).toBe("likely");
  expect(recognition({ ...pre, tool_name: "@git/status" })).toBe("likely");
  expect(recognition({ ...pre, tool_name: "Shell" })).toBe("possible");
  expect(recognition({ ...pre, tool_name: "fs_read", cursor_version: "1" })).toBe("no");
  expect(recognition({ ...pre, tool_name: "fs_read", transcript_path: "/home/dev/.claude/projects/x.jsonl" })).toBe(
    "possible",
  );
  expect(recognition({ hook_event_name: "Stop", session_id: "other" }, { env: { KIRO_SESSION_ID: "mine" } })).toBe(
    "possible",
  );
  expect(recognition({ hook_event_name: "Stop", session_id: "mine" }, { env: { KIRO_SESSION_ID: "mine" } })).toBe(
    "certain",
  );
  expect(recognition({})).toBe("no");
});

// When an agent is chosen within a session; in IDE 1.0.52 before every prompt
test.each([
  ["agentSpawn", "c186a259-e55f-4572-abc7-bd3697cf0001"],
  ["SessionStart", "sess_5e748cf0-2069-4448-b1f7-35a1e42a0001"],
])("%s repeated in the same process starts no new session", (native, session_id) => {
  const spawn = { hook_event_name: native, cwd: "/home/dev/acme", session_id };
  const first = firstEvent(spawn)?.id;
  expect(firstEvent(spawn, { timeMs: Date.UTC(2026, 8, 14, 10) })?.id).toBe(first);
  // Resumed by another process, possibly with a reused process id
  expect(firstEvent(spawn, { parentPid: 78 })?.id).not.toBe(first);
  expect(firstEvent(spawn, { parentStart: "4711" })?.id).not.toBe(first);
});
