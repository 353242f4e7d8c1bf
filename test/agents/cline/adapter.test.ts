import { describe, expect, it } from "vitest";
import cline from "#agents/cline/index.ts";
import { callResultOf } from "#agents/cline/tool-result.ts";
import { detect } from "#agents/detect.ts";
import { allAgents } from "#agents/registry.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const agents = await allAgents();
const NOW_MS = Date.UTC(2026, 10, 21, 9);
const intake = (env: Record<string, string> = {}): IntakeFacts => ({
  timeMs: NOW_MS,
  env: { HOME: "/home/dev", ...env },
  payloadBytes: 100,
  truncated: false,
});
const payload = (hookName: string, rest: object = {}) => ({
  clineVersion: "",
  timestamp: "2026-11-21T08:59:00.123Z",
  taskId: "conv_1_x",
  sessionContext: { rootSessionId: "1795241132829_gyok9" },
  workspaceRoots: ["/home/dev/acme-shop"],
  userId: "unknown",
  agent_id: "agent_1",
  parent_agent_id: null,
  hookName,
  ...rest,
});
const eventsOf = (value: unknown, facts = intake()) => cline.toEvents(value, facts);
const typesOf = (value: unknown) => eventsOf(value).map((event) => event.type);

describe("recognition", () => {
  it("is certain by the version field, even if empty", () => {
    expect(cline.recognises(payload("agent_start"), intake())).toBe("certain");
    expect(cline.recognises({ clineVersion: "3.40.0", hookName: "TaskStart" }, intake())).toBe("certain");
    expect(cline.recognises({ clineVersion: "3.40.0" }, intake())).toBe("no");
    expect(cline.recognises(null, intake())).toBe("no");
  });
  it.each([[undefined], [null], [3]])("of a payload with version %s depends on the command line", (clineVersion) => {
    const odd = payload("agent_start", { clineVersion });
    expect(detect(agents, odd, { ...intake(), source: "cline" })?.source).toBe("cline");
    expect(detect(agents, odd, intake())).toBeUndefined();
    expect(typesOf(odd)).toEqual(["session.start"]);
  });
});

