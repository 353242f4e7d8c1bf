import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/goose/transcript.ts";
import { locateAll } from "../../support/located.ts";
import { Made, ofKind, readAll, refused, request, response, text } from "./made.ts";

const T = Date.UTC(2026, 10, 21, 9) / 1000;
const S = "20261121_1";
const [A, B] = ["call_aaaaaaaaaaaaaaaa", "call_bbbbbbbbbbbbbbbb"];

let made: Made;
beforeEach(() => {
  made = new Made();
  made.session(S, T);
});
afterEach(() => made.remove());

const read = async (sessionId = S) => (await readAll({ home: made.home, sessionId })).entries;
const usages = async (sessionId = S) =>
  ofKind(await read(sessionId), "model_call").map(({ key, usage }) => [key, usage?.output]);

describe("finding sessions", () => {
  test("the same id in two databases is two sessions, each with its origin", async () => {
    const other = join(made.home, "moved", "data", "sessions", "sessions.db");
    mkdirSync(dirname(other), { recursive: true });
    made.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    copyFileSync(made.path, other);
    const roots = reader.roots(made.home, { GOOSE_PATH_ROOT: join(made.home, "moved") });
    const origins = (await reader.originsOf?.({ sessionId: S, home: made.home, roots })) ?? [];
    expect(origins).toEqual([other, made.path].map((database) => ({ database, createdMs: T * 1000 })));
    const { sessions } = await locateAll(reader, made.home, roots);
    expect(sessions.map(({ origin, sessionId }) => [origin?.database, sessionId])).toEqual([
      [other, S],
      [made.path, S],
    ]);
    expect(await reader.originsOf?.({ sessionId: "20261121_9", home: made.home, roots })).toEqual([]);
  });

  test("follows XDG_DATA_HOME; subagents are no sessions, unless their parent is gone", async () => {
    expect(reader.roots("/home/dev", { XDG_DATA_HOME: "/data" })[0]).toBe("/data/goose/sessions");
    made.session("20261121_2", T + 1, S);
    made.session("20261121_3", T + 2, "20261121_0");
    expect((await locateAll(reader, made.home)).sessions.map(({ sessionId }) => sessionId)).toEqual([S, "20261121_3"]);
  });
});

test("one turn: prompt, calls, statuses, times; the time of an answer without tools is measured", async () => {
  made.prompt(S, "p1", T + 1);
  made.answer(S, "chatcmpl-1", T + 1, [text("Look."), request(A)], [100, 10, 40]);
  const done = { isError: true, structuredContent: { exit_code: 3 } };
  made.message(S, "msg_r1", "user", T + 1, [response(A, done)], {}, T + 4);
  made.message(S, "msg_a2", "assistant", T + 1, [request(B, "edit", { path: "/x" })], {}, T + 4);
  made.message(
    S,
    "msg_r2",
    "user",
    T + 1,
    [refused(B, "-32603: Tool call denied by policy hook `deny`: no")],
    {},
    T + 4,
  );
  made.answer(S, "chatcmpl-2", T + 4, [text("Done.")], [120, 7]);
  const entries = await read();
  expect(ofKind(entries, "prompt")).toMatchObject([{ promptKey: "p1", origin: "human", length: 11 }]);
  expect(ofKind(entries, "model_call")).toMatchObject([
    {
      responseId: "chatcmpl-1",
      model: "acme-coder-1",
      provider: "acme",
      usage: { input: 100, output: 10, cacheRead: 40 },
    },
    { responseId: "chatcmpl-2", endMs: (T + 4) * 1000 + 40, promptKey: "p1", complete: true },
  ]);
  expect(ofKind(entries, "model_call")[1]?.usage).toEqual({ input: 120, output: 7 });
  expect(ofKind(entries, "tool_use")).toMatchObject([{ name: "shell", executable: "ls" }, { name: "edit" }]);
  expect(ofKind(entries, "tool_result")).toMatchObject([
    { status: "error", exitCode: 3, timeMs: (T + 4) * 1000 },
    { status: "denied" },
  ]);
  expect(ofKind(entries, "turn_end")).toHaveLength(1);
  expect(ofKind(entries, "session")).toMatchObject([{ cwd: "/home/dev/acme-shop" }]);
});

