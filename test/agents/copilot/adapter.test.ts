import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { exitCodeIn } from "#agents/copilot/adapter.ts";
import copilot from "#agents/copilot/index.ts";
import { ownName } from "#agents/copilot/names.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const ID = "9b5d9f7a-eaf4-4d35-bd6a-85c5ac5f9a3b";
const CHILD = "e38f4c0b-a26d-4421-b014-defd3b5da54e";
const AT_MS = 1795240708171;
const BASE = { sessionId: ID, timestamp: AT_MS, cwd: "/home/dev/acme-shop" };
const SNAKE = { session_id: ID, timestamp: new Date(AT_MS).toISOString(), cwd: "/home/dev/acme-shop" };

const intake = (event?: string, rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "copilot",
  ...(event !== undefined && { event }),
  timeMs: AT_MS + 50,
  env: { HOME: "/home/dev", COPILOT_CLI_BINARY_VERSION: "1.0.102" },
  payloadBytes: 100,
  truncated: false,
  ...rest,
});

function eventOf(event: string | undefined, payload: object, rest: Partial<IntakeFacts> = {}): Event {
  const [first, ...more] = copilot.toEvents(payload, intake(event, rest));
  if (first === undefined || more.length > 0) throw new Error(`${JSON.stringify(payload)} does not give one event`);
  return first;
}
const nothing = (event: string | undefined, payload: object): void =>
  expect(copilot.toEvents(payload, intake(event))).toEqual([]);

