import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { adapter } from "#agents/codex/adapter.ts";
import codex from "#agents/codex/index.ts";
import { toEntries } from "#agents/codex/requests.ts";
import { unknownNamesIn } from "#collect/payload/drift.ts";
import { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import { isEnvelope } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const HERE = dirname(fileURLToPath(import.meta.url));
const NOW_MS = Date.UTC(2026, 9, 5, 12);
const SESSION = "01a1fc9e-1d40-72a1-9eb0-3fd6a84ad228";
const TURN = "01a1fc9e-1d55-7622-896f-c8216fca79c3";
const CHILD = "01a1fca1-4555-71d1-9939-6eaaf30e5d52";
const ROLLOUT = `/home/dev/.codex/sessions/2026/10/05/rollout-2026-10-05T12-00-00-${SESSION}.jsonl`;
const SECRET = "hunter2-in-the-orchard";
const USAGE = {
  input_tokens: 4310,
  cached_input_tokens: 4096,
  cache_write_input_tokens: 0,
  output_tokens: 24,
  reasoning_output_tokens: 8,
  total_tokens: 4334,
};

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  source: "codex",
  timeMs: NOW_MS,
  env: { HOME: "/home/dev" },
  payloadBytes: 640,
  truncated: false,
  ...rest,
});
const payload = (event: string, rest: Readonly<Record<string, unknown>> = {}) => ({
  session_id: SESSION,
  turn_id: TURN,
  transcript_path: ROLLOUT,
  cwd: "/home/dev/acme-shop",
  hook_event_name: event,
  model: "gpt-5.5",
  ...rest,
});
/** The single event of a payload. */
function eventOf(event: string, rest: Readonly<Record<string, unknown>> = {}, facts = intake()): Event {
  const [first, ...others] = toEvents(payload(event, rest), facts);
  expect(others).toEqual([]);
  return Event.parse(first);
}
const toolOf = (event: Event) => (event.type === "tool.start" || event.type === "tool.end" ? event.data : undefined);

describe("toEvents", () => {
  test.each([
    ["SessionStart", { source: "startup" }, "session.start", { start_origin: "startup" }],
    ["SessionStart", { source: "resume" }, "session.start", { continues: "same-session" }],
    ["SessionStart", { source: "fork" }, "session.start", { continues: "fork" }],
    ["SessionStart", { source: "compact" }, "session.start", { continues: "compaction" }],
    ["UserPromptSubmit", { prompt: SECRET }, "prompt.submit", { prompt_id: TURN, prompt_origin: "human" }],
    ["PreModelRequest", {}, "model.start", { prompt_id: TURN }],
    ["PostModelRequest", { status: "completed", token_usage: USAGE }, "model.end", { prompt_id: TURN }],
    ["PreCompact", { trigger: "auto" }, "compaction", { trigger: "auto" }],
    ["SubagentStart", { agent_id: CHILD, agent_type: "default" }, "subagent.start", { agent_id: CHILD }],
    ["SubagentStop", { agent_id: CHILD, agent_type: "default" }, "subagent.end", { agent_type: "default" }],
    ["Stop", { last_assistant_message: SECRET }, "turn.end", { prompt_id: TURN }],
    ["Interrupt", {}, "turn.error", { error_type: "interrupted" }],
    ["SessionEnd", { reason: "other" }, "session.end", { native_reason: "other" }],
    [
      "PreToolUse",
      { tool_name: "Bash", tool_input: { command: "git log" }, tool_use_id: "call_1" },
      "tool.start",
      { executable: "git" },
    ],
    [
      "PreToolUse",
      { tool_name: "mcp__shop__price", tool_input: { sku: SECRET }, tool_use_id: "call_2" },
      "tool.start",
      { mcp_server: "shop" },
    ],
  ])("%s %j is %s", (native, rest, type, extras) => {
    const event = eventOf(native, rest);
    expect(event.type).toBe(type);
    expect(extrasOf(event)).toMatchObject({ native_event: native, ...extras });
    expect(JSON.stringify(event)).not.toContain(SECRET);
  });

  test.each(["PostCompact", "PermissionRequest", "Notification", "WhoKnows"])("%s gives no event", (native) => {
    expect(toEvents(payload(native), intake())).toEqual([]);
  });

  test("a subagent's events belong to the session, without turn id and transcript path", () => {
    const extras = extrasOf(eventOf("PostModelRequest", { agent_id: CHILD, status: "completed" }));
    expect(extras).toMatchObject({ agent_id: CHILD });
    expect(extras).not.toHaveProperty("prompt_id");
    expect(extras).not.toHaveProperty("transcript_path");
  });

  test.each([
    ["exit", "user_exit"],
    ["error", "error"],
    ["timeout", "timeout"],
    ["compact", "completed"],
    ["other", "completed"],
    ["unknown", "completed"],
  ])("the end reason %s maps to %s", (reason, expected) => {
    expect(eventOf("SessionEnd", { reason })).toMatchObject({ data: { reason: expected } });
  });
});

