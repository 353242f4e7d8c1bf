import { describe, expect, it } from "vitest";
import cline from "../../../src/agents/cline/index.ts";
import { callResultOf } from "../../../src/agents/cline/tool-result.ts";
import { detect } from "../../../src/agents/detect.ts";
import { allAgents } from "../../../src/agents/registry.ts";
import type { IntakeFacts } from "../../../src/model/agent.ts";
import { extrasOf } from "../../../src/model/event.ts";

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
const told = (value: unknown, facts = intake()) => cline.toEvents(value, facts);
const typesOf = (value: unknown) => told(value).map((event) => event.type);

describe("recognition", () => {
  it("is the version, be it empty", () => {
    expect(cline.recognises(payload("agent_start"))).toBe("certain");
    expect(cline.recognises({ clineVersion: "3.40.0", hookName: "TaskStart" })).toBe("certain");
    expect(cline.recognises({ clineVersion: "3.40.0" })).toBe("no");
    expect(cline.recognises(null)).toBe("no");
  });
  it.each([[undefined], [null], [3]])(
    "of a payload whose version is %s takes the command line's word",
    (clineVersion) => {
      const odd = payload("agent_start", { clineVersion });
      expect(detect(agents, odd, { ...intake(), source: "cline" })?.source).toBe("cline");
      expect(detect(agents, odd, intake())).toBeUndefined();
      expect(typesOf(odd)).toEqual(["session.start"]);
    },
  );
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
    expect(told(payload(hookName)).at(-1)).toMatchObject({ data: { reason } });
  });
  it("has the payload's own time, folder and a transcript below the home", () => {
    const [event] = told(payload("agent_start"));
    expect(event).toMatchObject({ time: "2026-11-21T08:59:00.123Z", cwd: "/home/dev/acme-shop" });
    expect(extrasOf(event as never)).toMatchObject({ start_origin: "task_start" });
  });
  it.each([
    [{}, "/home/dev/.cline/data/sessions"],
    [{ CLINE_DIR: "/opt/cline" }, "/opt/cline/data/sessions"],
    [{ CLINE_DIR: "/opt/cline", CLINE_DATA_DIR: "/data" }, "/data/sessions"],
    [{ CLINE_DATA_DIR: "/data", CLINE_SESSION_DATA_DIR: " /sessions " }, "/sessions"],
    [{ CLINE_DIR: "  " }, "/home/dev/.cline/data/sessions"],
  ])("%j keeps its messages in %s", (env, folder) => {
    const [event] = told(payload("agent_start"), intake(env));
    const path = `${folder}/1795241132829_gyok9/1795241132829_gyok9.messages.json`;
    expect(event?.extensions?.["transcript_path"]).toBe(path);
  });
  it("with an id that is no file's name has no transcript", () => {
    const [event] = told(payload("agent_start", { sessionContext: { rootSessionId: "../../x" } }));
    expect(event?.extensions).not.toHaveProperty("transcript_path");
  });
  it("that was cut off says so", () => {
    expect(cline.toEntries(payload("session_shutdown"), intake())).toMatchObject([
      { kind: "interruption", timeMs: Date.parse("2026-11-21T08:59:00.123Z") },
    ]);
    expect(cline.toEntries(payload("agent_end"), intake())).toEqual([]);
  });
  it("of a name that says nothing is of no kind", () => {
    const [error] = told(payload("agent_error", { error: { name: "Error", message: "secret" } }));
    expect(error?.extensions).toMatchObject({ error_type: "_OTHER" });
    const [named] = told(payload("agent_error", { error: { name: "RateLimitError" } }));
    expect(named?.extensions).toMatchObject({ error_type: "RateLimitError" });
  });
});

it("a subagent's run is a subagent of the root session", () => {
  const of = { parent_agent_id: "agent_0", agent_id: "agent_1", taskId: "conv_2_y" };
  expect(typesOf(payload("agent_start", of))).toEqual(["subagent.start"]);
  expect(typesOf(payload("agent_end", of))).toEqual(["subagent.end"]);
  expect(typesOf(payload("session_shutdown", of))).toEqual(["subagent.end"]);
  const [event] = told(payload("agent_end", of));
  expect(event).toMatchObject({ session_id: "1795241132829_gyok9", extensions: { agent_id: "agent_1" } });
  expect(told(payload("agent_end"))[0]?.extensions).not.toHaveProperty("agent_id");
  expect(cline.toEntries(payload("session_shutdown", of), intake())).toMatchObject([{ agentId: "agent_1" }]);
});

