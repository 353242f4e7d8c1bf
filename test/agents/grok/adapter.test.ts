import { describe, expect, test } from "vitest";
import { adapter, toContent } from "#agents/grok/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const INTAKE: IntakeFacts = { source: "grok", timeMs: 1_000, env: {}, payloadBytes: 10, truncated: false };
const SESSION = "1720208d-502b-4863-983e-cf2dbc5a90d3";
const CHILD = "01a21113-aba1-73c1-9c2e-5496b0a85ce4";
const TIME = "2026-11-25T05:00:28.570018877+00:00";

/** A payload with both spellings of the fields that have two. */
const payload = (event: string, more: object = {}, session = SESSION) => ({
  hookEventName: event.replaceAll(/(?!^)[A-Z]/g, "_$&").toLowerCase(),
  hook_event_name: event,
  sessionId: session,
  session_id: session,
  cwd: "/home/dev/acme-shop",
  timestamp: TIME,
  ...more,
});
const only = (given: object) => {
  const [event, ...others] = toEvents(given, INTAKE);
  expect(others).toEqual([]);
  if (event === undefined) throw new Error("there is no event");
  return { event, extras: extrasOf(event) };
};

test("both spellings of the event's name are Grok's, whichever agent's hook was run", () => {
  expect(recognises(payload("Stop"), { ...INTAKE, source: "claude-code" })).toBe("certain");
});

describe("turn ends", () => {
  test("a Stop ends the turn of its prompt", () => {
    const { event, extras } = only(
      payload("Stop", {
        reason: "end_turn",
        promptId: "p1",
        backgroundTasks: [{ status: "running" }, { status: "done" }],
      }),
    );
    expect([event.type, extras.prompt_id, extras.background_count]).toEqual(["turn.end", "p1", 1]);
  });
  test("the Stop after the session's end is left out", () => {
    expect(toEvents(payload("Stop", { reason: "shutdown" }), INTAKE)).toEqual([]);
  });
  test("a turn that the user cancelled was interrupted; one that hit a limit failed", () => {
    const cancelled = (more: object) => only(payload("StopCancelled", more)).extras.error_type;
    expect(cancelled({ reason: "user_interrupt", cancelledBy: "user" })).toBe("interrupted");
    expect(cancelled({ reason: "max_turns", cancelledBy: "runtime" })).toBe("max_turns");
    expect(only(payload("StopFailure", { error: "rate_limit" })).extras.error_type).toBe("rate_limit");
  });
});

describe("prompts", () => {
  test("a human's prompt has its id and length, and the time of the payload", () => {
    const { event, extras } = only(payload("UserPromptSubmit", { prompt: "Say hi", promptId: "p1" }));
    expect(event).toMatchObject({
      type: "prompt.submit",
      time: "2026-11-25T05:00:28.570Z",
      data: { prompt_length: 6 },
    });
    expect([extras.prompt_id, extras.prompt_origin]).toEqual(["p1", "human"]);
  });
  test("a turn that Grok starts itself is the machine's", () => {
    const wake = { prompt: "<system-reminder>\nWhile you were idle", promptId: `subagent-completed-${CHILD}` };
    expect(only(payload("UserPromptSubmit", wake)).extras.prompt_origin).toBe("machine");
  });
  test("a subagent's task is no prompt", () => {
    expect(
      toEvents(payload("UserPromptSubmit", { prompt: "Find it", subagentType: "explore" }, CHILD), INTAKE),
    ).toEqual([]);
  });
});

describe("subagents", () => {
  test("a start belongs to the subagent and names the parent's session", () => {
    const { event, extras } = only(payload("SubagentStart", { subagentId: CHILD, subagentType: "explore" }));
    expect([event.type, event.session_id]).toEqual(["subagent.start", CHILD]);
    expect(extras).toMatchObject({ parent_session_id: SESSION, agent_id: CHILD, agent_type: "explore" });
  });
  test("the end of a subagent's session does not end a session", () => {
    const { event, extras } = only(payload("SessionEnd", { reason: "shutdown", subagentType: "explore" }, CHILD));
    expect([event.type, extras.agent_id]).toEqual(["subagent.end", CHILD]);
    expect(only(payload("SessionEnd", { reason: "shutdown" })).event.type).toBe("session.end");
  });
});

describe("tool calls", () => {
  const end = (toolResult: object, more: object = {}) =>
    only(payload("PostToolUse", { toolName: "read_file", toolUseId: "call_1", toolResult, ...more }));
  test.each([
    ["a missing file", { type: "ReadFile", FileNotFound: "Error" }, "error"],
    ["an edit without a match", { type: "SearchReplace", NoMatchesFound: {} }, "error"],
    ["a command that failed", { type: "Bash", exit_code: 3 }, "error"],
    ["a command that was killed", { type: "Bash", exit_code: null, signal: "SIGKILL" }, "error"],
    ["a command with exit code 0", { type: "Bash", exit_code: 0, signal: null, timed_out: false }, "success"],
    ["a file", { type: "ReadFile", FileContent: {} }, "success"],
  ])("%s: %o is %s", (_, result, status) => {
    expect(end(result).event).toMatchObject({ data: { tool_call_id: "call_1", status } });
  });
  test("a call that the user refused is denied", () => {
    const { event, extras } = only(payload("PermissionDenied", { toolName: "write", toolUseId: "call_1" }));
    expect([event.type, extras.denied]).toEqual(["tool.end", true]);
  });
  test("a subagent that was started is named, in the foreground and in the background", () => {
    expect(end({ type: "SubagentCompleted", subagent_id: CHILD }).extras.spawned_agent_id).toBe(CHILD);
    const text = `Subagent started in background.\nsubagent_id: ${CHILD}\ndescription: x`;
    expect(end({ type: "Text", text }).extras.spawned_agent_id).toBe(CHILD);
  });
  test("an edit has its lines", () => {
    const edit = { old_string: "100", old_line: 1, new_string: "101\n102\n", new_line: 1 };
    const applied = { absolute_path: "/home/dev/a.js", edits: { details: [edit] }, tool_output_for_prompt: "updated" };
    const given = payload("PostToolUse", {
      toolName: "search_replace",
      toolUseId: "call_1",
      toolResult: { type: "SearchReplace", EditsApplied: applied },
    });
    expect(only(given).extras).toMatchObject({ lines_added: 2, lines_removed: 1 });
  });
  test("the content of a command's result is text, not its bytes", () => {
    const given = payload("PostToolUse", {
      toolUseId: "call_1",
      toolResult: { type: "Bash", output: [104, 105], output_for_prompt: "exit: 0\nhi\n", exit_code: 0 },
    });
    const [content] = toContent(given, { events: toEvents(given, INTAKE), entries: [] });
    expect(content).toMatchObject({ part: "result", value: "exit: 0\nhi\n" });
  });
});
