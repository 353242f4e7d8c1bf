import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hasSessions } from "#agents/crush/places.ts";
import reader from "#agents/crush/transcript.ts";
import { locateAll } from "../../support/located.ts";
import { removeFolder } from "../../support/remove.ts";
import { call, finish, Made, ofKind, readAll, result, text } from "./made.ts";

const T = Date.UTC(2026, 10, 21, 9) / 1000;
const S = "4fd59e66-f529-4079-8a91-d8b1cea1bfae";

let made: Made;
beforeEach(() => {
  made = new Made();
  made.session(S, T);
});
afterEach(() => made.remove());

const read = async (sessionId = S) => (await readAll({ home: made.home, sessionId })).entries;

describe("finding sessions", () => {
  test("finds the databases of the projects in Crush's list, wherever their data folder is", async () => {
    const elsewhere = new Made(mkdtempSync(join(tmpdir(), "openhook-crush-data-")), "data");
    elsewhere.session("moved", T + 5);
    const list = join(made.home, ".local", "share", "crush", "projects.json");
    mkdirSync(dirname(list), { recursive: true });
    const projects = [dirname(made.path), dirname(elsewhere.path), "relative", "/"];
    writeFileSync(list, JSON.stringify({ projects: projects.map((data_dir) => ({ path: "/home/dev/x", data_dir })) }));
    expect(reader.roots(made.home, {})).toEqual([
      dirname(made.path),
      dirname(elsewhere.path),
      join(made.home, ".crush"),
    ]);
    expect((await locateAll(reader, made.home)).sessions.map(({ path }) => path)).toEqual([made.path, elsewhere.path]);
    expect((await reader.files({ sessionId: "moved", home: made.home }))[0]?.path).toBe(elsewhere.path);
    expect(hasSessions(made.home, {})).toBe(true);
    elsewhere.remove();
  });

  test("a home without a database has none, so its reader is not loaded", () => {
    const home = mkdtempSync(join(tmpdir(), "openhook-crush-none-"));
    mkdirSync(join(home, "project", ".crush"), { recursive: true });
    mkdirSync(join(home, ".local", "share", "crush", "projects.json"), { recursive: true });
    expect(hasSessions(home, {})).toBe(false);
    expect(hasSessions(home, { CRUSH_PROJECT_DIR: dirname(dirname(made.path)) })).toBe(true);
    removeFolder(home);
  });

  test("without the list, finds projects in the home folder; the hook's variable adds its project", async () => {
    expect(reader.roots(made.home, {})).toEqual([dirname(made.path), join(made.home, ".crush")]);
    const roots = reader.roots(made.home, { CRUSH_PROJECT_DIR: "/srv/shop" });
    expect(roots[0]).toBe("/srv/shop/.crush");
    expect((await locateAll(reader, made.home)).sessions.map(({ sessionId }) => sessionId)).toEqual([S]);
  });

  test("ignores a damaged list and a database of another program", async () => {
    const list = join(made.home, ".local", "share", "crush", "projects.json");
    mkdirSync(dirname(list), { recursive: true });
    writeFileSync(list, "{");
    const other = new Made(made.home, join("other", ".crush"));
    other.db.exec("DROP TABLE sessions; CREATE TABLE sessions (id TEXT)");
    const { sessions, problems } = await locateAll(reader, made.home);
    expect([sessions.map(({ sessionId }) => sessionId), problems]).toEqual([[S], []]);
    other.db.close();
  });

  test("reads the tables of versions without provider and summaries", async () => {
    made.db.exec("ALTER TABLE messages DROP COLUMN provider; ALTER TABLE messages DROP COLUMN is_summary_message");
    made.db.exec(
      `INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at)
        VALUES ('m1', '${S}', 'assistant', '[{"type":"finish","data":{"reason":"end_turn","time":${T}}}]', 'm', ${T}, ${T})`,
    );
    expect(ofKind(await read(), "model_call")).toMatchObject([{ model: "m", complete: true }]);
  });
});