describe("tools", () => {
  const call = { id: "call_1", name: "run_commands", input: { commands: ["npm test"] } };
  const ended = (result: object, post: object = { success: true }) =>
    told(payload("tool_result", { tool_result: { ...call, ...result }, postToolUse: post }))[0];

  it("start with the model's id, and end when they ended", () => {
    const [start] = told(payload("tool_call", { tool_call: call }));
    expect(start).toMatchObject({
      type: "tool.start",
      data: { tool_name: "run_commands", tool_call_id: "call_1" },
      extensions: { executable: "npm" },
    });
    expect(start?.extensions).not.toHaveProperty("input_digest");
    const end = ended({ output: [], durationMs: 7, startedAt: "x", endedAt: "2026-11-21T08:58:59.000Z" });
    expect(end).toMatchObject({ time: "2026-11-21T08:58:59.000Z", data: { status: "success", duration_ms: 7 } });
  });
  it("of a server name it", () => {
    const [start] = told(payload("tool_call", { tool_call: { ...call, name: "shop__stock" } }));
    expect(start?.extensions).toMatchObject({ mcp_server: "shop" });
  });
  it("told twice are one, and of two prompts are two although their ids are equal", () => {
    const one = payload("tool_call", { tool_call: call });
    expect(told(one)[0]?.id).toBe(told(structuredClone(one))[0]?.id);
    expect(told({ ...one, timestamp: "2026-11-21T08:59:30.000Z" })[0]?.id).not.toBe(told(one)[0]?.id);
  });
  it.each([
    ["a text", "boom", "error"],
    ["an object", { message: "boom" }, "error"],
    ["an object of which JSON keeps nothing", {}, "error"],
    ["nothing", null, "success"],
    ["an empty text", "", "success"],
  ])("fail where their error is %s: %j", (_, error, status) => {
    expect(ended({ output: [fine], error })).toMatchObject({ data: { status } });
  });
  it("that were refused are denied", () => {
    const error = "No -- NOT a tool or system failure. Clarify with user before proceeding.";
    const end = ended({ output: { error }, error: JSON.stringify({ error }) }, { success: false });
    expect(end).toMatchObject({ data: { status: "error" }, extensions: { denied: true } });
  });
});

const failed = (error: string) => ({ query: "q", result: "", error, success: false });
const fine = { query: "q", result: "ok", success: true };
it.each([
  ["all well", [fine], false, { status: "success" }],
  ["nothing", undefined, false, { status: "success" }],
  ["a text that looks like JSON", "[x", false, { status: "success" }],
  ["one of two", [fine, failed("ENOENT")], false, { status: "error", errorType: "partial" }],
  ["an exit code", [failed("Command exited with code 3")], false, { status: "error", exitCode: 3 }],
  [
    "two exit codes",
    [failed("Command exited with code 3"), failed("Command exited with code 4")],
    false,
    { status: "error" },
  ],
  ["too long", [failed("Command timed out after 30000ms")], false, { status: "error", errorType: "timeout" }],
  ["cut off", [failed("Command failed: Command was aborted")], false, { status: "error", errorType: "interrupted" }],
  [
    "cut off while reading",
    [failed("Error reading file: cli_run_shutdown")],
    false,
    { status: "error", errorType: "interrupted" },
  ],
  ["a server's error", { content: [{ type: "text", text: "no" }], isError: true }, false, { status: "error" }],
  ["the same as it is written down", '{"content":[],"isError":true}', false, { status: "error" }],
  ["a subagent's error", { text: "", finishReason: "error" }, false, { status: "error" }],
  ["an edit", { query: "edit:x", error: "no", success: false }, false, { status: "error" }],
  ["an invalid call", { error: "✖ Invalid input" }, true, { status: "error" }],
  ["a policy", { error: 'Tool "editor" is disabled by policy' }, true, { status: "denied" }],
  [
    "output that speaks of a policy",
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
  it("has its task for a session and no transcript that we read", () => {
    const [event] = told(of("TaskStart", { taskStart: { taskMetadata: { initialTask: "secret" } } }));
    expect(event).toMatchObject({
      type: "session.start",
      session_id: "1795251600000",
      cwd: "c:\\Users\\dev\\acme-shop",
      time: new Date(1_795_251_600_123).toISOString(),
      data: { model: "claude-sonnet-4-5" },
      extensions: { agent_version: "3.40.0" },
    });
    expect(event?.extensions).not.toHaveProperty("transcript_path");
    expect(told(of("TaskResume"))[0]?.extensions).toMatchObject({ continues: "same-session", start_origin: "resume" });
  });
  it("gives its calls no ids: start and end have the same input", () => {
    const tool = { toolName: "execute_command", parameters: { command: "git status" } };
    const [start] = told(of("PreToolUse", { preToolUse: tool }));
    const [end] = told(
      of("PostToolUse", { postToolUse: { ...tool, success: false, executionTimeMs: 12, result: "x" } }),
    );
    expect(start?.extensions).toMatchObject({ executable: "git" });
    expect(end).toMatchObject({ data: { status: "error", duration_ms: 12, tool_name: "execute_command" } });
    expect(end?.extensions?.["input_digest"]).toBe(start?.extensions?.["input_digest"]);
  });
  it.each([
    ["true", { success: true }, "success"],
    ["false", { success: false }, "error"],
    ["left out, as proto3 does with what is false", {}, "error"],
  ])("says whether a call failed: success is %s", (_, said, status) => {
    const ended = { toolName: "read_file", parameters: { path: "a" }, result: "x", executionTimeMs: "3", ...said };
    expect(told(of("PostToolUse", { postToolUse: ended }))[0]).toMatchObject({ data: { status } });
  });
  it("tells prompts, ends and compactions", () => {
    expect(told(of("UserPromptSubmit", { userPromptSubmit: { prompt: "hello" } }))[0]).toMatchObject({
      data: { prompt_length: 5 },
    });
    expect(typesOf(of("TaskComplete"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(of("TaskCancel"))).toEqual(["turn.end", "session.end"]);
    expect(typesOf(of("PreCompact"))).toEqual(["compaction"]);
    expect(typesOf(of("Notification"))).toEqual([]);
  });
});
