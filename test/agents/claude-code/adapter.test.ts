import { describe, expect, test } from "vitest";
import { adapter } from "#agents/claude-code/adapter.ts";
import { exitCodeOf } from "#agents/claude-code/texts.ts";
import { allAgents } from "#agents/registry.ts";
import { notNeededEvent, unknownNamesIn } from "#collect/payload/drift.ts";
import { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const NOW_MS = Date.UTC(2026, 9, 5, 12);
const SESSION = "080b9fe2-ba55-4bb3-b3e8-4df84ef8514d";
const TRANSCRIPT = `/home/dev/.claude/projects/-home-dev-acme-shop/${SESSION}.jsonl`;
const SECRET = "hunter2-in-the-orchard";

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "claude-code",
  timeMs: NOW_MS,
  env: {},
  payloadBytes: 640,
  truncated: false,
  ...rest,
});
const payload = (event: string, rest: Readonly<Record<string, unknown>> = {}) => ({
  session_id: SESSION,
  transcript_path: TRANSCRIPT,
  cwd: "/home/dev/acme-shop",
  hook_event_name: event,
  ...rest,
});
/** The single event of a payload. */
function eventOf(event: string, rest: Readonly<Record<string, unknown>> = {}, facts = intake()): Event {
  const [first, ...others] = toEvents(payload(event, rest), facts);
  expect(others).toEqual([]);
  return Event.parse(first);
}

// Fields by the schema of 2.1.332
test("the command of a skill's text is no tool call and no unknown event", async () => {
  const command = payload("PreSkillShellCommand", {
    prompt_id: "p1",
    permission_mode: "default",
    scratchpad_dir: "/tmp/claude",
    tool_name: "Bash",
    tool_input: { command: "git status" },
    tool_use_id: "skill_1",
    command_name: "commit",
    command_source: "project",
    invoked_by: "user",
  });
  const card = (await allAgents()).find(({ source }) => source === "claude-code");
  if (card === undefined) throw new Error("there is no card");
  expect(toEvents(command, intake())).toEqual([]);
  expect(notNeededEvent(card, command, intake())).toBe("PreSkillShellCommand");
  expect([...unknownNamesIn(card, command, intake()).keys()]).toEqual([]);
});