describe("a run of the main agent", () => {
  it("opens a session, and its end closes turn and session", () => {
    expect(typesOf(payload("agent_start"))).toEqual(["session.start"]);
    expect(typesOf(payload("agent_end"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(payload("agent_error", { error: { name: "Error" } }))).toEqual(["turn.error", "session.end"]);
    expect(typesOf(payload("session_shutdown"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(payload("agent_abort"))).toEqual(["turn.end", "session.end"]);
  });
  it.each([
    ["agent_end", "completed"],
    ["agent_error", "error"],
    ["session_shutdown", "user_exit"],
  ])("%s ends it as %s", (hookName, reason) => {
    expect(eventsOf(payload(hookName)).at(-1)).toMatchObject({ data: { reason } });
  });
  it("has the payload's time and folder, and a transcript below the home", () => {
    const [event] = eventsOf(payload("agent_start"));
    expect(event).toMatchObject({ time: "2026-11-21T08:59:00.123Z", cwd: "/home/dev/acme-shop" });
    expect(extrasOf(event as never)).toMatchObject({ start_origin: "task_start" });
  });
  it.each([
    [{}, "/home/dev/.cline/data/sessions"],
    [{ CLINE_DIR: "/opt/cline" }, "/opt/cline/data/sessions"],
    [{ CLINE_DIR: "/opt/cline", CLINE_DATA_DIR: "/data" }, "/data/sessions"],
    [{ CLINE_DATA_DIR: "/data", CLINE_SESSION_DATA_DIR: " /sessions " }, "/sessions"],
    [{ CLINE_DIR: "  " }, "/home/dev/.cline/data/sessions"],
  ])("with %j has its messages in %s", (env, folder) => {
    const [event] = eventsOf(payload("agent_start"), intake(env));
    const path = `${folder}/1795241132829_gyok9/1795241132829_gyok9.messages.json`;
    expect(event?.extensions?.["transcript_path"]).toBe(path);
  });
  it("with an id that is no file name has no transcript", () => {
    const [event] = eventsOf(payload("agent_start", { sessionContext: { rootSessionId: "../../x" } }));
    expect(event?.extensions).not.toHaveProperty("transcript_path");
  });
  it("that was truncated has a marker", () => {
    expect(cline.toEntries(payload("session_shutdown"), intake())).toMatchObject([
      { kind: "interruption", timeMs: Date.parse("2026-11-21T08:59:00.123Z") },
    ]);
    expect(cline.toEntries(payload("agent_end"), intake())).toEqual([]);
  });
  it("with an unspecific error name has no error type", () => {
    const [error] = eventsOf(payload("agent_error", { error: { name: "Error", message: "secret" } }));
    expect(error?.extensions).toMatchObject({ error_type: "_OTHER" });
    const [named] = eventsOf(payload("agent_error", { error: { name: "RateLimitError" } }));
    expect(named?.extensions).toMatchObject({ error_type: "RateLimitError" });
  });
});

it("of a subagent is a subagent of the root session", () => {
  const of = { parent_agent_id: "agent_0", agent_id: "agent_1", taskId: "conv_2_y" };
  expect(typesOf(payload("agent_start", of))).toEqual(["subagent.start"]);
  expect(typesOf(payload("agent_end", of))).toEqual(["subagent.end"]);
  expect(typesOf(payload("session_shutdown", of))).toEqual(["subagent.end"]);
  const [event] = eventsOf(payload("agent_end", of));
  expect(event).toMatchObject({ session_id: "1795241132829_gyok9", extensions: { agent_id: "agent_1" } });
  expect(eventsOf(payload("agent_end"))[0]?.extensions).not.toHaveProperty("agent_id");
  expect(cline.toEntries(payload("session_shutdown", of), intake())).toMatchObject([{ agentId: "agent_1" }]);
});

describe("tools", () => {
  const call = { id: "call_1", name: "run_commands", input: { commands: ["npm test"] } };
  const ended = (result: object, post: object = { success: true }) =>
    eventsOf(payload("tool_result", { tool_result: { ...call, ...result }, postToolUse: post }))[0];

  it("start with the model's id, and have the time and duration of their end", () => {
    const [start] = eventsOf(payload("tool_call", { tool_call: call }));
    expect(start).toMatchObject({
      type: "tool.start",
      data: { tool_name: "run_commands", tool_call_id: "call_1" },
      extensions: { executable: "npm" },
    });
    expect(start?.extensions).not.toHaveProperty("input_digest");
    const end = ended({ output: [], durationMs: 7, startedAt: "x", endedAt: "2026-11-21T08:58:59.000Z" });
    expect(end).toMatchObject({ time: "2026-11-21T08:58:59.000Z", data: { status: "success", duration_ms: 7 } });
  });
  it("of an MCP server name the server", () => {
    const [start] = eventsOf(payload("tool_call", { tool_call: { ...call, name: "shop__stock" } }));
    expect(start?.extensions).toMatchObject({ mcp_server: "shop" });
  });
  it("reported twice are one; with equal ids in two prompts they are two", () => {
    const one = payload("tool_call", { tool_call: call });
    expect(eventsOf(one)[0]?.id).toBe(eventsOf(structuredClone(one))[0]?.id);
    expect(eventsOf({ ...one, timestamp: "2026-11-21T08:59:30.000Z" })[0]?.id).not.toBe(eventsOf(one)[0]?.id);
  });
  it.each([
    ["a string", "boom", "error"],
    ["an object", { message: "boom" }, "error"],
    ["an object that JSON reduces to {}", {}, "error"],
    ["nothing", null, "success"],
    ["an empty string", "", "success"],
  ])("with an error that is %s: %j", (_, error, status) => {
    expect(ended({ output: [fine], error })).toMatchObject({ data: { status } });
  });
  it("that the user rejected are denied", () => {
    const error = "No -- NOT a tool or system failure. Clarify with user before proceeding.";
    const end = ended({ output: { error }, error: JSON.stringify({ error }) }, { success: false });
    expect(end).toMatchObject({ data: { status: "error" }, extensions: { denied: true } });
  });
});

const failed = (error: string) => ({ query: "q", result: "", error, success: false });
const fine = { query: "q", result: "ok", success: true };
it.each([
  ["success", [fine], false, { status: "success" }],
  ["nothing", undefined, false, { status: "success" }],
  ["a string that looks like JSON", "[x", false, { status: "success" }],
  ["one of two", [fine, failed("ENOENT")], false, { status: "error", errorType: "partial" }],
  ["an exit code", [failed("Command exited with code 3")], false, { status: "error", exitCode: 3 }],
  [
    "two exit codes",
    [failed("Command exited with code 3"), failed("Command exited with code 4")],
    false,
    { status: "error" },
  ],
  ["a timeout", [failed("Command timed out after 30000ms")], false, { status: "error", errorType: "timeout" }],
  ["an abort", [failed("Command failed: Command was aborted")], false, { status: "error", errorType: "interrupted" }],
  [
    "an abort while reading",
    [failed("Error reading file: cli_run_shutdown")],
    false,
    { status: "error", errorType: "interrupted" },
  ],
  ["a server's error", { content: [{ type: "text", text: "no" }], isError: true }, false, { status: "error" }],
  ["the same as JSON text", '{"content":[],"isError":true}', false, { status: "error" }],
  ["a subagent's error", { text: "", finishReason: "error" }, false, { status: "error" }],
  ["an edit", { query: "edit:x", error: "no", success: false }, false, { status: "error" }],
  ["an invalid call", { error: "✖ Invalid input" }, true, { status: "error" }],
  ["a policy denial", { error: 'Tool "editor" is disabled by policy' }, true, { status: "denied" }],
  [
    "output that mentions a policy",
    [{ ...fine, result: 'Tool "x" is disabled by policy' }],
    false,
    { status: "success" },
  ],
])("%s", (_, output, invalid, expected) => {
  expect(callResultOf(output, invalid)).toEqual(expected);
});

describe("the editor's extension, as documented", () => {
  const of = (hookName: string, rest: object = {}) => ({
    clineVersion: "3.40.0",
    hookName,
    timestamp: "1795251600123",
    taskId: "1795251600000",
    workspaceRoots: ["c:\\Users\\dev\\acme-shop"],
    userId: "u",
    model: { provider: "anthropic", slug: "claude-sonnet-4-5" },
    ...rest,
  });
  it("uses the task as session, without a transcript", () => {
    const [event] = eventsOf(of("TaskStart", { taskStart: { taskMetadata: { initialTask: "secret" } } }));
    expect(event).toMatchObject({
      type: "session.start",
      session_id: "1795251600000",
      cwd: "c:\\Users\\dev\\acme-shop",
      time: new Date(1_795_251_600_123).toISOString(),
      data: { model: "claude-sonnet-4-5" },
      extensions: { agent_version: "3.40.0" },
    });
    expect(event?.extensions).not.toHaveProperty("transcript_path");
    expect(eventsOf(of("TaskResume"))[0]?.extensions).toMatchObject({
      continues: "same-session",
      start_origin: "resume",
    });
  });
  it("has no call ids: start and end share an input digest", () => {
    const tool = { toolName: "execute_command", parameters: { command: "git status" } };
    const [start] = eventsOf(of("PreToolUse", { preToolUse: tool }));
    const [end] = eventsOf(
      of("PostToolUse", { postToolUse: { ...tool, success: false, executionTimeMs: 12, result: "x" } }),
    );
    expect(start?.extensions).toMatchObject({ executable: "git" });
    expect(end).toMatchObject({ data: { status: "error", duration_ms: 12, tool_name: "execute_command" } });
    expect(end?.extensions?.["input_digest"]).toBe(start?.extensions?.["input_digest"]);
  });
  it.each([
    ["true", { success: true }, "success"],
    ["false", { success: false }, "error"],
    ["absent, as proto3 omits false", {}, "error"],
  ])("reports a failed call by its success field: %s", (_, success, status) => {
    const ended = { toolName: "read_file", parameters: { path: "a" }, result: "x", executionTimeMs: "3", ...success };
    expect(eventsOf(of("PostToolUse", { postToolUse: ended }))[0]).toMatchObject({ data: { status } });
  });
  it("reports prompts, ends and compactions", () => {
    expect(eventsOf(of("UserPromptSubmit", { userPromptSubmit: { prompt: "hello" } }))[0]).toMatchObject({
      data: { prompt_length: 5 },
    });
    expect(typesOf(of("TaskComplete"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(of("TaskCancel"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(of("PreCompact"))).toEqual(["compaction"]);
    expect(typesOf(of("Notification"))).toEqual([]);
  });
});
