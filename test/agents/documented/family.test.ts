import { describe, expect, it, test } from "vitest";
import { detect } from "#agents/detect.ts";
import { allAgents, findAgent } from "#agents/registry.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { assignCallIds } from "#core/session/assign-call-ids.ts";

// Agents known only from documentation: recognised and converted.

const agents = await allAgents();
const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 8, 14, 9),
  env: {},
  parentPid: 77,
  hookPid: 1,
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
/** The events of a payload after detection. */
const eventsOf = (payload: unknown, rest: Partial<IntakeFacts> = {}): readonly Event[] => {
  const facts = intake(rest);
  return detect(agents, payload, facts)?.toEvents(payload, facts) ?? [];
};
const only = (payload: unknown, rest: Partial<IntakeFacts> = {}) => eventsOf(payload, rest)[0];
const extras = (event: Event | undefined) => (event === undefined ? undefined : extrasOf(event));

describe("agents with Claude Code's payload shape", () => {
  const base = { session_id: "s1", cwd: "/home/dev/acme-shop" };
  it("pairs calls without ids by their input", () => {
    const kimi = (hook_event_name: string, command: string, hookPid: number) =>
      eventsOf(
        { ...base, client_type: "kimi_code_cli", hook_event_name, tool_name: "Shell", tool_input: { command } },
        { hookPid, timeMs: hookPid },
      );
    const events = assignCallIds([
      ...kimi("PreToolUse", "a", 1),
      ...kimi("PreToolUse", "b", 2),
      ...kimi("PostToolUse", "b", 3),
    ]);
    const ids = events.map((e) =>
      e.type === "tool.start" || e.type === "tool.end" ? e.data?.tool_call_id : undefined,
    );
    expect(ids[2]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[1]);
  });
});

test("Goose: a denied call ends as an error, an allowed one ends later", () => {
  const base = { session_id: "g1", working_dir: "/w", tool_name: "developer__shell", tool_call_id: "call_1" };
  expect(only({ ...base, event: "PreToolUse" })).toMatchObject({ source: "goose", type: "tool.start", cwd: "/w" });
  expect(eventsOf({ ...base, event: "PreToolUseResult", decision: "allow" })).toEqual([]);
  const denied = only({ ...base, event: "PreToolUseResult", decision: "deny" });
  expect(denied).toMatchObject({ type: "tool.end", data: { status: "error", tool_call_id: "call_1" } });
  expect(extras(denied)).toMatchObject({ denied: true, status_origin: "native" });
  expect(only({ ...base, event: "UserPromptSubmit", message: "hi" })).toMatchObject({ data: { prompt_length: 2 } });
  expect(eventsOf({ ...base, event: "AfterShellExecution" })).toEqual([]);
});

test("Crush: its variable is certain, and gives the session if the payload has none", () => {
  const env = { CRUSH: "1", CRUSH_SESSION_ID: "313909e" };
  const pre = { event: "PreToolUse", cwd: "/w", tool_name: "bash", tool_input: { command: "ls" } };
  const start = only(pre, { env });
  expect(start).toMatchObject({ source: "crush", session_id: "313909e", type: "tool.start" });
  expect(extras(start)).toMatchObject({ session_id_origin: "environment", executable: "ls" });
  expect(only({ event: "TurnEnd", cwd: "/w", session_id: "s" }, { env })?.type).toBe("turn.end");
  expect(eventsOf(pre)).toEqual([]);
  expect(only(pre, { source: "crush" })?.source).toBe("crush");
});

test("Grok: is recognised under other agents' names too", () => {
  const stop = { hookEventName: "stop", sessionId: "g1", cwd: "/w" };
  for (const source of [undefined, "cursor", "claude-code", "grok"]) {
    expect(only(stop, source === undefined ? {} : { source }), source).toMatchObject({
      source: "grok",
      type: "turn.end",
    });
  }
  expect(only({ ...stop, hookEventName: "beforeSubmitPrompt", prompt: "hi" })?.type).toBe("prompt.submit");
  expect(only({ ...stop, timestamp: 1767225600000 })?.source).not.toBe("grok");
});