describe("toEvents", () => {
  test.each([
    ["mcp__weather__now", "weather", "weather"],
    ["mcp__my_srv__echo__it", "my srv", "my_srv"],
    ["mcp__a__b__now", "a__b", "a__b"],
    ["mcp__plugin_docs_docs_x__find", "plugin:docs:docs.x", "plugin_docs_docs_x"],
    ["mcp__claude_ai_Rovo_EU__find", "claude.ai Rovo (EU)", "claude_ai_Rovo_EU"],
    ["find", "my srv", "my srv"],
  ])("the server of %s, reported as %j, has the transcript's name: %s", (tool_name, name, server) => {
    const event = eventOf("PreToolUse", { tool_name, tool_use_id: "t1", mcp_server: { name, source: "user" } });
    expect(extrasOf(event).mcp_server).toBe(server);
  });

  test.each([
    ["SessionStart", { source: "startup" }, "session.start", { start_origin: "startup" }],
    ["SessionStart", { source: "resume" }, "session.start", { continues: "same-session" }],
    ["SessionStart", { source: "fork" }, "session.start", { continues: "fork" }],
    ["SessionStart", { source: "compact" }, "session.start", { continues: "compaction" }],
    [
      "UserPromptSubmit",
      { prompt: "Grüße", prompt_id: "p1" },
      "prompt.submit",
      { prompt_id: "p1", prompt_origin: "human" },
    ],
    ["UserPromptSubmit", { prompt: "<task-notification>done" }, "prompt.submit", { prompt_origin: "machine" }],
    ["UserPromptSubmit", { prompt: '<agent-message from="ash">done' }, "prompt.submit", { prompt_origin: "machine" }],
    [
      "UserPromptSubmit",
      { prompt: 'Another Claude session sent a message:\n<teammate-message teammate_id="ash">' },
      "prompt.submit",
      { prompt_origin: "machine" },
    ],
    ["UserPromptSubmit", { prompt: "<task-notifications> are odd" }, "prompt.submit", { prompt_origin: "human" }],
    [
      "PreToolUse",
      { tool_name: "Bash", tool_use_id: "t1", tool_input: { command: "git log" } },
      "tool.start",
      { executable: "git" },
    ],
    ["PostToolUseFailure", { tool_use_id: "t1", error: "Exit code 2\nno" }, "tool.end", { exit_code: 2 }],
    ["PostToolUseFailure", { tool_use_id: "t1", is_interrupt: true }, "tool.end", { error_type: "interrupted" }],
    ["PostToolUse", { tool_use_id: "t1", tool_response: { agentId: "a1" } }, "tool.end", { spawned_agent_id: "a1" }],
    [
      "PostToolBatch",
      { tool_calls: [{ tool_use_id: "t1" }, { tool_use_id: "t2" }] },
      "tool.batch",
      { tool_call_ids: ["t1", "t2"] },
    ],
    ["PermissionDenied", { tool_use_id: "t1" }, "tool.batch", { tool_call_ids: ["t1"] }],
    ["Stop", { background_tasks: [{}, {}] }, "turn.end", { background_count: 2 }],
    ["StopFailure", { error: "rate_limit" }, "turn.error", { error_type: "rate_limit" }],
    ["StopFailure", { error: `429 for ${SECRET}` }, "turn.error", { error_type: "_OTHER" }],
    [
      "SubagentStart",
      { agent_id: "a1", agent_type: "Explore" },
      "subagent.start",
      { agent_id: "a1", agent_type: "Explore" },
    ],
    ["SubagentStop", { agent_id: "a1" }, "subagent.end", { agent_id: "a1" }],
    ["PreCompact", { trigger: "auto" }, "compaction", { trigger: "auto" }],
    ["SessionEnd", { reason: "clear" }, "session.end", { native_reason: "clear" }],
  ])("%s %j", (event, rest, type, extras) => {
    const found = eventOf(event, rest);
    expect(found.type).toBe(type);
    expect(extrasOf(found)).toMatchObject({
      ...extras,
      native_event: event,
      transcript_path: TRANSCRIPT,
      payload_bytes: 640,
    });
    expect(found).toMatchObject({ session_id: SESSION, cwd: "/home/dev/acme-shop", time: "2026-10-05T12:00:00.000Z" });
  });

  test.each([
    ["prompt_input_exit", "user_exit"],
    ["logout", "user_exit"],
    ["clear", "completed"],
    ["other", "completed"],
    ["an unknown reason", "completed"],
  ])("the end reason %s maps to OpenHook's %s", (reason, expected) => {
    expect(eventOf("SessionEnd", { reason })).toMatchObject({
      data: { reason: expected, transcript_path: TRANSCRIPT },
    });
  });

  test("a tool's end has status and duration", () => {
    expect(eventOf("PostToolUse", { tool_name: "Bash", tool_use_id: "t1", duration_ms: 12.4 })).toMatchObject({
      data: { tool_name: "Bash", tool_call_id: "t1", status: "success", duration_ms: 12 },
    });
    expect(eventOf("PostToolUseFailure", { tool_use_id: "t1" })).toMatchObject({ data: { status: "error" } });
  });

  test("a numbered id does not identify a call", () => {
    const call = { tool_name: "Bash", tool_use_id: "Bash:0", tool_input: { command: "ls" }, prompt_id: "p1" };
    const [main, again] = [eventOf("PreToolUse", call), eventOf("PreToolUse", call)];
    expect(main).toMatchObject({ data: { tool_call_id: "Bash:0" }, extensions: { given_id: "Bash:0" } });
    // A hook that is registered twice reports it twice
    expect(again.id).toBe(main.id);
    const others = [{ agent_id: "a1" }, { prompt_id: "p2" }].map(
      (rest) => eventOf("PreToolUse", { ...call, ...rest }).id,
    );
    expect(new Set([main.id, ...others]).size).toBe(3);
    const drawn = { ...call, tool_use_id: "toolu_01A8gqXv7Yd2Kp4Rz9Tn3Wbs" };
    expect(extrasOf(eventOf("PreToolUse", drawn)).given_id).toBeUndefined();
    expect(eventOf("PreToolUse", { ...drawn, agent_id: "a1" }).id).toBe(eventOf("PreToolUse", drawn).id);
  });

  test("counts the lines of an edit from its patch", () => {
    const hunk = { lines: [" kept", "+new", "+newer", "-old"] };
    const edited = eventOf("PostToolUse", { tool_use_id: "t1", tool_response: { structuredPatch: [hunk] } });
    expect(extrasOf(edited)).toMatchObject({ lines_added: 2, lines_removed: 1 });
    const created = { type: "create", content: "one\ntwo\n", structuredPatch: [] };
    expect(extrasOf(eventOf("PostToolUse", { tool_use_id: "t2", tool_response: created }))).toMatchObject({
      lines_added: 2,
      lines_removed: 0,
    });
    const noEdit = extrasOf(eventOf("PostToolUse", { tool_use_id: "t3", tool_response: { stdout: "+1" } }));
    expect(noEdit.lines_added).toBeUndefined();
  });

  test.each(["Notification", "InstructionsLoaded", "MessageDisplay", "WorktreeCreate", "SomethingNew", ""])(
    "%j gives no event",
    (event) => {
      expect(toEvents(payload(event, { message: SECRET }), intake())).toEqual([]);
    },
  );

  test("events have no content: no prompt, argument, output or error text", () => {
    const content = {
      prompt: SECRET,
      tool_input: { command: `echo ${SECRET}`, file_path: `/home/dev/${SECRET}` },
      tool_response: { stdout: SECRET, filePath: SECRET, structuredPatch: [{ lines: [`+${SECRET}`] }] },
      error: `Exit code 1\n${SECRET}`,
      last_assistant_message: SECRET,
      custom_instructions: SECRET,
      tool_calls: [{ tool_use_id: "t1", tool_input: { command: SECRET } }],
      trigger: `on ${SECRET}`,
      reason: `${SECRET} is the reason`,
      permission_mode: `${SECRET}!`,
    };
    const events = [
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "PostToolBatch",
    ]
      .concat(["Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "SessionEnd"])
      .flatMap((event) => toEvents(payload(event, { ...content, tool_use_id: "t1", agent_id: "a1" }), intake()));
    expect(events.length).toBe(12);
    expect(JSON.stringify(events)).not.toContain(SECRET);
  });
});

describe("ids", () => {
  const id = (event: string, rest = {}, facts = intake()) => eventOf(event, rest, facts).id;

  test("are equal for an event reported twice at different times", () => {
    const later = intake({ timeMs: NOW_MS + 5_000 });
    for (const event of ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"]) {
      const fields = { tool_use_id: "t1", prompt_id: "p1" };
      expect(id(event, fields, later)).toBe(id(event, fields));
    }
    expect(id("SessionStart", { source: "startup" }, later)).toBe(id("SessionStart", { source: "startup" }));
    expect(id("UserPromptSubmit", { prompt: "on" }, later)).toBe(id("UserPromptSubmit", { prompt: "on" }));
  });

  test.each([
    ["Stop", { stop_hook_active: false }],
    ["StopFailure", { error: "rate_limit" }],
    ["SubagentStart", { agent_id: "a1" }],
    ["SubagentStop", { agent_id: "a1" }],
    ["SessionStart", { source: "resume" }],
    ["SessionEnd", { reason: "resume" }],
  ])("differ for %s at two times if no prompt id is given", (event, rest) => {
    const facts = { env: { CLAUDE_PID: "1" }, hookPid: 41 };
    const [first, again] = [intake(facts), intake(facts)];
    expect(id(event, rest, again)).toBe(id(event, rest, first));
    expect(id(event, rest, intake({ ...facts, hookPid: 42, timeMs: NOW_MS + 5_000 }))).not.toBe(id(event, rest, first));
  });

  test("differ for start and end of a call, for two calls and for two sessions", () => {
    const ids = [
      id("PreToolUse", { tool_use_id: "t1" }),
      id("PostToolUse", { tool_use_id: "t1" }),
      id("PreToolUse", { tool_use_id: "t2" }),
      id("PreToolUse", { tool_use_id: "t1", session_id: "another" }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("differ for the starts and ends of two processes of one session", () => {
    const [first, second] = [intake({ env: { CLAUDE_PID: "1" } }), intake({ env: { CLAUDE_PID: "2" } })];
    expect(id("SessionEnd", {}, first)).not.toBe(id("SessionEnd", {}, second));
    // A tool call has an id: every process that reports it reports the same event
    expect(id("PreToolUse", { tool_use_id: "t1" }, first)).toBe(id("PreToolUse", { tool_use_id: "t1" }, second));
  });
});

describe("recognises", () => {
  test("its transcript folder as certain, on every system", () => {
    expect(recognises(payload("Stop"), intake({ source: undefined as never }))).toBe("certain");
    const windows = { ...payload("Stop"), transcript_path: "C:\\Users\\dev\\.claude\\projects\\x\\s.jsonl" };
    expect(recognises(windows, intake())).toBe("certain");
  });

  test("only as possible by the payload's shape", () => {
    const bare = { session_id: "s", hook_event_name: "Stop" };
    expect(recognises(bare, intake())).toBe("possible");
    expect(recognises(bare, intake({ env: { CLAUDE_PID: "1" } }))).toBe("likely");
    expect(recognises(bare, intake({ env: { CLAUDE_CODE_SESSION_ID: "s" } }))).toBe("certain");
    expect(recognises(bare, intake({ env: { CLAUDE_CODE_SESSION_ID: "outer" } }))).toBe("possible");
    const moved = { ...bare, transcript_path: "/srv/cc/projects/p/s.jsonl" };
    expect(recognises(moved, intake({ env: { CLAUDE_CONFIG_DIR: "/srv/cc" } }))).toBe("certain");
    expect(recognises(bare, intake({ source: "another", env: { CLAUDE_PID: "1" } }))).toBe("possible");
  });

  test.each([
    ["no session", { hook_event_name: "Stop" }],
    ["no event", { session_id: "s" }],
    ["another agent's event name", { session_id: "s", hook_event_name: "beforeShellExecution" }],
    ["an editor that uses the same shape", { ...payload("Stop"), cursor_version: "2.0" }],
  ])("not a payload with %s", (_, other) => {
    expect(recognises(other, intake())).toBe("no");
  });
});

test.each([
  ["Exit code 2\nno such file", 2],
  ["Error: Exit code 137", 137],
  ["Exit code 1234", undefined],
  ["the output was: Exit code 2", undefined],
  [undefined, undefined],
  [{ code: 2 }, undefined],
])("exitCodeOf %j", (error, code) => {
  expect(exitCodeOf(error)).toBe(code);
});