describe("tools", () => {
  const call = { tool_use_id: "call_1", tool_input: { command: "ls" } };

  test.each([
    ["Bash", "exec_command"],
    ["apply_patch", "apply_patch"],
    ["mcp__shop__price", "mcp__shop.price"],
    ["collaborationspawn_agent", "collaboration.spawn_agent"],
    ["collaboration", "collaboration"],
  ])("%s maps to the model's tool %s", (name, model) => {
    expect(toolOf(eventOf("PreToolUse", { ...call, tool_name: name }))?.tool_name).toBe(model);
  });

  test.each<[string, string, unknown, string | undefined, number | undefined]>([
    ["the output of a shell is ignored", "Bash", "Exit code: 3\nWall time: 0 seconds\n", undefined, undefined],
    ["a patch has an exit code", "apply_patch", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.", undefined, 0],
    ["a failed patch", "apply_patch", "Exit code: 1\nWall time: 0 seconds\nOutput:\nno", "error", 1],
    ["an MCP result", "mcp__shop__price", { content: [], isError: false }, undefined, undefined],
    ["an MCP error", "mcp__shop__price", { content: [], isError: true }, "error", undefined],
  ])("%s", (_, tool_name, response, status, exitCode) => {
    const event = eventOf("PostToolUse", { ...call, tool_name, tool_response: response });
    expect(event).toMatchObject({ type: "tool.end" });
    expect(event.type === "tool.end" && event.data?.status).toBe(status);
    expect(extrasOf(event).exit_code).toBe(exitCode);
  });

  test("without a session file, the status is assumed from the hook", () => {
    const event = eventOf("PostToolUse", { ...call, tool_name: "Bash", tool_response: "x", transcript_path: null });
    expect(event).toMatchObject({ data: { status: "success" }, extensions: { status_origin: "assumed" } });
  });

  test("a script's call is a notice, unless there is no session file", () => {
    const inner = { ...call, tool_name: "Bash", tool_use_id: "exec-3faf9671-3649-4d17-ba78-77487d818008" };
    expect(eventOf("PreToolUse", inner).type).toBe("notice");
    expect(eventOf("PostToolUse", inner).type).toBe("notice");
    expect(eventOf("PreToolUse", { ...inner, transcript_path: null }).type).toBe("tool.start");
  });
});

describe("ids", () => {
  const later = (rest: Partial<IntakeFacts> = {}) => intake({ timeMs: NOW_MS + 5_000, hookPid: 77, ...rest });
  const idOf = (native: string, rest: Readonly<Record<string, unknown>>, facts: IntakeFacts) =>
    eventOf(native, rest, facts).id;

  test.each([
    ["SessionStart", { source: "startup" }],
    ["UserPromptSubmit", { prompt: "Read it" }],
    ["PreToolUse", { tool_use_id: "call_1", tool_name: "Bash" }],
    ["PostToolUse", { tool_use_id: "call_1", tool_name: "Bash" }],
    ["Stop", { stop_hook_active: false }],
    ["SubagentStop", { agent_id: CHILD }],
  ])("are equal for %s reported twice", (native, rest) => {
    expect(idOf(native, rest, intake())).toBe(idOf(native, rest, later()));
  });

  test.each([
    ["SessionStart", { source: "resume" }],
    ["SessionEnd", { reason: "other" }],
    ["PreModelRequest", {}],
  ])("differ for %s at two times", (native, rest) => {
    expect(idOf(native, rest, intake())).not.toBe(idOf(native, rest, later()));
  });

  test("differ for a steering message, which is a second prompt of its turn", () => {
    const [a, b] = [
      eventOf("UserPromptSubmit", { prompt: "Read" }),
      eventOf("UserPromptSubmit", { prompt: "Only one" }),
    ];
    expect(a.id).not.toBe(b.id);
    expect(extrasOf(a).prompt_id).toBe(extrasOf(b).prompt_id);
  });

  test("are equal for Stop and the notification of one turn", () => {
    const notice = { type: "agent-turn-complete", "thread-id": SESSION, "turn-id": TURN, "input-messages": [SECRET] };
    const [notified] = toEvents(notice, later());
    expect(Event.parse(notified)).toMatchObject({
      type: "turn.end",
      id: eventOf("Stop").id,
      extensions: { prompt_id: TURN },
    });
    expect(JSON.stringify(notified)).not.toContain(SECRET);
    expect(eventOf("Stop", { stop_hook_active: true }).id).not.toBe(eventOf("Stop").id);
  });
});

describe("the transcript path", () => {
  test.each<[unknown, Readonly<Record<string, string>>, string | undefined]>([
    [ROLLOUT, {}, ROLLOUT],
    ["$CODEX_HOME/projects/p/session.jsonl", { CODEX_HOME: "/srv/codex" }, "/srv/codex/projects/p/session.jsonl"],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell variable
    ["${CODEX_HOME}/s.jsonl", { HOME: "/home/dev" }, "/home/dev/.codex/s.jsonl"],
    ["~/s.jsonl", { HOME: "/home/dev" }, "/home/dev/s.jsonl"],
    ["$HOME/s.jsonl", { HOME: "/home/$&dev" }, "/home/$&dev/s.jsonl"],
    ["$CODEX_HOME/s.jsonl", {}, undefined],
    ["$CODEX_HOMELAND/s.jsonl", { CODEX_HOME: "/srv" }, undefined],
    ["sessions/s.jsonl", { HOME: "/home/dev" }, undefined],
    ["C:\\Users\\dev\\.codex\\s.jsonl", {}, "C:\\Users\\dev\\.codex\\s.jsonl"],
    [null, {}, undefined],
  ])("%s with %j is %s", (path, env, expected) => {
    const event = eventOf("SessionEnd", { transcript_path: path }, intake({ env }));
    expect(event.type === "session.end" && event.data?.transcript_path).toBe(expected);
    expect(extrasOf(event).transcript_path).toBe(expected);
  });

  test("of a notification is absent, or a hint if CODEX_HOME is set", () => {
    const notice = { type: "agent-turn-complete", "thread-id": SESSION, "turn-id": TURN };
    const pathIn = (env: Record<string, string>) =>
      toEvents(notice, intake({ env })).map((event) => extrasOf(event).transcript_path);
    expect(pathIn({ HOME: "/home/dev" })).toEqual([undefined]);
    expect(pathIn({ CODEX_HOME: "/srv/codex" })).toEqual([`/srv/codex/sessions/rollout-${SESSION}.jsonl`]);
  });
});

describe("toEntries", () => {
  const completed = { status: "completed", error: null, token_usage: USAGE, transcript_path: null };
  const entriesOf = (rest: Readonly<Record<string, unknown>>, facts = intake()) =>
    toEntries(payload("PostModelRequest", rest), facts).map((entry) => TranscriptEntry.parse(entry));

  test("counts usage of a session without a file once, however often it is reported", () => {
    const [entry, ...others] = entriesOf(completed);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      kind: "model_call",
      model: "gpt-5.5",
      promptKey: TURN,
      complete: true,
      usage: { input: 4310, output: 24, cacheRead: 4096, cacheWrite: 0, reasoning: 8 },
    });
    expect(entriesOf(completed, intake({ timeMs: NOW_MS + 9, hookPid: 4 }))[0]?.key).toBe(entry?.key);
    expect(entriesOf({ ...completed, token_usage: { ...USAGE, input_tokens: 4400 } })[0]?.key).not.toBe(entry?.key);
  });

  test("the ids of requests that 0.171.0 reports change nothing, and are known names", () => {
    const ids = { kind: "sampling", request_id: "926de0be-af38", attempt_number: 1, response_id: "resp_0a5b" };
    const keyless = (entries: readonly TranscriptEntry[]) => entries.map(({ key: _, ...rest }) => rest);
    expect(keyless(entriesOf({ ...completed, ...ids }))).toEqual(keyless(entriesOf(completed)));
    expect(eventOf("PostModelRequest", { ...completed, ...ids })).toEqual(eventOf("PostModelRequest", completed));
    expect([...unknownNamesIn(codex, payload("PostModelRequest", { ...completed, ...ids }), intake())]).toEqual([]);
  });

  test("gives none if the session file has them or the payload has no usage", () => {
    expect(entriesOf({ ...completed, transcript_path: ROLLOUT })).toEqual([]);
    expect(entriesOf({ ...completed, token_usage: null })).toEqual([]);
    expect(toEntries(payload("Stop"), intake())).toEqual([]);
  });

  test.each([
    ["exceeded retry limit, last status: 429 Too Many Requests", { errorType: "429", httpStatus: 429 }],
    ["stream disconnected before completion: gone", { errorType: "stream_disconnected" }],
    [`unexpected: ${SECRET}`, { errorType: "_OTHER" }],
  ])("a failed request: %s", (error, expected) => {
    const [entry] = entriesOf({ ...completed, status: "failed", error, token_usage: null, transcript_path: ROLLOUT });
    expect(entry).toMatchObject({ kind: "model_error", final: false, ...expected });
    expect(JSON.stringify(entry)).not.toContain(SECRET);
  });
});

