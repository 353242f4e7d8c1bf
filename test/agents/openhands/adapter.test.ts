import { expect, test } from "vitest";
import { adapter } from "#agents/openhands/adapter.ts";
import { toFileWrites } from "#agents/openhands/file-writes.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { openDatabase } from "#store/database.ts";
import { clockAt } from "../../support/clock.ts";
import { type RecordedCall, Replay } from "../../support/replay.ts";
import { MadeConversation, ofKind } from "./made.ts";

const { recognises, toEvents } = adapter;

const intake: IntakeFacts = { timeMs: 1_700_000_000_000, env: {}, payloadBytes: 1, truncated: false };
const payload = (event_type: string, members: object = {}) => ({
  event_type,
  tool_name: null,
  tool_input: null,
  tool_response: null,
  message: null,
  session_id: "6f0c1c1e-7b7e-4b43-9d0e-0a1b2c3d4e5f",
  working_dir: "/home/dev/acme-shop",
  metadata: {},
  ...members,
});
const tool = (event: string, tool_input: object, tool_response: object | null = null) =>
  payload(event, { tool_name: "terminal", tool_input, tool_response });

test("three members that no other agent sends together make it certain, with any value", () => {
  expect(recognises(payload("Stop"), intake)).toBe("certain");
  expect(recognises({ event_type: "Stop", working_dir: null, metadata: null }, intake)).toBe("certain");
  expect(recognises({ event_type: "Stop", session_id: "s" }, intake)).toBe("possible");
});

test("a missing file is an error, a command's exit code is not; a command that still runs has no exit code", () => {
  const end = (tool_response: object) => toEvents(tool("PostToolUse", { command: "x" }, tool_response), intake)[0];
  const facts = (event: ReturnType<typeof end>) => [
    event?.type === "tool.end" && event.data?.status,
    event && extrasOf(event).exit_code,
  ];
  expect(facts(end({ is_error: true }))).toEqual(["error", undefined]);
  expect(facts(end({ is_error: false, exit_code: 3 }))).toEqual(["success", 3]);
  expect(facts(end({ is_error: false, exit_code: -1 }))).toEqual(["success", undefined]);
});

test("a call has the digest of its event file, where unused members are missing instead of null", async () => {
  const made = new MadeConversation();
  made.prompt(0, "Check");
  made.action(10, "r1", "call_0123456789abcdef0001", "terminal", {
    command: "ls",
    options: [{ deep: true }],
    kind: "TerminalAction",
  });
  const [use] = ofKind(await made.read(), "tool_use");
  made.remove();
  const input = { command: "ls", timeout: null, options: [{ deep: true, unused: null }], kind: "TerminalAction" };
  const [event] = toEvents(tool("PreToolUse", input), intake);
  expect(use?.inputDigest).toBeDefined();
  expect(event && extrasOf(event)).toMatchObject({
    input_digest: use?.inputDigest,
    executable: "ls",
    in_transcript: true,
  });
});

test("the editor's changes are file writes, its views and failures are none", () => {
  const writes = (command: string, response: object) => {
    const input = { command, path: "/home/dev/acme-shop/a.js", file_text: "one\ntwo\n" };
    const edited = payload("PostToolUse", { tool_name: "file_editor", tool_input: input, tool_response: response });
    return toFileWrites(edited, { events: toEvents(edited, intake), entries: [] });
  };
  const path = "/home/dev/acme-shop/a.js";
  expect(writes("create", { prev_exist: false })).toMatchObject([{ path, operation: "create", added: 2 }]);
  expect(writes("create", { prev_exist: true })).toMatchObject([{ path, startLine: 1, endLine: 2 }]);
  expect(writes("str_replace", { prev_exist: true })).toEqual([{ path, operation: "update" }]);
  expect(writes("view", {})).toEqual([]);
  expect(writes("insert", { is_error: true })).toEqual([]);
});

test("ends of parallel calls, which hooks report together, have the times of the event files", async () => {
  const replay = new Replay("openhands", "parallel-tools");
  for (const call of replay.calls) replay.put(call);
  const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  await replay.drain({ endIdle: true }, clockAt(lastMs + 1_000));
  const db = openDatabase(replay.places.storePath);
  const calls = db.prepare("SELECT call_id, body FROM tool_calls ORDER BY start_ms").all();
  db.close();
  const ends = calls.map((row) =>
    new Date(JSON.parse(String(row["body"])).endMs as number).toISOString().slice(17, 23),
  );
  replay.remove();
  expect(ends.slice(0, 4)).toEqual(["54.912", "54.912", "56.281", "56.910"]);
});

test("a hook that comes before the event files are there counts once", async () => {
  const replay = new Replay("openhands", "kill-resume", { withTranscripts: false });
  const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  const drainAt = (call: RecordedCall) => replay.drain({}, clockAt(Date.parse(call.received_at)));
  for (const call of replay.calls) {
    replay.put(call);
    await drainAt(call);
    replay.writeTranscripts({ untilMs: Date.parse(call.received_at) });
  }
  replay.writeTranscripts();
  await replay.drain({ endIdle: true }, clockAt(lastMs + 60_000));
  const db = openDatabase(replay.places.storePath);
  const statuses = db
    .prepare("SELECT json_extract(body, '$.status') AS status FROM tool_calls ORDER BY start_ms")
    .all();
  db.close();
  replay.remove();
  expect(statuses.map(({ status }) => status)).toEqual(["success", "unfinished", "success"]);
});