describe("one turn", () => {
  test("has prompt, calls, statuses and times; tokens are unknown", async () => {
    made.prompt(S, "p1", T + 1);
    made.message(S, "a1", "assistant", T + 1, [
      text("Look."),
      call("call_aaaaaaaaaaaaaaaa", "bash", { command: "ls src" }),
      call("call_bbbbbbbbbbbbbbbb", "edit", { file_path: "/x" }),
      finish("tool_use", T + 4),
    ]);
    const shell = { start_time: (T + 2) * 1000 + 5, end_time: (T + 3) * 1000 + 255 };
    made.message(S, "r1", "tool", T + 3, [result("call_aaaaaaaaaaaaaaaa", "a", { metadata: JSON.stringify(shell) })]);
    made.message(S, "r2", "tool", T + 4, [
      result("call_bbbbbbbbbbbbbbbb", "no", { is_error: true, metadata: '{"additions":2,"removals":1}' }),
    ]);
    made.message(S, "a2", "assistant", T + 4, [text("Done."), finish("end_turn", T + 6)]);
    const entries = await read();
    expect(ofKind(entries, "prompt")).toMatchObject([{ promptKey: "p1", origin: "human", length: 11 }]);
    const calls = ofKind(entries, "model_call");
    expect(calls).toMatchObject([
      { model: "acme-coder-1", provider: "acme", asksForTools: true, startMs: (T + 1) * 1000, complete: true },
      { finishReason: "end_turn", endMs: (T + 6) * 1000, promptKey: "p1" },
    ]);
    expect(calls.every(({ usage }) => usage === undefined)).toBe(true);
    expect(ofKind(entries, "tool_use")).toMatchObject([{ executable: "ls" }, { name: "edit" }]);
    expect(ofKind(entries, "tool_result")).toMatchObject([
      { status: "success", durationMs: 1250, timeMs: (T + 3) * 1000 + 255 },
      { status: "error", linesAdded: 2, linesRemoved: 1 },
    ]);
    expect(ofKind(entries, "turn_end")).toHaveLength(1);
    expect(ofKind(entries, "session")).toMatchObject([{ cwd: made.project }]);
  });

  test.each([
    ["Tool call blocked by hook. Reason: no", "{}", { status: "denied" }],
    ["anything", '{"hook":{"decision":"deny"}}', { status: "denied" }],
    ["User denied permission", "{}", { status: "denied" }],
    ["Error: user cancelled assistant tool calling", "{}", { status: "error", errorType: "interrupted" }],
    ["File not found", "not JSON", { status: "error" }],
  ])("a failed call with %j", async (content, metadata, expected) => {
    made.message(S, "a1", "assistant", T, [call("call_aaaaaaaaaaaaaaaa", "bash", {}), finish("tool_use", T)]);
    made.message(S, "r1", "tool", T, [result("call_aaaaaaaaaaaaaaaa", content, { metadata, is_error: true })]);
    expect(ofKind(await read(), "tool_result")).toMatchObject([expected]);
  });

  test("a failed request is an error and no call; a cancelled one is an interruption", async () => {
    made.prompt(S, "p1", T);
    made.message(S, "a1", "assistant", T, [finish("error", T + 1, { message: "Too Many Requests", details: "x" })]);
    made.message(S, "a2", "assistant", T, [finish("error", T + 1, { message: "Provider Error" })]);
    made.message(S, "a3", "assistant", T, [text("I"), finish("canceled", T + 2)]);
    const entries = await read();
    expect(ofKind(entries, "model_call")).toEqual([]);
    expect(ofKind(entries, "model_error")).toMatchObject([
      { errorType: "429", httpStatus: 429, final: true },
      { errorType: "_OTHER" },
    ]);
    expect(ofKind(entries, "interruption")).toHaveLength(1);
    expect(ofKind(entries, "turn_end")).toEqual([]);
  });
});

test("a message is read again until it is finished: the call of a killed process stays incomplete", async () => {
  made.prompt(S, "p1", T);
  made.message(S, "a1", "assistant", T, [call("call_aaaaaaaaaaaaaaaa", "bash", { command: "sleep 9" })]);
  const first = await readAll({ home: made.home, sessionId: S });
  expect(ofKind(first.entries, "model_call")).toMatchObject([{ complete: false }]);
  made.message(S, "a1", "assistant", T, [
    call("call_aaaaaaaaaaaaaaaa", "bash", { command: "sleep 9" }),
    finish("tool_use", T + 9),
  ]);
  const second = await readAll({ home: made.home, sessionId: S }, first.offsets);
  expect(second.entries.map(({ key }) => key)).toEqual(["message:a1", "use:a1:call_aaaaaaaaaaaaaaaa"]);
  expect(ofKind(second.entries, "model_call")).toMatchObject([{ complete: true }]);
  expect((await readAll({ home: made.home, sessionId: S }, second.offsets)).entries).toEqual([]);
});

test("read again after a resume, a killed message stays in its turn, and takes no result from a later call with its id", async () => {
  const query = { home: made.home, sessionId: S };
  made.prompt(S, "p1", T);
  made.message(S, "a1", "assistant", T, [call("bash:0", "bash", { command: "sleep 9" })]);
  const first = await readAll(query);
  made.prompt(S, "p2", T + 60);
  made.message(S, "a2", "assistant", T + 60, [call("bash:0", "bash", { command: "ls" }), finish("tool_use", T + 60)]);
  const second = await readAll(query, first.offsets);
  made.message(S, "r2", "tool", T + 61, [result("bash:0", "x")]);
  const third = await readAll(query, second.offsets);
  const calls = [...first.entries, ...second.entries, ...third.entries].filter(({ kind }) => kind === "model_call");
  const turns = calls.map((entry) => `${entry.key} ${"promptKey" in entry ? entry.promptKey : ""}`);
  expect([...new Set(turns)].sort()).toEqual(["message:a1 p1", "message:a2 p2"]);
  expect(ofKind(third.entries, "tool_result")).toMatchObject([{ callId: "bash:0#a2", promptKey: "p2" }]);
});