describe("recognises", () => {
  test.each([
    ["its folder", payload("Stop"), {}, "certain"],
    ["a variable", payload("Stop", { transcript_path: "$CODEX_HOME/projects/p/session.jsonl" }), {}, "certain"],
    ["a moved home", payload("Stop", { transcript_path: "/srv/cx/s.jsonl" }), { CODEX_HOME: "/srv/cx" }, "certain"],
    ["the file's name", payload("Stop", { transcript_path: `/srv/${ROLLOUT.split("/").at(-1)}` }), {}, "certain"],
    ["a notification", { type: "agent-turn-complete", "thread-id": SESSION }, {}, "certain"],
    ["no file, an event only Codex has", payload("PostModelRequest", { transcript_path: "" }), {}, "likely"],
    ["a session without a file", payload("Stop", { transcript_path: null, model: "gpt-5.5" }), {}, "certain"],
    ["the end of a session without a file", payload("SessionEnd", { transcript_path: null }), {}, "certain"],
    ["VS Code's null", payload("Stop", { transcript_path: null, timestamp: "2026-11-21" }), {}, "possible"],
    [
      "another agent's file",
      payload("Stop", { transcript_path: "/home/dev/.claude/projects/p/s.jsonl" }),
      {},
      "possible",
    ],
    ["another agent's field", payload("Stop", { cursor_version: "1.7" }), {}, "no"],
    ["no event", { session_id: SESSION }, {}, "no"],
  ])("%s", (_, given, env, expected) => {
    expect(recognises(given, intake({ env }))).toBe(expected);
  });
});

