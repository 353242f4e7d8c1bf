import { describe, expect, test } from "vitest";
import { adapter } from "#agents/qwen-code/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const SESSION = "866a447f-d69b-4798-943d-af4d6e4e9e55";
const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 10, 25, 4),
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const payload = (event: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  session_id: SESSION,
  transcript_path: `/home/dev/.qwen/projects/-home-dev-acme-shop/chats/${SESSION}.jsonl`,
  cwd: "/home/dev/acme-shop",
  hook_event_name: event,
  timestamp: "2026-11-25T04:00:12.455Z",
  permission_mode: "yolo",
  ...rest,
});
const eventsOf = (event: string, rest: Record<string, unknown> = {}) => toEvents(payload(event, rest), intake());

describe("prompts", () => {
  test("a prompt that the user submitted has the payload's time", () => {
    expect(eventsOf("UserPromptSubmit", { prompt: "Fix it", submitted_prompt: "Fix it" })).toMatchObject([
      { type: "prompt.submit", time: "2026-11-25T04:00:12.455Z", data: { prompt_length: 6 } },
    ]);
  });

  test("the same hook after a round of tools is no prompt", () => {
    expect(eventsOf("UserPromptSubmit", { prompt: "" })).toEqual([]);
    expect(eventsOf("UserPromptSubmit", { prompt: "text of the program" })).toEqual([]);
  });
});

describe("tool calls", () => {
  const tool = {
    tool_name: "read_file",
    tool_input: {},
    tool_use_id: "toolu_1_x",
    tool_call_id: "call_d13e442c0e681539",
  };

  test("have the model's id in all hooks", () => {
    const ids = ["PreToolUse", "PostToolUse", "PostToolUseFailure"].flatMap((event) =>
      eventsOf(event, tool).map((one) => (one.type === "tool.start" || one.type === "tool.end" ? one.data : undefined)),
    );
    expect(ids.map((data) => data?.tool_call_id)).toEqual(Array(3).fill("call_d13e442c0e681539"));
  });

  test("without the model's id are paired by tool and input", () => {
    const [event] = eventsOf("PreToolUse", { ...tool, tool_call_id: undefined, tool_input: { file_path: "a" } });
    expect(event?.type === "tool.start" && event.data).toEqual({ tool_name: "read_file" });
    expect(event && extrasOf(event).input_digest).toMatch(/./);
  });

  test("a call that never ran ends with its batch; calls that ran have their own hooks", () => {
    const response = {
      execution_status: "not_started",
      error: "params must have …",
      error_type: "invalid_tool_params",
    };
    const never = { ...tool, tool_use_id: tool.tool_call_id, status: "error", tool_response: response };
    const ran = { ...never, tool_call_id: "call_other", tool_response: { execution_status: "success" } };
    const refused = {
      ...never,
      tool_call_id: "call_7d9238f57fbab769",
      tool_response: { ...response, error_type: "execution_denied" },
    };
    const events = eventsOf("PostToolBatch", { tool_calls: [never, ran, refused] });
    expect(events).toMatchObject([
      {
        type: "tool.end",
        data: { tool_call_id: "call_d13e442c0e681539", status: "error" },
        extensions: { error_type: "invalid_tool_params" },
      },
      { type: "tool.end", data: { tool_call_id: "call_7d9238f57fbab769" }, extensions: { denied: true } },
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });

  test("a call that started a subagent has the subagent's id", () => {
    const display = { type: "task_execution", subagentName: "general-purpose" };
    const [event] = eventsOf("PostToolUse", { ...tool, tool_name: "agent", tool_response: { returnDisplay: display } });
    expect(event && extrasOf(event).spawned_agent_id).toBe("general-purpose-call_d13e442c0e681539");
  });

  test("exit codes are in the result's text", () => {
    const shell = { ...tool, tool_name: "run_shell_command", error: "Command: exit 3\nExit Code: 3\nSignal: (none)" };
    const [event] = eventsOf("PostToolUseFailure", shell);
    expect(event && extrasOf(event).exit_code).toBe(3);
  });
});

test("agents that the program starts by itself are not shown as subagents", () => {
  const hidden = { agent_id: "managed-auto-memory-extractor-4f0a9417", agent_type: "managed-auto-memory-extractor" };
  expect(eventsOf("SubagentStart", hidden)).toEqual([]);
  const [event] = eventsOf("PreToolUse", { ...hidden, tool_name: "edit", tool_call_id: "call_d13e442c0e681539" });
  expect(event && extrasOf(event).agent_id).toBeUndefined();
});

test("a turn's end has the number of tasks that still run in the background", () => {
  const tasks = [{ status: "running" }, { status: "completed" }];
  const [event] = eventsOf("Stop", { background_tasks: tasks });
  expect(event && extrasOf(event).background_count).toBe(1);
});

describe("recognition", () => {
  test("by the folder of its session files", () => {
    expect(recognises(payload("Stop"), intake({ source: "claude-code" }))).toBe("certain");
  });

  test("by the session id that the program sets, if its folder was moved", () => {
    const moved = payload("Stop", { transcript_path: "/data/agents/chats/x.jsonl" });
    expect(recognises(moved, intake({ env: { QWEN_CODE_SESSION_ID: SESSION } }))).toBe("certain");
    expect(recognises(moved, intake({ env: { QWEN_CODE_SESSION_ID: "another" } }))).toBe("possible");
  });
});

describe("ids of subagents", () => {
  const agentIdIn = (agentId: string): string | undefined => {
    const [event] = eventsOf("PreToolUse", { agent_id: agentId, tool_name: "edit", tool_call_id: "call_1" });
    return event === undefined ? undefined : extrasOf(event).agent_id;
  };

  test("of Qwen Code's own types stay", () => {
    expect(agentIdIn("general-purpose-call_51f5")).toBe("general-purpose-call_51f5");
  });

  test("with the name of a user's type are digests: the same for the same id", () => {
    const id = agentIdIn("acme-reviewer-call_51f5");
    expect(id).toMatch(/^agent-[0-9a-f]{16}$/);
    expect(agentIdIn("acme-reviewer-call_51f5")).toBe(id);
    expect(agentIdIn("acme-reviewer-call_51f6")).not.toBe(id);
  });
});
