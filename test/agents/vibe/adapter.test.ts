import { describe, expect, test } from "vitest";
import { adapter } from "#agents/vibe/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const SESSION = "809c14aa-0399-ad81-fcc9-859e9668bbeb";
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
  session_id: SESSION,
  parent_session_id: null,
  transcript_path: `/home/dev/.vibe/logs/session/unified/${SESSION}`,
  cwd: "/home/dev/acme-shop",
  ...rest,
});
const eventsOf = (event: string, rest: Record<string, unknown> = {}, facts = intake()) =>
  toEvents(payload(event, rest), facts);

const shell = {
  tool_name: "file_system.bash",
  tool_call_id: "call_bf0e89e855debb09a1196606",
  tool_input: { command: "npm test", timeout: 120 },
};
const ended = (returncode: number, rest: Record<string, unknown> = {}) => ({
  ...shell,
  tool_status: "success",
  tool_output: { returncode, stdout: "", stderr: "", timed_out: false },
  duration_ms: 40,
  ...rest,
});

describe("tool calls", () => {
  test.each([
    [40.7, 41],
    [5e-324, undefined],
    [Number.MAX_VALUE, undefined],
  ])("a duration of %d ms is reported as %j", (durationMs, reported) => {
    const [event] = eventsOf("post_tool", ended(0, { duration_ms: durationMs }));
    expect(event).toMatchObject({ type: "tool.end", data: { status: "success" } });
    expect(event?.type === "tool.end" && event.data?.duration_ms).toBe(reported);
  });

  test.each([
    ["file_system.read_file", "read_file"],
    ["self.wait", "wait"],
    ["skill.read", "skill"],
    ["vibe.todo", "todo"],
    ["process.start", "process.start"],
    ["linear.create_issue", "linear.create_issue"],
  ])("%s has the model's name", (tool_name, name) => {
    const [event] = eventsOf("pre_tool", { ...shell, tool_name });
    expect(event?.type === "tool.start" && event.data?.tool_name).toBe(name);
    expect(event && extrasOf(event).mcp_server).toBe(name.startsWith("linear") ? "linear" : undefined);
  });

  test("a command that exits with an error code is a success, with its code", () => {
    const [event] = eventsOf("post_tool", ended(3));
    expect(event).toMatchObject({
      type: "tool.end",
      data: { tool_name: "bash", status: "success", duration_ms: 40 },
      extensions: { exit_code: 3, executable: "npm" },
    });
  });

  test.each(["failure", "cancelled"])("%s is an error", (tool_status) => {
    const [event] = eventsOf("post_tool", { ...shell, tool_status, tool_output: null, tool_error: "no" });
    expect(event?.type === "tool.end" && event.data?.status).toBe("error");
  });

  test("a command that was killed with the process before has not ended", () => {
    expect(eventsOf("post_tool", ended(-9, { duration_ms: 0 })).map(({ type }) => type)).toEqual(["notice"]);
  });

  test("a command that was killed while this process ran has ended, and so has one that ran out of time", () => {
    const timedOut = { returncode: -9, timed_out: true };
    for (const one of [ended(-9), ended(-9, { duration_ms: 0, tool_output: timedOut })]) {
      expect(eventsOf("post_tool", one).map(({ type }) => type)).toEqual(["tool.end"]);
    }
  });

  test("an event with the model's id counts once, whenever it arrives", () => {
    const ids = [1, 2].map((hookPid) => eventsOf("pre_tool", shell, intake({ hookPid, timeMs: hookPid }))[0]?.id);
    expect(new Set(ids).size).toBe(1);
  });

  test("an id that the provider counts can name another call", () => {
    const events = [1, 2].flatMap((hookPid) =>
      eventsOf("pre_tool", { ...shell, tool_call_id: "call_0" }, intake({ hookPid })),
    );
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
    expect(events.map((event) => extrasOf(event).given_id)).toEqual(["call_0", "call_0"]);
  });
});

test("a subagent's events belong to the session that started it", () => {
  const [event] = eventsOf("post_agent", {
    session_id: "child-27e85c43",
    parent_session_id: SESSION,
    agent_name: "explore",
  });
  expect(event).toMatchObject({
    type: "turn.end",
    session_id: "child-27e85c43",
    extensions: { agent_id: "child-27e85c43", parent_session_id: SESSION },
  });
});

test("two turns' ends are two events, although their payloads are equal", () => {
  const ids = [1, 2].map((timeMs) => eventsOf("post_agent", { agent_name: "accept-edits" }, intake({ timeMs }))[0]?.id);
  expect(new Set(ids).size).toBe(2);
});

describe("recognition", () => {
  test.each([
    ["the session's folder", payload("pre_tool", { parent_session_id: undefined })],
    ["an event and the parent's id", payload("post_agent", { transcript_path: "" })],
    ["a moved home", payload("post_tool", { transcript_path: "/srv/vibe/logs/session/unified/x" })],
  ])("certain by %s", (_, given) => {
    expect(recognises(given, intake({ source: "hook-contract" }))).toBe("certain");
  });

  test("not by the event's name alone", () => {
    const { transcript_path: _, parent_session_id: __, ...rest } = payload("pre_tool");
    expect(recognises(rest, intake())).toBe("possible");
  });
});
