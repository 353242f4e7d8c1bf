import { describe, expect, test } from "vitest";
import vscode from "#agents/copilot-vscode/index.ts";
import { detect } from "#agents/detect.ts";
import { allAgents } from "#agents/registry.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

// Made from documentation: https://code.visualstudio.com/docs/agents/reference/hooks-reference, read 2026-11-21
const STORAGE = "/home/dev/.config/Code/User/workspaceStorage/4f2a/GitHub.copilot-chat/transcripts/s1.jsonl";
const BASE = {
  timestamp: "2026-09-14T09:00:00.000Z",
  cwd: "/home/dev/acme-shop",
  session_id: "s1",
  transcript_path: STORAGE,
};
const TOOL = { tool_name: "editFiles", tool_input: { files: ["src/main.ts"] }, tool_use_id: "tool-123" };

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "copilot",
  timeMs: Date.parse("2026-09-14T09:00:01Z"),
  env: {},
  payloadBytes: 100,
  truncated: false,
  ...rest,
});
const eventOf = (payload: object, rest: Partial<IntakeFacts> = {}) => {
  const [event] = vscode.toEvents(payload, intake(rest));
  if (event === undefined) throw new Error("no event");
  return event;
};

describe("events", () => {
  test.each([
    ["SessionStart", { source: "new" }, "session.start"],
    ["UserPromptSubmit", { prompt: "hi" }, "prompt.submit"],
    ["PreToolUse", TOOL, "tool.start"],
    ["PostToolUse", { ...TOOL, tool_response: "File edited" }, "tool.end"],
    ["PreCompact", { trigger: "auto" }, "compaction"],
    ["SubagentStart", { agent_id: "sub-1", agent_type: "Plan" }, "subagent.start"],
    ["SubagentStop", { agent_id: "sub-1", agent_type: "Plan" }, "subagent.end"],
    ["Stop", { stop_hook_active: false }, "turn.end"],
  ])("%s", (hook_event_name, fields, type) => {
    const event = eventOf({ ...BASE, hook_event_name, ...fields });
    expect(event).toMatchObject({ source: "copilot-vscode", type, session_id: "s1", time: BASE.timestamp });
    // Hooks registered for Copilot CLI and for Claude Code get the same payload
    expect(eventOf({ ...BASE, hook_event_name, ...fields }, { source: "claude-code", timeMs: 1 }).id).toBe(event.id);
  });
  test("a call has VS Code's id, and its result no text", () => {
    const start = eventOf({ ...BASE, hook_event_name: "PreToolUse", ...TOOL });
    const end = eventOf({ ...BASE, hook_event_name: "PostToolUse", ...TOOL, tool_response: "secret" });
    expect(start).toMatchObject({ data: { tool_name: "editFiles", tool_call_id: "tool-123" } });
    expect(end).toMatchObject({ data: { tool_call_id: "tool-123", status: "success" } });
    expect(extrasOf(end).status_origin).toBe("assumed");
    expect(JSON.stringify([start, end])).not.toMatch(/secret|main\.ts/);
  });
  test("accepts hookEventName and sessionId of older builds", () => {
    const { session_id: sessionId, ...rest } = BASE;
    expect(eventOf({ ...rest, sessionId, hookEventName: "Stop" })).toMatchObject({
      type: "turn.end",
      session_id: "s1",
    });
  });
  test("two prompts with the same text are two, by time", () => {
    const prompt = (timestamp: string) =>
      eventOf({ ...BASE, timestamp, hook_event_name: "UserPromptSubmit", prompt: "go" });
    expect(prompt("2026-09-14T09:00:00.000Z").id).not.toBe(prompt("2026-09-14T09:00:00.001Z").id);
  });
  test("a subagent's task is a machine's prompt", () => {
    const { transcript_path: _, ...rest } = BASE;
    const task = eventOf({ ...rest, hook_event_name: "UserPromptSubmit", prompt: "Return nothing" });
    expect(extrasOf(task).prompt_origin).toBe("machine");
    expect(
      extrasOf(eventOf({ ...BASE, hook_event_name: "UserPromptSubmit", prompt: "hi" })).prompt_origin,
    ).toBeUndefined();
  });
  test("events that VS Code does not send give nothing", () => {
    expect(vscode.toEvents({ ...BASE, hook_event_name: "SessionEnd" }, intake())).toEqual([]);
    expect(vscode.toEvents({ ...BASE, hook_event_name: "toString" }, intake())).toEqual([]);
  });
});