describe("Windsurf", () => {
  const base = { trajectory_id: "t1", execution_id: "e1", timestamp: "2026-01-29T10:00:00Z", model_name: "swe-1" };
  const act = (agent_action_name: string, tool_info: Record<string, unknown>, timestamp = base.timestamp) =>
    eventsOf({ ...base, agent_action_name, tool_info, timestamp });
  it("uses the payload's times, pairs by shared fields, and has no failures", () => {
    const run = { command_line: "npm test", cwd: "/w" };
    const events = assignCallIds([
      ...act("pre_run_command", run),
      ...act("post_run_command", { ...run, output: "ok" }, "2026-01-29T10:00:02Z"),
    ]);
    expect(events).toMatchObject([
      { type: "tool.start", time: "2026-01-29T10:00:00.000Z", data: { tool_name: "run_command" } },
      { type: "tool.end", time: "2026-01-29T10:00:02.000Z", data: { status: "success" } },
    ]);
    const ids = events.map((e) =>
      e.type === "tool.start" || e.type === "tool.end" ? e.data?.tool_call_id : undefined,
    );
    expect(ids[0]).toBe(ids[1]);
    expect(act("pre_run_command", run)).toEqual(act("pre_run_command", run));
  });
  it("names MCP tools by server and tool", () => {
    const [start] = act("pre_mcp_tool_use", {
      mcp_server_name: "git",
      mcp_tool_name: "status",
      mcp_tool_arguments: {},
    });
    expect(start).toMatchObject({ data: { tool_name: "mcp:git/status" } });
    expect(extras(start)).toMatchObject({ mcp_server: "git" });
  });
  it("ends a turn with the answer", () => {
    expect(act("pre_user_prompt", { user_prompt: "hello" })).toMatchObject([{ data: { prompt_length: 5 } }]);
    expect(act("post_cascade_response", { response: "x" }).map((e) => e.type)).toEqual(["turn.end"]);
    expect(act("post_setup_worktree", {})).toEqual([]);
  });
});

describe("Antigravity", () => {
  const call = {
    conversationId: "c1",
    stepIdx: 3,
    toolCall: { name: "run_command", args: { CommandLine: "npm test" } },
  };
  it("pairs by step if the command line names the event", () => {
    const [start, end] = ["PreToolUse", "PostToolUse"].map((event) => only(call, { event }));
    expect(start).toMatchObject({ type: "tool.start", data: { tool_call_id: "step-3", tool_name: "run_command" } });
    expect(end).toMatchObject({ type: "tool.end", data: { tool_call_id: "step-3", status: "success" } });
  });
  it("is an end without a status if nothing names the event", () => {
    const [event] = eventsOf(call);
    expect(event).toMatchObject({ type: "tool.end" });
    expect(event).not.toHaveProperty("data.status");
  });
  it("reports model calls and turn ends", () => {
    const loop = { conversationId: "c1", invocationNum: 1, workspacePaths: ["/home/dev/acme-shop"] };
    expect(only(loop, { event: "PreInvocation" })).toMatchObject({ type: "model.start", cwd: "/home/dev/acme-shop" });
    expect(only({ conversationId: "c1", fullyIdle: true }, { event: "Stop" })?.type).toBe("turn.end");
    expect(eventsOf(loop)).toEqual([]);
  });
});

test("events have no prompt, argument or output", async () => {
  const secret = "hunter2 and more";
  const input = { command: `echo ${secret}`, path: secret };
  for (const source of [
    "qwen-code",
    "droid",
    "kimi",
    "goose",
    "crush",
    "grok",
    "windsurf",
    "antigravity",
    "kiro",
    "hook-contract",
  ]) {
    const card = await findAgent(source);
    for (const event of [
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "Stop",
      "StopFailure",
      "SessionEnd",
      "SubagentStop",
    ]) {
      const payload = {
        ...{ hook_event_name: event, event, session_id: "s", trajectory_id: "t", conversationId: "c", agent: "a" },
        ...{ agent_action_name: "post_run_command", tool_info: { command_line: input.command, output: secret } },
        ...{ tool_name: "Shell", tool_input: input, toolCall: { name: "x", args: { CommandLine: input.command } } },
        ...{ prompt: secret, message: secret, tool_response: secret, response: secret, result: secret, task: secret },
        ...{ transcript: secret, error: secret, reason: secret, assistant_response: secret },
      };
      expect(
        JSON.stringify(card?.toEvents(payload, intake({ source, event })) ?? []),
        `${source} ${event}`,
      ).not.toContain(secret);
    }
  }
});