test("the message that Crush writes after a summary continues the turn; the same text of a user is a prompt", async () => {
  const again = "The previous session was interrupted because it got too long, the initial user request was: `x`";
  made.prompt(S, "p1", T);
  made.message(S, "a1", "assistant", T, [text("Summary"), finish("end_turn", T + 1)], true);
  made.prompt(S, "p2", T + 1, again);
  made.message(S, "a2", "assistant", T + 1, [text("Done."), finish("end_turn", T + 2)]);
  made.prompt(S, "p3", T + 3, again);
  made.message(S, "p4", "user", T + 4, [{ type: "shell_command", data: { command: "ls", output: "", exit_code: 0 } }]);
  made.message(S, "p5", "user", T + 5, [text("generated", { hidden: true })]);
  const entries = await read();
  expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual(["p1", "p3"]);
  expect(ofKind(entries, "compaction")).toHaveLength(1);
  expect(ofKind(entries, "model_call").map(({ promptKey }) => promptKey)).toEqual(["p1", "p1"]);
  expect(ofKind(entries, "turn_end")).toHaveLength(1);
});

test("a subagent's session belongs below the call that its id names, at any depth", async () => {
  made.prompt(S, "p1", T);
  made.message(S, "a1", "assistant", T, [call("agent:0", "agent", { prompt: "x" }), finish("tool_use", T)]);
  const child = made.session("a1$$agent:0", T, S);
  made.prompt(child, "p2", T);
  made.message(child, "a2", "assistant", T, [call("agent:0", "agentic_fetch", {}), finish("tool_use", T)]);
  const grandchild = made.session("a2$$agent:0", T, child);
  made.message(grandchild, "a3", "assistant", T, [text("Found."), finish("end_turn", T)]);
  const entries = await read();
  expect(ofKind(entries, "prompt")).toHaveLength(1);
  expect(ofKind(entries, "subagent")).toMatchObject([
    { agentId: child, agentType: "agent", parentCallId: "agent:0" },
    { agentId: grandchild, agentType: "agentic_fetch", parentCallId: "agent:0#a2", parentAgentId: child },
  ]);
  expect(ofKind(entries, "tool_use").map(({ callId }) => callId)).toEqual(["agent:0", "agent:0#a2"]);
  expect(ofKind(entries, "turn_end")).toEqual([]);
  expect((await locateAll(reader, made.home)).sessions).toHaveLength(1);
});

test("a result belongs to the latest call with its id, if the provider counts calls from 0 in each answer", async () => {
  for (const [n, isError] of [false, true].entries()) {
    made.message(S, `a${n}`, "assistant", T + n, [call("bash:0", "bash", {}), finish("tool_use", T + n)]);
    made.message(S, `r${n}`, "tool", T + n, [result("bash:0", "x", { is_error: isError })]);
  }
  expect(ofKind(await read(), "tool_result")).toMatchObject([
    { callId: "bash:0", status: "success" },
    { callId: "bash:0#a1", status: "error" },
  ]);
});

test("rows that are no JSON are counted, and a replaced database is read from the start", async () => {
  made.prompt(S, "p1", T);
  made.db.exec(`INSERT INTO messages (id, session_id, role, parts, created_at, updated_at)
    VALUES ('bad', '${S}', 'assistant', '{', ${T}, ${T})`);
  const first = await readAll({ home: made.home, sessionId: S });
  expect([first.unreadable, ofKind(first.entries, "prompt").length]).toEqual([1, 1]);
  made.db.exec("DELETE FROM messages");
  made.prompt(S, "p7", T);
  made.prompt(S, "p8", T);
  const second = await readAll({ home: made.home, sessionId: S }, first.offsets);
  expect(ofKind(second.entries, "prompt").map(({ promptKey }) => promptKey)).toEqual(["p7", "p8"]);
});

test("a view in place of a table is refused, and nothing is written beside the database", async () => {
  const other = new Libsql(join(made.home, "view.db"), {});
  other.exec("CREATE TABLE t (id, parent_session_id, created_at); CREATE VIEW sessions AS SELECT * FROM t");
  other.close();
  const query = { sessionId: S, path: join(made.home, "view.db"), home: join(made.home, "nowhere") };
  await expect(reader.files(query)).rejects.toThrow(/is a view/);
});