describe("detection", async () => {
  const agents = await allAgents();
  const sourceOf = (payload: object, source?: string) => {
    const { source: _, ...unnamed } = intake();
    return detect(agents, payload, source === undefined ? unnamed : { ...unnamed, source })?.source;
  };
  const names = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop"];

  test.each(names)("recognises %s through a hook of Copilot CLI or Claude Code", (hook_event_name) => {
    const fields = hook_event_name.endsWith("ToolUse") ? TOOL : {};
    for (const transcript_path of [STORAGE, null]) {
      const payload = { ...BASE, transcript_path, hook_event_name, ...fields };
      for (const source of ["copilot", "claude-code", undefined])
        expect(sourceOf(payload, source), source).toBe("copilot-vscode");
    }
  });
  // As recorded in https://github.com/microsoft/vscode/issues/300583
  test.each([
    ["SubagentStart", { agent_id: "call_7", agent_type: "Magic" }],
    ["UserPromptSubmit", { prompt: "Return nothing" }],
    ["PreToolUse", { tool_name: "mcp_github_list_issues", tool_input: {}, tool_use_id: "call_8" }],
    ["SubagentStop", { agent_id: "call_7", agent_type: "Magic", stop_hook_active: false }],
  ])("recognises %s of a subagent, which has no transcript", (hook_event_name, fields) => {
    const { transcript_path: _, session_id, ...rest } = BASE;
    for (const source of ["copilot", "claude-code"]) {
      expect(sourceOf({ ...rest, session_id, hook_event_name, ...fields }, source), source).toBe("copilot-vscode");
      const older = { ...rest, sessionId: session_id, hookEventName: hook_event_name, ...fields };
      expect(sourceOf(older, source), source).toBe("copilot-vscode");
      const inCli = { ...intake(), source, env: { COPILOT_CLI: "1" } };
      const { tool_use_id: __, ...uncalled }: Record<string, unknown> = fields;
      const ofCli = { ...rest, session_id, hook_event_name, ...uncalled };
      expect(detect(agents, ofCli, inCli)?.source, source).toBe("copilot");
    }
  });
  test("recognises a tool call by VS Code's form of id", () => {
    const { transcript_path: _, ...rest } = BASE;
    const payload = { ...rest, hook_event_name: "PreToolUse", tool_name: "mcp_x", tool_use_id: "call_1__vscode-17" };
    expect(sourceOf(payload)).toBe("copilot-vscode");
  });
  test("recognises an older build's payload, through a hook of Copilot CLI", () => {
    const { session_id: sessionId, ...rest } = BASE;
    expect(sourceOf({ ...rest, transcript_path: "/t.json", sessionId, hookEventName: "Stop" }, "copilot")).toBe(
      "copilot-vscode",
    );
  });
  test("does not recognise Claude Code's own payload, with or without a transcript", () => {
    const { timestamp: _, ...untimed } = BASE;
    const payload = { ...untimed, hook_event_name: "PreToolUse", ...TOOL, tool_name: "Edit" };
    expect(sourceOf({ ...payload, transcript_path: null }, "claude-code")).toBe("claude-code");
    const path = "/home/dev/.claude/projects/x/s1.jsonl";
    expect(sourceOf({ ...BASE, transcript_path: path, hook_event_name: "Stop" }, "claude-code")).toBe("claude-code");
  });
  test("does not recognise a payload of another agent runtime inside VS Code", () => {
    const path = "/home/dev/.codex/sessions/x.jsonl";
    expect(sourceOf({ ...BASE, transcript_path: path, hook_event_name: "Stop" }, "codex")).not.toBe("copilot-vscode");
  });
});
