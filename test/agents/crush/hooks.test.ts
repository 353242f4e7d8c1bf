import { afterEach, beforeEach, expect, test } from "vitest";
import { adapter } from "#agents/crush/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { openDatabase } from "#store/database.ts";
import { Replay } from "../../support/replay.ts";
import { summaryOf } from "../../support/summary.ts";
import { call, finish, Made, result, text } from "./made.ts";

const { recognises, toEvents } = adapter;

const S = "4fd59e66-f529-4079-8a91-d8b1cea1bfae";
const AT = Date.UTC(2026, 10, 25, 9);
const T = AT / 1000;

let made: Made;
let replay: Replay;
beforeEach(() => {
  replay = new Replay("crush", "basic", { withTranscripts: false });
  made = new Made(replay.home);
  made.session(S, T);
  made.prompt(S, "p1", T);
});
afterEach(() => made.remove());

const payload = (command: string, name = "bash") => ({
  event: "PreToolUse",
  session_id: S,
  cwd: made.project,
  tool_name: name,
  tool_input: { command },
});

/** Puts the hook's call `ms` after the session's start. */
const put = (command: string, ms: number, name?: string) =>
  replay.put({
    received_at: new Date(AT + ms).toISOString(),
    event: "PreToolUse",
    env: { CRUSH: "1", CRUSH_SESSION_ID: S, CRUSH_PROJECT_DIR: made.project },
    stdin: payload(command, name),
  });

const answer = (id: string, calls: readonly string[]) => {
  made.message(S, id, "assistant", T, [
    text("Look."),
    ...calls.map((command, index) => call(`call_${id}aaaaaaaaaaaaaaaa${index}`, "bash", { command })),
    finish("tool_use", T + 1),
  ]);
  for (const [index] of calls.entries()) {
    made.message(S, `r${id}${index}`, "tool", T, [result(`call_${id}aaaaaaaaaaaaaaaa${index}`, "x")]);
  }
};

test("a start is joined with the database's call by tool and input, and keeps its exact time", async () => {
  answer("a1", ["ls", "pwd"]);
  put("ls", 250);
  put("pwd", 500);
  await replay.drain({ endIdle: true });
  const tools = rows(`SELECT call_id, start_ms FROM tool_calls ORDER BY start_ms`);
  expect(tools).toEqual([
    { call_id: "call_a1aaaaaaaaaaaaaaaa0", start_ms: AT + 250 },
    { call_id: "call_a1aaaaaaaaaaaaaaaa1", start_ms: AT + 500 },
  ]);
});

test("a hook that is registered twice reports no call twice, also in a later drain", async () => {
  answer("a1", ["ls", "ls"]);
  put("ls", 100);
  put("ls", 104);
  put("ls", 300);
  await replay.drain();
  put("ls", 301);
  made.message(S, "a2", "assistant", T + 1, [text("Done."), finish("end_turn", T + 1)]);
  await replay.drain();
  put("ls", 302);
  await replay.drain({ endIdle: true });
  const got = summaryOf(replay.places.storePath, S);
  expect(got?.tools.map(({ status }) => status)).toEqual(["success", "success"]);
  expect(got?.unsettled).toBe(0);
});

test("without a readable database every start is a call whose end is unknown", async () => {
  made.db.exec("DROP TABLE messages; DROP TABLE sessions");
  put("ls", 100);
  await replay.drain({ endIdle: true });
  put("pwd", 3_600_000);
  await replay.drain({ endIdle: true });
  const got = summaryOf(replay.places.storePath, S);
  expect(got?.tools.map(({ status }) => status)).toEqual(["unfinished", "unfinished"]);
});

test("the end of a session is that of its last turn in the database", async () => {
  made.message(S, "a1", "assistant", T, [finish("error", T + 1, { message: "Bad Request" })]);
  put("ls", 100);
  await replay.drain({ endIdle: true });
  expect(summaryOf(replay.places.storePath, S)?.segments).toMatchObject([{ reason: "error" }]);
});

test("two registrations at one moment are one event, two moments are two", () => {
  const intake = (timeMs: number, hookPid: number): IntakeFacts => ({
    timeMs,
    hookPid,
    env: { CRUSH: "1", CRUSH_PROJECT_DIR: "/home/dev/acme-shop" },
    payloadBytes: 1,
    truncated: false,
  });
  const one = (timeMs: number, hookPid: number, command = "ls") =>
    toEvents(payload(command), intake(timeMs, hookPid))[0];
  const event = one(1, 1);
  expect(recognises(payload("ls"), intake(1, 1))).toBe("certain");
  expect([one(1, 2)?.id, one(2, 1)?.id, one(1, 1, "pwd")?.id].map((id) => id === event?.id)).toEqual([
    true,
    false,
    false,
  ]);
  expect(event && extrasOf(event)).toMatchObject({
    in_transcript: true,
    transcript_path: "/home/dev/acme-shop/.crush/crush.db",
  });
});

function rows(sql: string): readonly unknown[] {
  const db = openDatabase(replay.places.storePath);
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}