describe("camelCase payloads", () => {
  test("a start has the payload's time", () => {
    const event = eventOf("sessionStart", { ...BASE, source: "new", initialPrompt: "hi" });
    expect(event).toMatchObject({ type: "session.start", session_id: ID, time: new Date(AT_MS).toISOString() });
    expect(extrasOf(event)).toMatchObject({ start_origin: "new", agent_version: "1.0.102" });
    expect(extrasOf(event).continues).toBeUndefined();
    const again = eventOf("sessionStart", { ...BASE, source: "resume" });
    expect(extrasOf(again).continues).toBe("same-session");
  });
  test.each([
    ["complete", "completed"],
    ["user_exit", "user_exit"],
    ["abort", "user_exit"],
    ["error", "error"],
    ["timeout", "timeout"],
    ["unknown", "completed"],
    [undefined, "completed"],
  ])("the end reason %s maps to %s", (reason, expected) => {
    const event = eventOf("sessionEnd", { ...BASE, reason });
    expect(event).toMatchObject({ type: "session.end", data: { reason: expected } });
  });
  test("an end has the session file's path, which the payload lacks", () => {
    const path = (env: Record<string, string>, sessionId = ID) =>
      extrasOf(eventOf("sessionEnd", { ...BASE, sessionId, reason: "complete" }, { env })).transcript_path;
    expect(path({ HOME: "/home/dev" })).toBe(`/home/dev/.copilot/session-state/${ID}/events.jsonl`);
    expect(path({ HOME: "/home/dev", COPILOT_HOME: "/data/copilot" })).toBe(
      `/data/copilot/session-state/${ID}/events.jsonl`,
    );
    expect(path({ COPILOT_HOME: "C:\\Users\\dev\\.copilot" })).toBe(
      `C:\\Users\\dev\\.copilot\\session-state\\${ID}\\events.jsonl`,
    );
    expect(path({})).toBeUndefined();
    expect(path({ COPILOT_HOME: "relative" })).toBeUndefined();
    for (const id of ["../../etc", "..", "a/b", "a\\b", ".hidden"])
      expect(path({ HOME: "/home/dev" }, id)).toBeUndefined();
  });
  test("a prompt has a length and no text", () => {
    const event = eventOf("userPromptSubmitted", { ...BASE, prompt: "größe 🛒" });
    expect(event).toMatchObject({ type: "prompt.submit", data: { prompt_length: 8 } });
    expect(JSON.stringify(event)).not.toContain("größe");
    expect(extrasOf(event).prompt_origin).toBe("human");
  });
  test("a prompt in plan mode has the typed length", () => {
    const event = eventOf("userPromptSubmitted", { ...BASE, prompt: "[[PLAN]] größe 🛒" });
    expect(event).toMatchObject({ data: { prompt_length: 8 } });
  });
  test("an autopilot continuation is a machine's prompt", () => {
    const prompt = "You have not yet marked the task as complete using the task_complete tool. Keep working.";
    expect(extrasOf(eventOf("userPromptSubmitted", { ...BASE, prompt })).prompt_origin).toBe("machine");
  });
  test("a background completion notice is a machine's prompt", () => {
    const prompt =
      '<system_notification>\nShell command "x" (shellId: 0) has completed successfully.\n</system_notification>';
    expect(extrasOf(eventOf("userPromptSubmitted", { ...BASE, prompt })).prompt_origin).toBe("machine");
  });
  test("a tool has the same digest for arguments as object or as JSON text", () => {
    const args = { command: "npm test", description: "Run it" };
    const asObject = eventOf("preToolUse", { ...BASE, toolName: "bash", toolArgs: args });
    const asText = eventOf("preToolUse", { ...BASE, toolName: "bash", toolArgs: JSON.stringify(args) });
    const ended = eventOf("postToolUse", { ...BASE, toolName: "bash", toolArgs: args, toolResult: {} });
    expect(asObject).toMatchObject({ type: "tool.start", data: { tool_name: "bash" } });
    expect(asObject.type === "tool.start" && asObject.data?.tool_call_id).toBeFalsy();
    expect(extrasOf(asObject)).toMatchObject({ executable: "npm" });
    expect(extrasOf(asObject).input_digest).toMatch(/^[0-9a-f]{16}$/);
    for (const other of [asText, ended]) expect(extrasOf(other).input_digest).toBe(extrasOf(asObject).input_digest);
    expect(JSON.stringify(asObject)).not.toContain("Run it");
  });
  test("truncated arguments have no digest", () => {
    const cut = eventOf("preToolUse", { ...BASE, toolName: "bash", toolArgs: { command: "x" } }, { truncated: true });
    expect(extrasOf(cut).input_digest).toBeUndefined();
  });
  test.each([
    ["success", "success", undefined],
    ["failure", "error", undefined],
    ["timeout", "error", "timeout"],
  ])("the result type %s maps to %s", (resultType, status, errorType) => {
    const event = eventOf("postToolUse", { ...BASE, toolName: "bash", toolArgs: {}, toolResult: { resultType } });
    expect(event).toMatchObject({ type: "tool.end", data: { status } });
    expect(extrasOf(event).error_type).toBe(errorType);
    expect(extrasOf(event).denied).toBeUndefined();
  });
  test.each(["denied", "rejected"])("a call with the result type %s is denied", (resultType) => {
    const event = eventOf("postToolUse", { ...BASE, toolName: "bash", toolArgs: {}, toolResult: { resultType } });
    expect(extrasOf(event).denied).toBe(true);
  });
  test("a command's exit code is read from its text, and is no failure", () => {
    const toolResult = { resultType: "success", textResultForLlm: "no\n<shellId: 1 completed with exit code 3>" };
    const event = eventOf("postToolUse", { ...BASE, toolName: "bash", toolArgs: { command: "exit 3" }, toolResult });
    expect(event).toMatchObject({ data: { status: "success" } });
    expect(extrasOf(event).exit_code).toBe(3);
    expect(exitCodeIn("<shellId: 1 completed with exit code 3> and more")).toBeUndefined();
    expect(exitCodeIn("<shellId: x completed with exit code -1>\n")).toBe(-1);
    expect(exitCodeIn("exit code 7")).toBeUndefined();
    expect(exitCodeIn(undefined)).toBeUndefined();
  });
  test("a failure has a status, but no error text", () => {
    const event = eventOf("postToolUseFailure", {
      ...BASE,
      toolName: "view",
      toolArgs: {},
      error: "Path /x is missing",
    });
    expect(event).toMatchObject({ type: "tool.end", data: { status: "error" } });
    expect(JSON.stringify(event)).not.toContain("missing");
  });
  test("a recoverable error is a notice, another one ends the turn", () => {
    const error = { message: "busy", name: "Error" };
    const tried = { ...BASE, errorContext: "model_call", recoverable: true, error };
    expect(eventOf("errorOccurred", tried).type).toBe("notice");
    const final = eventOf("errorOccurred", { ...tried, recoverable: false });
    expect(final.type).toBe("turn.error");
    expect(extrasOf(final).error_type).toBe("model_call");
  });
  test("payloads without useful information give no event", () => {
    nothing("notification", { ...BASE, hook_event_name: "Notification", message: "m", notification_type: "x" });
    nothing("permissionRequest", { ...BASE, hookName: "permissionRequest", toolName: "bash", toolInput: {} });
    nothing("preMcpToolCall", { ...BASE, toolName: "shop-stock", toolArgs: {} });
    nothing("someDay", BASE);
  });
  test("an invalid time is replaced by the intake's", () => {
    for (const timestamp of [0, -1, Number.NaN, 1e300, "soon", null, {}]) {
      const event = eventOf("sessionEnd", { ...BASE, timestamp, reason: "complete" });
      expect(event.time).toBe(new Date(AT_MS + 50).toISOString());
    }
  });
  test("a payload without a session, as once documented, gets one per process", () => {
    const { sessionId: _, ...old } = BASE;
    const of = (parentPid: number) => eventOf("sessionEnd", { ...old, reason: "complete" }, { parentPid });
    expect(of(7).session_id).toBe(of(7).session_id);
    expect(of(7).session_id).not.toBe(of(8).session_id);
    expect(extrasOf(of(7)).session_id_origin).toBe("minted");
  });
});

