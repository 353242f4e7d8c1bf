import { describe, expect, test } from "vitest";
import { adapter } from "#agents/kimi/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 10, 25, 4),
  hookPid: 7,
  env: {},
  payloadBytes: 2,
  truncated: false,
  ...rest,
});
const payload = (event: string, rest: Record<string, unknown> = {}): Record<string, unknown> => ({
  hook_event_name: event,
  session_id: "session_2a549b13-d509-4d5e-8a98-cf0156e36a8e",
  cwd: "/home/dev/acme-shop",
  client_type: "kimi_code_cli",
  ...rest,
});
const eventsOf = (event: string, rest: Record<string, unknown> = {}, facts = intake()) =>
  toEvents(payload(event, rest), facts);

describe("prompts", () => {
  const text = { type: "text", text: "Say bye" };

  test("a prompt of one text has its length; other parts have none", () => {
    const lengths = [[text], [text, { type: "image" }]].map((prompt) => {
      const [event] = eventsOf("UserPromptSubmit", { prompt, is_steer: false });
      return event?.type === "prompt.submit" && event.data?.prompt_length;
    });
    expect(lengths).toEqual([7, undefined]);
  });

  test("a message that steers the running turn is no prompt", () => {
    expect(eventsOf("UserPromptSubmit", { prompt: [text], is_steer: true })).toEqual([]);
  });

  test("the start of a turn is no second prompt", () => {
    expect(eventsOf("TurnStarted", { turn_id: 0, origin_kind: "user", prompt: "Say bye" })).toEqual([]);
  });
});

test("the configured model in SessionStart may not be the session's", () => {
  const [event] = eventsOf("SessionStart", { source: "startup", model: "kimi-k2" });
  expect(event?.type === "session.start" && event.data).toEqual({});
});

describe("tool calls", () => {
  const tool = { tool_name: "Bash", tool_input: { command: "exit 3" } };
  const random = { ...tool, tool_call_id: "call_876612f878ae08aa76ddbbc1" };

  test("an event with the model's id counts once, whenever it arrives", () => {
    const ids = [1, 2].map((hookPid) => eventsOf("PreToolUse", random, intake({ hookPid, timeMs: hookPid }))[0]?.id);
    expect(new Set(ids).size).toBe(1);
  });

  test("numbered ids repeat, so the input belongs to the event's identity", () => {
    const [one, two] = ["a", "b"].map((command) =>
      eventsOf("PreToolUse", { ...tool, tool_input: { command }, tool_call_id: "Bash:0", session_title: command }),
    );
    expect(one?.[0]?.id).not.toBe(two?.[0]?.id);
    expect(one?.[0] && extrasOf(one[0]).given_id).toBe("Bash:0");
  });

  test("the output of a successful call is never taken for a result", () => {
    const [event] = eventsOf("PostToolUse", { ...random, tool_output: '{"success": false, "exit_code": 1}' });
    expect(event?.type === "tool.end" && event.data?.status).toBe("success");
  });

  test.each([
    ["Process exited with code 3\nCommand failed with exit code: 3.", { exit_code: 3 }],
    ['Tool "Bash" was not run because the user rejected the approval request.', { denied: true }],
    ['Tool "Bash" was not run because the approval request was cancelled.', { denied: true }],
    ['Tool "Bash" was denied by permission policy.', { denied: true }],
    ["no such file", {}],
  ])("a failure with %o", (message, expected) => {
    const [event] = eventsOf("PostToolUseFailure", { ...random, error: { code: "internal", message } });
    expect(event?.type === "tool.end" && event.data?.status).toBe("error");
    const { exit_code, denied } = event === undefined ? {} : extrasOf(event);
    expect({ ...(exit_code !== undefined && { exit_code }), ...(denied && { denied }) }).toEqual(expected);
  });
});

test("a subagent's end shows that the stop before it was the subagent's", () => {
  const [event] = eventsOf("SubagentStop", { agent_name: "coder", response: "Done" });
  expect(event).toMatchObject({ type: "subagent.end", extensions: { agent_type: "coder", follows_stop: true } });
});

test("every payload has the client's name, so it is certain", () => {
  expect(recognises(payload("Stop"), intake({ source: "claude-code" }))).toBe("certain");
});