describe("the documented schemas", () => {
  const lines = <T>(name: string): T[] =>
    readFileSync(join(HERE, "documented-schemas", name), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  const truth = JSON.parse(readFileSync(join(HERE, "documented-schemas", "truth.json"), "utf8"));
  const calls = lines<{ received_at: string; event: string; stdin: unknown }>("hooks.jsonl");
  const eventsAt = (line: number) => {
    const call = calls[line - 1];
    return toEvents(call?.stdin, intake({ event: call?.event ?? "", timeMs: Date.parse(call?.received_at ?? "") }));
  };

  test.each<[number, Record<string, unknown>]>(truth.lines.map((one: { line: number }) => [one.line, one]))(
    "line %i",
    (line, expected) => {
      const [event] = eventsAt(line);
      if (expected["aux"] === "ignore") return expect(event).toBeUndefined();
      if (expected["type"] === null) return expect(event !== undefined && isEnvelope(event)).toBe(false);
      expect(event).toMatchObject({ type: expected["type"], session_id: expected["session_id"] });
      if (event === undefined || expected["tool_name"] === null) return;
      const { tool_name, tool_call_id } = toolOf(event) ?? {};
      expect({ tool_name, tool_call_id }).toEqual({ tool_name: expected["tool_name"], tool_call_id: undefined });
      if (expected["status"] !== null) expect(event).toMatchObject({ data: { status: expected["status"] } });
    },
  );

  test("pairs calls without an id by a digest of their input", () => {
    const [start, end, other] = [3, 4, 5].map((line) => extrasOf(eventsAt(line)[0] as Event).input_digest);
    expect(start).toMatch(/^[0-9a-f]{16}$/);
    expect(end).toBe(start);
    expect(other).not.toBe(start);
  });
});