describe("subagents", () => {
  const agent = { agentId: CHILD, agentType: "explore", parentAgentId: ID };
  const own = { ...BASE, sessionId: CHILD, ...agent };
  const path = `/home/dev/.copilot/session-state/${ID}/events.jsonl`;

  test("have their own session and name the parent", () => {
    const event = eventOf("preToolUse", { ...own, toolName: "view", toolArgs: { path: "/x" } });
    expect(event.session_id).toBe(CHILD);
    expect(extrasOf(event)).toMatchObject({ agent_id: CHILD, parent_session_id: ID, agent_type: "explore" });
    expect(extrasOf(event).transcript_path).toBeUndefined();
  });
  test("have the parent whose session file they name, if no parent is given", () => {
    const { parentAgentId: _, ...rest } = own;
    expect(extrasOf(eventOf("agentStop", { ...rest, transcriptPath: path })).parent_session_id).toBe(ID);
  });
  test("have start and stop events from the parent", () => {
    const payload = { ...BASE, ...agent, agentName: "explore", transcriptPath: path };
    for (const [name, type] of [
      ["subagentStart", "subagent.start"],
      ["subagentStop", "subagent.end"],
    ] as const) {
      const event = eventOf(name, payload);
      expect(event).toMatchObject({ type, session_id: ID });
      expect(extrasOf(event)).toMatchObject({ agent_id: CHILD, transcript_path: path });
      expect(extrasOf(event).parent_session_id).toBeUndefined();
    }
  });
  test("started by a subagent have an otherwise unknown id and the root session's file", () => {
    const payload = {
      ...BASE,
      sessionId: "adef9a90",
      agentId: "grandchild",
      parentAgentId: CHILD,
      transcriptPath: path,
    };
    for (const name of ["subagentStart", "subagentStop"]) {
      const event = eventOf(name, { ...payload, agentName: "explore" });
      expect(event.session_id).toBe(ID);
      expect(extrasOf(event)).toMatchObject({ agent_id: "grandchild" });
      expect(extrasOf(event).parent_session_id).toBeUndefined();
    }
  });
  test("have no prompt event for their task, and end no turn", () => {
    nothing("userPromptSubmitted", { ...own, prompt: "look" });
    expect(eventOf("agentStop", { ...own, stopReason: "end_turn" }).type).toBe("subagent.end");
    expect(eventOf("agentStop", { ...BASE, stopReason: "end_turn" }).type).toBe("turn.end");
  });
});

