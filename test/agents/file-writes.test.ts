import { describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { adapt } from "#collect/payload/adapt.ts";
import { isEnvelope } from "#core/rules/event.ts";

const agents = await allAgents();
const BASE = { timeMs: Date.UTC(2026, 8, 14, 9), env: {}, payloadBytes: 2, truncated: false };

/** `data` and line counts of the `file.write` events of one payload. */
function writesOf(source: string, payload: unknown, event?: string) {
  const adapted = adapt(agents, payload, { ...BASE, source, ...(event !== undefined && { event }) });
  if (adapted.outcome === "refused") throw new Error(adapted.reason);
  return adapted.events.flatMap((one) =>
    isEnvelope(one) && one.type === "file.write"
      ? [{ ...one.data, added: one.extensions?.["lines_added"], removed: one.extensions?.["lines_removed"] }]
      : [],
  );
}

const claude = (tool_name: string, tool_input: object, tool_response: object) => ({
  session_id: "s",
  transcript_path: "/home/dev/.claude/projects/p/s.jsonl",
  cwd: "/home/dev/shop",
  hook_event_name: "PostToolUse",
  tool_use_id: "toolu_1",
  tool_name,
  tool_input,
  tool_response,
});
const codex = (command: string, tool_response: string) => ({
  session_id: "s",
  turn_id: "t",
  transcript_path: "/home/dev/.codex/sessions/r.jsonl",
  cwd: "/home/dev/shop",
  hook_event_name: "PostToolUse",
  tool_name: "apply_patch",
  tool_input: { command },
  tool_response,
  tool_use_id: "call_1",
});
const gemini = (tool_name: string, returnDisplay: unknown, error?: object) => ({
  session_id: "s",
  transcript_path: "/home/dev/.gemini/tmp/p/chats/s.json",
  cwd: "/home/dev/shop",
  hook_event_name: "AfterTool",
  timestamp: "2026-09-14T09:00:00.000Z",
  tool_name,
  tool_input: { file_path: "src/x.ts" },
  tool_response: { llmContent: "done", returnDisplay, ...(error !== undefined && { error }) },
});
const copilot = (toolName: string, toolArgs: unknown) => ({
  sessionId: "s",
  timestamp: BASE.timeMs,
  cwd: "/home/dev/shop",
  toolName,
  toolArgs,
  toolResult: { resultType: "success", textResultForLlm: "ok" },
});
const cline = (name: string, input: object, success = true) => ({
  clineVersion: "3",
  timestamp: "2026-09-14T09:00:00.000Z",
  taskId: "s",
  sessionContext: { rootSessionId: "s" },
  workspaceRoots: ["/home/dev/shop"],
  hookName: "tool_result",
  tool_result: { id: "call_1", name, input, output: { result: "", success } },
});
const opencode = (tool: string, args: object, metadata: object) => ({
  input: { tool, sessionID: "ses_1", callID: "call_1", args },
  output: { title: "", output: "", metadata },
  directory: "/home/dev/shop",
});

const HUNK = { oldStart: 1, oldLines: 2, newStart: 1, newLines: 3, lines: [" a", "-b", "+B", "+c"] };
const PATCH = "*** Begin Patch\n*** Update File: src/x.ts\n@@\n-a\n+b\n+c\n*** End Patch\n";
const DIFF = "--- x\n+++ x\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n";
const X = "/home/dev/shop/src/x.ts";
const LINES_2_3 = { start_line: 2, end_line: 3, added: 2, removed: 1 };
const NEW = { start_line: 1, end_line: 2, added: 2, removed: 0 };
const UNKNOWN = { added: undefined, removed: undefined };

describe("an agent's edit becomes file.write", () => {
  test.each<[string, string, unknown, readonly object[], string?]>([
    [
      "Claude Code, Edit",
      "claude-code",
      claude("Edit", { file_path: X }, { filePath: X, structuredPatch: [HUNK] }),
      [{ path: X, operation: "update", tool_call_id: "toolu_1", ...LINES_2_3 }],
    ],
    [
      "Claude Code, a new file",
      "claude-code",
      claude("Write", {}, { type: "create", filePath: X, content: "a\nb\n", structuredPatch: [] }),
      [{ path: X, operation: "create", tool_call_id: "toolu_1", ...NEW }],
    ],
    [
      "Claude Code, a notebook",
      "claude-code",
      claude("NotebookEdit", { notebook_path: X }, { notebook_path: X, new_source: "x" }),
      [{ path: X, operation: "update", tool_call_id: "toolu_1", ...UNKNOWN }],
    ],
    [
      "Claude Code, a result without a patch",
      "claude-code",
      claude("Write", { file_path: X }, {}),
      [{ path: X, tool_call_id: "toolu_1", ...UNKNOWN }],
    ],
    ["Claude Code, another tool", "claude-code", claude("Read", { file_path: X }, { filePath: X }), []],
    [
      "Codex, a patch",
      "codex",
      codex(PATCH, "Exit code: 0\nOutput:\nSuccess."),
      [{ path: X, operation: "update", tool_call_id: "call_1", added: 2, removed: 1 }],
    ],
    ["Codex, a patch that failed", "codex", codex(PATCH, "Exit code: 1\nWall time: 0 seconds\nOutput:\nfailed"), []],
    [
      "Gemini CLI",
      "gemini-cli",
      gemini("replace", { filePath: X, isNewFile: false, fileDiff: DIFF }),
      [expect.objectContaining({ path: X, operation: "update", ...LINES_2_3 })],
    ],
    [
      "Gemini CLI, without a diff",
      "gemini-cli",
      gemini("write_file", "text"),
      [expect.objectContaining({ path: X, ...UNKNOWN })],
    ],
    ["Gemini CLI, a failure", "gemini-cli", gemini("replace", {}, { message: "x" }), []],
    [
      "Copilot, a new file",
      "copilot",
      copilot("create", { path: X, file_text: "a\nb\n" }),
      [expect.objectContaining({ path: X, operation: "create", ...NEW })],
      "postToolUse",
    ],
    [
      "Copilot, an edit",
      "copilot",
      copilot("edit", { path: X, old_str: "a", new_str: "b" }),
      [expect.objectContaining({ path: X, operation: "update", ...UNKNOWN })],
      "postToolUse",
    ],
    [
      "Copilot, a patch",
      "copilot",
      copilot("apply_patch", PATCH),
      [expect.objectContaining({ path: X, operation: "update", added: 2, removed: 1 })],
      "postToolUse",
    ],
    [
      "Cline, an edit",
      "cline",
      cline("editor", { path: X, old_text: "a", new_text: "b" }),
      [{ path: X, operation: "update", tool_call_id: "call_1", ...UNKNOWN }],
    ],
    [
      "Cline, a whole file",
      "cline",
      cline("editor", { path: X, new_text: "a\nb\n" }),
      [{ path: X, start_line: 1, end_line: 2, tool_call_id: "call_1", ...UNKNOWN }],
    ],
    ["Cline, a failure", "cline", cline("editor", { path: X, old_text: "a", new_text: "b" }, false), []],
    [
      "OpenCode, a new file",
      "opencode",
      opencode("write", { lines: 2 }, { filepath: X, exists: false }),
      [{ path: X, operation: "create", tool_call_id: "call_1", ...NEW }],
      "tool.execute.after",
    ],
    [
      "OpenCode, an edit",
      "opencode",
      opencode("edit", {}, { filediff: { file: X }, diff: "@@ -1,2 +1,3 @@\n \n-\n+\n+" }),
      [{ path: X, operation: "update", tool_call_id: "call_1", ...LINES_2_3 }],
      "tool.execute.after",
    ],
    [
      "OpenCode, a patch",
      "opencode",
      opencode(
        "apply_patch",
        {},
        {
          files: [
            { filePath: X, type: "update", additions: 4, deletions: 1 },
            { filePath: "/a", movePath: "/b", type: "move", additions: 0, deletions: 0 },
          ],
        },
      ),
      [
        { path: X, operation: "update", tool_call_id: "call_1", added: 4, removed: 1 },
        { path: "/a", operation: "delete", tool_call_id: "call_1", ...UNKNOWN },
        { path: "/b", operation: "create", tool_call_id: "call_1", added: 0, removed: 0 },
      ],
      "tool.execute.after",
    ],
  ])("%s", (_, source, payload, expected, event) => expect(writesOf(source, payload, event)).toEqual(expected));

  test("ids are stable, and differ between the changes of one call", () => {
    const payload = claude("Edit", {}, { filePath: X, structuredPatch: [HUNK, { ...HUNK, newStart: 30 }] });
    const ids = () => {
      const adapted = adapt(agents, payload, { ...BASE, source: "claude-code" });
      return adapted.outcome === "refused" ? [] : adapted.events.map(({ id }) => id);
    };
    expect(new Set(ids()).size).toBe(3);
    expect(ids()).toEqual(ids());
  });

  test("a patch that cannot be read costs nothing else of the call", () => {
    const bad = claude("Edit", {}, { filePath: X, structuredPatch: [{ newStart: 0, lines: ["+a", 1, null] }, 7] });
    const adapted = adapt(agents, bad, { ...BASE, source: "claude-code" });
    expect(adapted.outcome === "refused" ? adapted.reason : adapted.events.map(({ type }) => type)).toEqual([
      "tool.end",
    ]);
    expect(
      writesOf("claude-code", claude("Edit", {}, { filePath: `/${"x".repeat(5000)}`, structuredPatch: [HUNK] })),
    ).toEqual([]);
  });
});

describe("agents whose tools name the file in their arguments", () => {
  const call = { session_id: "s", cwd: "/home/dev/shop", hook_event_name: "PostToolUse" };
  const ended = (tool_name: string, tool_input: object, more: object = {}) => ({
    ...call,
    tool_name,
    tool_input,
    ...more,
  });
  const cursor = (tool_name: string, tool_input: object) =>
    ended(tool_name, tool_input, {
      hook_event_name: "postToolUse",
      ...{ conversation_id: "s", cursor_version: "3.12.17", tool_use_id: "tool_1", tool_output: "{}" },
    });
  const goose = (tool_name: string, tool_input: object) => ({
    ...{ event: "PostToolUse", session_id: "s", matcher_context: tool_name, tool_call_id: "call_1" },
    ...{ tool_name, tool_input, working_dir: "/home/dev/shop" },
  });
  const grok = (toolName: string, toolResult: object) => ({
    ...{
      hookEventName: "post_tool_use",
      sessionId: "s",
      toolName,
      toolUseId: "call_1",
      toolInput: { file_path: X },
      toolResult,
    },
    ...{ hook_event_name: "PostToolUse", session_id: "s", cwd: "/home/dev/shop", timestamp: "2026-09-14T09:00:00Z" },
    tool_name: toolName,
  });
  const applied = (change: string, details: readonly object[]) => ({
    type: "SearchReplace",
    EditsApplied: { absolute_path: X, tool_output_for_prompt: `The file ${X} has been ${change}.`, edits: { details } },
  });
  const droid = (tool_name: string, tool_input: object, result: object) =>
    ended(tool_name, tool_input, {
      transcript_path: "/home/dev/.factory/sessions/p/s.jsonl",
      tool_response: JSON.stringify({ success: true, file_path: X, ...result }),
    });
  const removed = (old: number) => ({ type: "removed", content: "x", lineNumber: { old } });
  const added = (at: number) => ({ type: "added", content: "x", lineNumber: { new: at } });
  const same = { type: "unchanged", content: "x", lineNumber: { old: 9, new: 9 } };
  const WHOLE = { path: X, start_line: 1, end_line: 2, ...UNKNOWN };
  const text = "a\nb\n";

  test.each([
    ["Cursor's Write", "cursor", cursor("Write", { file_path: X, contents: text }), [WHOLE]],
    [
      "Cursor's StrReplace",
      "cursor",
      cursor("StrReplace", { path: X }),
      [{ path: X, operation: "update", ...UNKNOWN }],
    ],
    ["Cursor's Delete", "cursor", cursor("Delete", { file_path: X }), [{ path: X, operation: "delete", ...UNKNOWN }]],
    ["Cursor's Read", "cursor", cursor("Read", { file_path: X }), []],
    ["Goose's write", "goose", goose("write", { path: X, content: text }), [WHOLE]],
    ["Goose's edit", "goose", goose("edit", { path: X, before: "1" }), [{ path: X, operation: "update", ...UNKNOWN }]],
    [
      "Grok's write",
      "grok",
      grok("write", applied("created", [{ old_string: "", new_string: text, old_line: 1, new_line: 1 }])),
      [{ path: X, operation: "create", ...NEW }],
    ],
    [
      "Grok's edit",
      "grok",
      grok("search_replace", applied("updated successfully", [{ old_string: "1", new_string: "2", new_line: 7 }])),
      [{ path: X, operation: "update", start_line: 7, end_line: 7, added: 1, removed: 1 }],
    ],
    ["Grok's failed edit", "grok", grok("search_replace", { type: "SearchReplace", NoMatchesFound: {} }), []],
    ["Droid's Create", "droid", droid("Create", { file_path: X, content: text }, {}), [WHOLE]],
    [
      "Droid's Edit",
      "droid",
      droid("Edit", { file_path: X }, { diffLines: [removed(1), added(1), added(2), same, added(9), removed(12)] }),
      [
        { path: X, operation: "update", start_line: 1, end_line: 2, added: 2, removed: 1 },
        { path: X, operation: "update", start_line: 9, end_line: 9, added: 1, removed: 1 },
      ],
    ],
    [
      "Kiro's fs_write",
      "kiro",
      ended("fs_write", { command: "create", path: "src/x.ts", file_text: text }, { hook_event_name: "postToolUse" }),
      [WHOLE],
    ],
    [
      "Kiro's editor",
      "kiro",
      ended("str_replace", {}, { session_id: "sess_1", tool_response: "Replaced text in src/x.ts" }),
      [{ path: X, operation: "update", ...UNKNOWN }],
    ],
    [
      "Qwen Code's edit",
      "qwen-code",
      ended("edit", { file_path: X }, { tool_response: { returnDisplay: { fileDiff: DIFF, isNewFile: false } } }),
      [{ path: X, operation: "update", ...LINES_2_3 }],
    ],
    [
      "Windsurf's write_code",
      "windsurf",
      { agent_action_name: "post_write_code", trajectory_id: "s", tool_info: { file_path: X, edits: [] } },
      [{ path: X, ...UNKNOWN }],
    ],
    [
      "VS Code's create_file",
      "copilot-vscode",
      ended("create_file", { filePath: X, content: text }, { tool_use_id: "t", timestamp: "2026-09-14T09:00:00Z" }),
      [{ path: X, operation: "create", ...NEW }],
    ],
    [
      "VS Code's editFiles",
      "copilot-vscode",
      ended("editFiles", { files: ["src/x.ts", X] }, { tool_use_id: "t", timestamp: "2026-09-14T09:00:00Z" }),
      [
        { path: X, ...UNKNOWN },
        { path: X, ...UNKNOWN },
      ],
    ],
  ])("%s", (_, source, payload, expected) => {
    const found = writesOf(source, payload).map(({ tool_call_id: __, ...one }) => one);
    expect(found).toEqual(expected);
  });
});
