import { describe, expect, test } from "vitest";
import { adapter, toEntries } from "#agents/auggie/adapter.ts";
import { toFileWrites } from "#agents/auggie/file-writes.ts";
import auggie from "#agents/auggie/index.ts";
import installer from "#agents/auggie/installer.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";

const { recognises, toEvents } = adapter;

const facts: IntakeFacts = { timeMs: 1_000, env: {}, payloadBytes: 1, truncated: false };
const ID = "3d0f7a52-0000-4000-8000-000000000001";
const payload = (event: string, more: object = {}) => ({
  hook_event_name: event,
  conversation_id: ID,
  workspace_roots: ["/home/dev/acme-shop"],
  ...more,
});
const end = (more: object) => toEvents(payload("PostToolUse", { tool_name: "launch-process", ...more }), facts)[0];
const dataOf = (event: Event | undefined) => (event !== undefined && "data" in event ? event.data : undefined);
const output = (code: number) =>
  `Here are the results.\n<return-code>\n${code}\n</return-code>\n<output>\nx\n</output>`;

describe("recognition", () => {
  test("by the conversation and the folders, and not if it is Cursor's", () => {
    expect(recognises(payload("PreToolUse"), facts)).toBe("certain");
    expect(recognises(payload("PreToolUse", { cursor_version: "3.12.17" }), facts)).toBe("possible");
    expect(recognises(payload("preToolUse"), facts)).toBe("possible");
  });
  test("by the variable with the conversation's id", () => {
    const { workspace_roots: _, ...rest } = payload("Other");
    expect(recognises(rest, { ...facts, env: { AUGMENT_CONVERSATION_ID: ID } })).toBe("certain");
    expect(recognises(rest, { ...facts, env: { AUGMENT_CONVERSATION_ID: "another" } })).toBe("possible");
  });
});

describe("a call's end", () => {
  test("fails with an error or another exit code than 0", () => {
    expect(dataOf(end({ tool_output: output(0), tool_error: null }))).toMatchObject({ status: "success" });
    expect(dataOf(end({ tool_output: output(2), tool_error: null }))).toMatchObject({ status: "error" });
    expect(dataOf(end({ tool_error: "no such file" }))).toMatchObject({ status: "error" });
    const failed = end({ tool_output: output(2) });
    expect(failed === undefined ? undefined : extrasOf(failed).exit_code).toBe(2);
  });
  test("names the files that it changed, without their texts", () => {
    const file_changes = [
      { path: "a.js", changeType: "create", content: "one\ntwo\n" },
      { path: "b.js", changeType: "edit", content: "new", oldContent: "old" },
      { path: "c.js", changeType: "delete" },
      { path: "d.js", changeType: "renamed" },
    ];
    const p = payload("PostToolUse", { tool_name: "save-file", file_changes });
    expect(toFileWrites(p, { events: toEvents(p, facts), entries: [] })).toEqual([
      { path: "a.js", operation: "create", startLine: 1, endLine: 2, added: 2, removed: 0 },
      { path: "b.js", operation: "update" },
      { path: "c.js", operation: "delete" },
      { path: "d.js" },
    ]);
  });
});

describe("a turn's end", () => {
  const stop = (agent_stop_cause: string) => payload("Stop", { agent_stop_cause });
  test("is a failure or an interruption by its cause", () => {
    expect(toEvents(stop("end_turn"), facts)[0]?.type).toBe("turn.end");
    expect(toEvents(stop("error"), facts)[0]?.type).toBe("turn.error");
    expect(toEvents(stop("interrupted"), facts)[0]?.type).toBe("turn.end");
    expect(toEntries(stop("interrupted"), facts)).toMatchObject([{ kind: "interruption" }]);
    expect(toEntries(stop("end_turn"), facts)).toEqual([]);
  });
});

test("payloads of the second generation have one session per process and folder", () => {
  const v2 = { hook_type: "PostToolUse", tool_name: "bash", tool_input: { command: "ls" }, tool_is_error: true };
  const at = (parentPid: number) => toEvents(v2, { ...facts, source: "auggie", cwd: "/home/dev", parentPid })[0];
  expect(at(1)?.session_id).toBe(at(1)?.session_id);
  expect(at(1)?.session_id).not.toBe(at(2)?.session_id);
  expect(dataOf(at(1))).toMatchObject({ tool_name: "bash", status: "error" });
  expect(auggie.known.eventOf?.(v2, facts)).toBe("PostToolUse");
});

test("the registrations are removed byte for byte, and only known events are registered", () => {
  const target = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
  const command = () => "[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook";
  const before =
    '{\n  // mine\n  "model": "x",\n  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "a.sh" }] }] },\n}\n';
  const path = "/home/dev/.augment/settings.json";
  const [added] = installer.add([{ path, text: before }], { scope: "user", target, command, version: undefined });
  expect(installer.registered([added ?? { path, text: "" }])).toEqual([
    "Stop",
    "SessionStart",
    "PromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "SessionEnd",
  ]);
  expect(installer.remove([added ?? { path, text: "" }])[0]?.text).toBe(before);
});