describe("the ledger", () => {
  test("several reports of one call count once, and its key stays the same while they come", async () => {
    made.prompt(S, "p1", T);
    made.ledger(S, T, [600, 1]);
    expect(await usages()).toEqual([["ledger:1", 1]]);
    made.ledger(S, T, [600, 5]);
    made.answer(S, "chatcmpl-1", T, [text("Done.")], [600, 62]);
    expect(await usages()).toEqual([["ledger:1", 62]]);
  });

  test("equal reports of one call count once, two calls with equal figures twice", async () => {
    made.answer(
      S,
      "chatcmpl-1",
      T,
      [request(A)],
      [600, 62],
      [
        [600, 62],
        [600, 62],
      ],
    );
    made.answer(S, "chatcmpl-2", T, [text("Done.")], [600, 62]);
    expect(await usages()).toEqual([
      ["ledger:1", 62],
      ["ledger:3", 62],
    ]);
  });

  test("calls of messages that /clear removed count, and so does a compaction, with the summary's id", async () => {
    made.ledger(S, T, [500, 25]);
    made.ledger(S, T, [510, 8]);
    made.prompt(S, "p1", T + 5);
    made.ledger(S, T + 5, [900, 30], true);
    made.message(S, "chatcmpl-s", "user", T + 5, [text("Summary")], { userVisible: false });
    made.answer(S, "chatcmpl-1", T + 6, [text("Done.")], [60, 3]);
    const entries = await read();
    expect(ofKind(entries, "model_call")).toMatchObject([
      { usage: { output: 25 } },
      { usage: { output: 8 } },
      { usage: { output: 30 }, responseId: "chatcmpl-s", promptKey: "p1" },
      { usage: { output: 3 }, promptKey: "p1" },
    ]);
    expect(ofKind(entries, "compaction")).toMatchObject([{ key: "compaction:3" }]);
    expect(ofKind(entries, "prompt")).toHaveLength(1);
  });

  test("figures that the provider did not report are unknown", async () => {
    made.answer(S, "chatcmpl-1", T, [text("Done.")], [null, null]);
    const [call] = ofKind(await read(), "model_call");
    expect(call).toMatchObject({ complete: true });
    expect(call && "usage" in call).toBe(false);
  });

  test("a version without a ledger has the figures in its messages", async () => {
    made.answer(S, "chatcmpl-1", T, [text("Done.")], [5, 6]);
    made.db.exec("DROP TABLE usage_ledger");
    expect(await usages()).toEqual([["message:chatcmpl-1", 6]]);
  });
});

describe("a fork", () => {
  const F = "20261121_2";
  const copy = () => {
    made.session(F, T + 10);
    made.db.exec(`INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp, metadata_json)
      SELECT message_id, '${F}', role, content_json, created_timestamp, metadata_json FROM messages WHERE session_id = '${S}'`);
  };

  test("does not count what it copied, also if the original is gone or was compacted", async () => {
    made.prompt(S, "p1", T);
    made.answer(S, "chatcmpl-1", T, [text("Done.")], [100, 10]);
    copy();
    made.prompt(F, "p2", T + 10);
    made.answer(F, "chatcmpl-2", T + 11, [text("Done.")], [110, 11]);
    const check = async () => {
      const entries = await read(F);
      expect(ofKind(entries, "model_call").map(({ responseId }) => responseId)).toEqual(["chatcmpl-2"]);
      expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual(["p2"]);
      expect(ofKind(entries, "turn_end")).toHaveLength(1);
    };
    await check();
    made.db.exec(`UPDATE messages SET id = id + 1000 WHERE session_id = '${S}'`);
    await check();
    made.db.exec(`DELETE FROM messages WHERE session_id = '${S}'; DELETE FROM sessions WHERE id = '${S}'`);
    await check();
  });

  test("within the second of the last message, the original shows the copies", async () => {
    made.prompt(S, "p1", T + 10);
    made.answer(S, "chatcmpl-1", T + 10, [text("Done.")], [100, 10]);
    copy();
    expect(ofKind(await read(F), "prompt")).toEqual([]);
    expect(await usages(S)).toHaveLength(1);
  });
});

test("a command for Goose itself is no prompt, and its reply ends no turn; a prompt that begins with a slash is one", async () => {
  const hidden = { agentVisible: false };
  made.message(S, "p1", "user", T, [text("/home/dev is full?")], hidden);
  made.message(S, "chatcmpl-1", "assistant", T, [text("No.")], { ...hidden, usage: { inputTokens: 100 } });
  made.message(S, "chatcmpl-2", "user", T + 9, [text("Summary")], { userVisible: false });
  made.ledger(S, T + 9, [110, 30], true);
  for (const [at, command] of ["/compact", "Please compact this conversation"].entries()) {
    made.message(S, `msg_${at}0000000-0000-4000-8000-000000000000`, "user", T + 9, [text(command)], hidden);
    const id = `msg_${at}0000000-0000-4000-8000-000000000001`;
    made.message(S, id, "assistant", T + 9, [text("Compaction complete")], hidden);
  }
  made.prompt(S, "p2", T + 20);
  made.answer(S, "chatcmpl-3", T + 21, [text("Done.")], [120, 12]);
  const entries = await read();
  expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual(["p1", "p2"]);
  expect(ofKind(entries, "turn_end").map(({ promptKey }) => promptKey)).toEqual(["p1", "p2"]);
  expect(ofKind(entries, "model_call")).toMatchObject([
    { purpose: "compaction", promptKey: "p1" },
    { promptKey: "p2" },
  ]);
});