describe("snake_case payloads of hooks with PascalCase names", () => {
  test.each([
    ["Read", { path: "/x" }, "view"],
    ["Bash", { command: "ls" }, "bash"],
    ["Write", { path: "/x", file_text: "" }, "create"],
    ["Edit", { path: "/x", old_str: "a" }, "edit"],
    ["Edit", { command: "view", path: "/x" }, "str_replace_editor"],
    ["Edit", "*** Begin Patch", "apply_patch"],
    ["Agent", { prompt: "p" }, "task"],
    ["Grep", { pattern: "p" }, "grep"],
    ["TodoWrite", { todos: "t" }, "update_todo"],
    ["shop-stock", { sku: "A" }, "shop-stock"],
    ["constructor", { sku: "A" }, "constructor"],
  ])("%s %j is the tool %s", (tool_name, tool_input, name) => {
    const event = eventOf(undefined, { ...SNAKE, hook_event_name: "PreToolUse", tool_name, tool_input });
    expect(event).toMatchObject({ type: "tool.start", data: { tool_name: name } });
  });
  test("on Windows the shell tool is powershell", () => {
    expect(ownName("Bash", { command: "dir" }, "C:\\work")).toBe("powershell");
  });
  test("both forms of a payload give the same event", () => {
    const pairs: [string, object, object][] = [
      [
        "preToolUse",
        { toolName: "view", toolArgs: { path: "/x" } },
        { hook_event_name: "PreToolUse", tool_name: "Read", tool_input: { path: "/x" } },
      ],
      [
        "postToolUse",
        { toolName: "rg", toolArgs: { pattern: "x" }, toolResult: { resultType: "success" } },
        {
          hook_event_name: "PostToolUse",
          tool_name: "Grep",
          tool_input: { pattern: "x" },
          tool_result: { result_type: "success" },
        },
      ],
      ["agentStop", { stopReason: "end_turn" }, { hook_event_name: "Stop", stop_reason: "end_turn" }],
      ["userPromptSubmitted", { prompt: "hi" }, { hook_event_name: "UserPromptSubmit", prompt: "hi" }],
      ["sessionEnd", { reason: "complete" }, { hook_event_name: "SessionEnd", reason: "complete" }],
    ];
    for (const [event, camel, snake] of pairs) {
      expect(eventOf(undefined, { ...SNAKE, ...snake }).id, event).toBe(eventOf(event, { ...BASE, ...camel }).id);
    }
  });
  test("two tools at the same time are two events", () => {
    const start = (toolName: string, path?: string) =>
      eventOf("preToolUse", { ...BASE, toolName, toolArgs: path === undefined ? {} : { path } }).id;
    expect(new Set([start("view", "/a"), start("view", "/b"), start("view"), start("glob")]).size).toBe(4);
  });
});

describe("recognition", () => {
  const of = (payload: object, rest: Partial<IntakeFacts> = {}) => copilot.recognises(payload, intake(undefined, rest));
  const unnamed = { source: "claude-code", env: {} };
  const snake = { ...SNAKE, hook_event_name: "PreToolUse", tool_name: "Read", tool_input: { path: "/x" } };

  test("camelCase is certain, independently of the command line", () => {
    expect(of({ ...BASE, toolName: "bash", toolArgs: "{}" }, unnamed)).toBe("certain");
    expect(of({ ...BASE, reason: "complete" }, unnamed)).toBe("certain");
    expect(of({ ...BASE }, { source: "cline" })).toBe("no");
  });
  test("snake_case depends on its transcript or the environment, and excludes another agent's transcript", () => {
    expect(of({ ...snake, transcript_path: `/c/session-state/${ID}/events.jsonl` }, unnamed)).toBe("certain");
    expect(of(snake, { ...unnamed, env: { COPILOT_CLI: "1" } })).toBe("certain");
    expect(of(snake, unnamed)).toBe("likely");
    const nested = { source: "claude-code", env: { COPILOT_CLI: "1" } };
    expect(of({ ...snake, transcript_path: "/home/dev/.claude/projects/x/s.jsonl" }, nested)).toBe("no");
    expect(of({ ...snake, transcript_path: null }, nested)).toBe("possible");
    expect(of({ ...snake, tool_use_id: "toolu_1" }, nested)).toBe("possible");
  });
  test("other agents' camelCase payloads are not recognised", () => {
    for (const mark of ["clineVersion", "cursor_version", "hookEventName", "openhook", "trajectory_id"])
      expect(of({ ...BASE, toolName: "bash", [mark]: "x" })).toBe("no");
  });
  test("an empty payload needs the command line's agent and event", () => {
    expect(copilot.recognises({}, intake("sessionEnd"))).toBe("possible");
    expect(copilot.recognises({}, intake("session.end"))).toBe("no");
    expect(copilot.recognises({}, intake("sessionEnd", { source: "kiro" }))).toBe("no");
  });
});

test("recorded payloads give the same without an event on the command line, if their shape identifies it", () => {
  let seen = 0;
  for (const name of readdirSync(HERE, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const lines = readFileSync(join(HERE, name.name, "hooks.jsonl"), "utf8")
      .trim()
      .split("\n");
    for (const { event, stdin } of lines.map((line) => JSON.parse(line))) {
      const types = (facts: IntakeFacts) => copilot.toEvents(stdin, facts).map(({ id, type }) => [id, type]);
      expect(types(intake()), event).toEqual(types(intake(event)));
      expect(copilot.recognises(stdin, intake(event))).not.toBe("no");
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(120);
});