test("a call that was lost is incomplete once a new prompt shows that the process was killed", async () => {
  made.prompt(S, "p1", T);
  made.answer(S, "chatcmpl-1", T, [request(A)], [100, 10]);
  made.message(S, "msg_r1", "user", T, [response(A)]);
  expect(ofKind(await read(), "model_call")).toHaveLength(1);
  made.prompt(S, "p2", T + 60);
  made.answer(S, "chatcmpl-2", T + 61, [text("Done.")], [110, 11]);
  const lost = ofKind(await read(), "model_call").filter(({ complete }) => !complete);
  expect(lost).toMatchObject([{ key: "lost:p1", promptKey: "p1" }]);
  expect(lost[0]?.usage).toBeUndefined();
});

test("killed in its first call: the answer that started the subagents was lost, and so was the unfinished subagent's last", async () => {
  const [ended, cut] = [made.session("20261121_2", T + 1, S), made.session("20261121_3", T + 1, S)];
  made.prompt(S, "p1", T);
  made.prompt(ended, "p2", T + 1);
  made.answer(ended, "chatcmpl-2", T + 2, [text("Found.")], [20, 2]);
  made.prompt(cut, "p3", T + 1);
  made.answer(cut, "chatcmpl-3", T + 2, [request(B)], [30, 3]);
  made.message(cut, "msg_r1", "user", T + 2, [response(B)]);
  const lost = async () => ofKind(await read(), "model_call").filter(({ complete }) => !complete);
  expect(await lost()).toEqual([]);
  made.prompt(S, "p4", T + 60);
  expect(await lost()).toMatchObject([
    { key: "lost:p1", promptKey: "p1" },
    { key: `lost:${cut}`, agentId: cut },
  ]);
});

test("a request that failed at once, or whose subagent's call is there, was not lost", async () => {
  made.prompt(S, "p1", T);
  made.prompt(S, "p2", T + 10);
  made.answer(S, "chatcmpl-1", T + 11, [request(A, "delegate", { instructions: "x" })], [100, 10]);
  const child = made.session("20261121_2", T + 11, S);
  made.prompt(child, "p3", T + 11);
  made.message(S, "msg_r1", "user", T + 12, [response(A, { isError: false, _meta: { subagent_session_id: child } })]);
  made.answer(S, "chatcmpl-2", T + 13, [text("Done.")], [110, 11]);
  made.prompt(S, "p4", T + 60);
  expect(ofKind(await read(), "model_call").filter(({ complete }) => !complete)).toEqual([]);
});

test("a subagent belongs below the call whose result names it, also one in the background", async () => {
  made.prompt(S, "p1", T);
  made.answer(S, "chatcmpl-1", T, [request(A, "delegate", { instructions: "x" })], [100, 10]);
  const child = made.session("20261121_2", T, S);
  made.prompt(child, "p2", T);
  made.answer(child, "chatcmpl-2", T, [request(B)], [20, 2]);
  made.message(S, "msg_r1", "user", T, [response(A, { isError: false, _meta: { subagent_session_id: child } })]);
  const entries = await read();
  expect(ofKind(entries, "subagent")).toMatchObject([{ agentId: child, parentCallId: A }]);
  expect(ofKind(entries, "tool_result")).toMatchObject([{ spawnedAgentId: child }]);
  expect(ofKind(entries, "prompt")).toHaveLength(1);
  expect(ofKind(entries, "model_call")).toMatchObject([
    { usage: { output: 10 } },
    { agentId: child, usage: { output: 2 } },
  ]);
  expect(await read(child)).toMatchObject([{ kind: "session", parentSessionId: S }]);
});

test("ids that a provider counts are made unique; a row that is no JSON is counted", async () => {
  for (const n of [0, 1]) {
    made.answer(S, `chatcmpl-${n}`, T + n, [request("call_0")], [100 + n, 10]);
    made.message(S, `msg_r${n}`, "user", T + n, [response("call_0", { isError: n === 1 })]);
  }
  made.db.exec(
    `INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp) VALUES ('bad', '${S}', 'user', '[', ${T})`,
  );
  const { entries, unreadable } = await readAll({ home: made.home, sessionId: S });
  expect(unreadable).toBe(1);
  expect(ofKind(entries, "tool_use")).toMatchObject([
    { callId: "call_0", givenId: "call_0" },
    { callId: "call_0#chatcmpl-1", givenId: "call_0" },
  ]);
  expect(ofKind(entries, "tool_result")).toMatchObject([
    { callId: "call_0", status: "success" },
    { callId: "call_0#chatcmpl-1", status: "error" },
  ]);
});
