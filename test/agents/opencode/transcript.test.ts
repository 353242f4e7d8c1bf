import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import card from "#agents/opencode/index.ts";
import reader from "#agents/opencode/transcript.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { locateAll } from "../../support/located.ts";
import { Made, merged, ofKind, readAll } from "./made.ts";

const T = Date.UTC(2026, 10, 21, 9);
const S = "ses_e0350000000000AcmeShop";

let made: Made;
beforeEach(() => {
  made = new Made();
  made.session(S, T);
});
afterEach(() => made.remove());

const read = async (sessionId = S) => (await readAll({ home: made.home, sessionId })).entries;

describe("finding sessions", () => {
  test("finds root sessions in every channel's database", async () => {
    made.session("ses_child", T + 1, S);
    made.session("ses_orphan", T + 2, "ses_deleted");
    const dev = join(dirname(made.path), "opencode-dev.db");
    const other = new Libsql(dev, {});
    other.exec("CREATE TABLE session (id text, parent_id text, directory text, version text, time_created integer)");
    other.exec("INSERT INTO session VALUES ('ses_dev', NULL, '/home/dev', '1.0.0', 1)");
    other.close();
    const found = (await locateAll(reader, made.home)).sessions.map(({ sessionId, path }) => `${sessionId} ${path}`);
    expect(found).toEqual([`ses_dev ${dev}`, `${S} ${made.path}`, `ses_orphan ${made.path}`]);
    expect((await reader.files({ sessionId: "ses_dev", path: made.path, home: made.home }))[0]?.path).toBe(dev);
  });

  // Columns as OpenCode 2.0.3 writes them: codeburn issue 1293, ccusage issue 1644
  test("reports sessions that OpenCode 2 created or resumed as unread, but not those it only migrated", async () => {
    const folder = join(made.home, "two", ".local", "share", "opencode");
    mkdirSync(folder, { recursive: true });
    const alone = new Libsql(join(folder, "opencode.db"), {});
    const table = `CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, fork_session_id text,
      time_created integer NOT NULL, time_updated integer NOT NULL)`;
    alone.exec(table);
    const home = join(made.home, "two");
    const unreadIn = async (at: string) =>
      card.unreadFormats({ home: at, roots: reader.roots(at, {}), onProblem: (path) => expect.unreachable(path) });
    expect(await unreadIn(home)).toEqual([]);
    alone.exec("INSERT INTO session_v2 VALUES ('ses_a', NULL, NULL, 1, 1), ('ses_b', NULL, 'ses_a', 2, 2)");
    alone.close();
    expect(await unreadIn(home)).toEqual([
      expect.stringMatching(/^2 sessions of OpenCode in ".*opencode\.db" cannot be read/),
    ]);

    made.db.exec(`${table}; INSERT INTO session_v2 SELECT id, NULL, NULL, time_created, time_updated FROM session`);
    expect(await unreadIn(made.home)).toEqual([]);
    made.db.exec("UPDATE session_v2 SET time_updated = time_updated + 1");
    expect(await unreadIn(made.home)).toEqual([
      expect.stringMatching(/^1 session of OpenCode .* tables are those of OpenCode 2/),
    ]);
    expect((await locateAll(reader, made.home)).sessions.map(({ sessionId }) => sessionId)).toEqual([S]);
  });

  test("keeps no lock after reading: OpenCode can truncate its -wal", async () => {
    await locateAll(reader, made.home);
    await read();
    const [shortened] = made.db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
    expect(shortened).toMatchObject({ busy: 0 });
  });

  test("prefers the given path to the default one, also outside the home", async () => {
    const moved = join(made.home, "data dir #1", "opencode", "sessions?.db");
    mkdirSync(dirname(moved), { recursive: true });
    made.db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    copyFileSync(made.path, moved);
    const [file] = await reader.files({ sessionId: S, path: moved, home: made.home });
    expect(file).toEqual({ path: moved, key: `${moved}#${S}`, watch: [moved, `${moved}-wal`] });
    const { entries } = await readAll({ sessionId: S, path: moved, home: "/home/dev/nowhere" });
    expect(ofKind(entries, "session")).toMatchObject([{ agentVersion: "1.18.33", cwd: "/home/dev/acme-shop" }]);
  });

  test("a deleted session has an empty part; without a database there is none", async () => {
    made.db.exec("DELETE FROM session");
    expect(await readAll({ sessionId: S, path: made.path, home: made.home })).toMatchObject({ entries: [] });
    expect(await reader.files({ sessionId: S, home: made.home })).toEqual([]);
    expect(await reader.files({ sessionId: S, path: "/home/dev/no.db", home: "/home/dev/nowhere" })).toEqual([]);
  });

  test("finds nothing in a database without tables, and reports a file that is no database", async () => {
    const folder = join(made.home, "other", ".local", "share", "opencode");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "opencode.db"), "");
    expect(await reader.files({ sessionId: S, home: join(made.home, "other") })).toEqual([]);
    writeFileSync(join(folder, "opencode.db"), "no database at all ".repeat(100));
    await expect(reader.files({ sessionId: S, home: join(made.home, "other") })).rejects.toThrow(/not a database/);
    // An unreadable database does not hide the next
    copyFileSync(join(folder, "opencode.db"), join(dirname(made.path), "opencode-a.db"));
    expect(await reader.files({ sessionId: S, home: made.home })).toHaveLength(1);
    const { sessions, problems } = await locateAll(reader, made.home);
    expect(sessions).toMatchObject([{ sessionId: S }]);
    expect(problems).toMatchObject([{ error: { message: expect.stringMatching(/not a database/) } }]);
  });
});

describe("while OpenCode is running", () => {
  test("reads rows that are only in the -wal, also without a -shm", async () => {
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20);
    const copy = join(made.home, "copy", ".local", "share", "opencode");
    mkdirSync(copy, { recursive: true });
    for (const suffix of ["", "-wal"]) copyFileSync(`${made.path}${suffix}`, join(copy, `opencode.db${suffix}`));
    expect(existsSync(join(copy, "opencode.db-shm"))).toBe(false);
    const { entries } = await readAll({ sessionId: S, home: join(made.home, "copy") });
    expect(entries.map(({ kind }) => kind)).toEqual(["session", "prompt", "model_call"]);
  });

  test("waits for a lock, and fails if it is not released", async () => {
    made.db.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
    const startMs = Date.now();
    await expect(reader.files({ sessionId: S, home: made.home })).rejects.toThrow(/locked/);
    expect(Date.now() - startMs).toBeGreaterThan(1_500);
    made.db.exec("COMMIT");
    expect(await reader.files({ sessionId: S, home: made.home })).toHaveLength(1);
  });

  test("changes nothing, and another process can keep writing", async () => {
    const script = `
      const Libsql = require("libsql");
      const db = new Libsql(process.argv[1], {});
      db.exec("PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 5000");
      const put = db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
      for (let n = 0; n < 400; n++) put.run("msg_" + n, process.argv[2], n, n, JSON.stringify({ role: "assistant",
        modelID: "m", finish: "stop", tokens: { input: 1, output: 1 }, time: { created: ${T} + n, completed: ${T} + n } }));
      db.close();`;
    const writer = spawn(process.execPath, ["-e", script, made.path, S], { stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    writer.stderr.on("data", (text) => {
      errors += text;
    });
    const done = new Promise((resolve) => writer.on("close", resolve));
    const seen: TranscriptEntry[] = [];
    let offsets: Awaited<ReturnType<typeof readAll>>["offsets"] = new Map();
    for (let isDone = false; !isDone; ) {
      isDone = await Promise.race([done.then(() => true), new Promise<false>((go) => setTimeout(go, 5, false))]);
      const reading = await readAll({ sessionId: S, home: made.home }, offsets);
      seen.push(...reading.entries);
      offsets = reading.offsets;
    }
    expect(errors).toBe("");
    expect(ofKind(seen, "model_call")).toHaveLength(400);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(seen.length);
  });
});

describe("reading again", () => {
  test("gives new rows, and rows that were unfinished", async () => {
    const query = { sessionId: S, home: made.home };
    const prompt = made.prompt(S, T + 10);
    const open = made.answer(S, prompt, T + 20, { finish: undefined, tokens: undefined, time: {} });
    const call = made.tool(S, open, T + 30, "call_1", { status: "running", time: { start: T + 30 } });
    const first = await readAll(query);
    expect(first.entries.map(({ kind }) => kind)).toEqual(["session", "prompt", "model_call", "tool_use"]);
    expect(ofKind(first.entries, "model_call")).toMatchObject([{ complete: false }]);
    expect(ofKind(first.entries, "model_call")[0]).not.toHaveProperty("usage");

    const nothing = await readAll(query, first.offsets);
    expect(nothing.entries.map(({ kind }) => kind)).toEqual(["model_call", "tool_use"]);

    made.part(
      S,
      open,
      T + 30,
      {
        type: "tool",
        tool: "bash",
        callID: "call_1",
        state: {
          status: "completed",
          input: { command: "git log" },
          metadata: { exit: 0 },
          time: { start: T + 30, end: T + 60 },
        },
      },
      call,
    );
    made.message(
      S,
      T + 20,
      {
        role: "assistant",
        parentID: prompt,
        modelID: "acme-coder-1",
        providerID: "acme",
        finish: "tool-calls",
        tokens: { input: 7, output: 3, reasoning: 2, cache: { read: 5, write: 1 } },
        time: { completed: T + 70 },
      },
      open,
    );
    const last = made.answer(S, prompt, T + 80);
    const second = await readAll(query, first.offsets);
    expect(second.entries).toMatchObject([
      {
        kind: "model_call",
        key: `message:${open}`,
        promptKey: prompt,
        complete: true,
        asksForTools: true,
        usage: { input: 13, output: 5, cacheRead: 5, cacheWrite: 1, reasoning: 2 },
        // The model's answer was complete when the tool began
        startMs: T + 20,
        endMs: T + 30,
      },
      { kind: "tool_use", callId: "call_1", executable: "git" },
      { kind: "tool_result", callId: "call_1", status: "success", exitCode: 0, durationMs: 30 },
      { kind: "model_call", key: `message:${last}`, promptKey: prompt, complete: true, endMs: T + 180 },
    ]);
    expect((await readAll(query, second.offsets)).entries).toEqual([]);
    expect(merged([...first.entries, ...second.entries])).toEqual(merged((await readAll(query)).entries));
  });

  test("in steps gives the same as in one pass, also across batches", async () => {
    const query = { sessionId: S, home: made.home };
    const steps: TranscriptEntry[] = [];
    let offsets: Awaited<ReturnType<typeof readAll>>["offsets"] = new Map();
    let prompt = "";
    for (let n = 0; n < 260; n++) {
      const ms = T + n * 1_000;
      if (n % 7 === 0) prompt = made.prompt(S, ms);
      else if (n % 11 === 0) made.prompt(S, ms, { type: "text", synthetic: true, text: "Go on" });
      else made.tool(S, made.answer(S, prompt, ms, { finish: "tool-calls" }), ms + 10, `call_${n}`);
      if (n % 13 === 0 || n > 250) {
        const reading = await readAll(query, offsets);
        steps.push(...reading.entries);
        offsets = reading.offsets;
      }
    }
    const once = await readAll(query);
    expect(ofKind(once.entries, "model_call").length).toBeGreaterThan(180);
    expect(merged(steps)).toEqual(once.entries);
    expect(steps.length).toBe(once.entries.length);
  });

  test("returns a prompt only when its text exists", async () => {
    const query = { sessionId: S, home: made.home };
    const prompt = made.message(S, T + 10, { role: "user" });
    const first = await readAll(query);
    expect(ofKind(first.entries, "prompt")).toEqual([]);
    made.part(S, prompt, T + 900, { type: "text", text: "Sell pears 🍐" });
    made.answer(S, prompt, T + 950);
    const second = await readAll(query, first.offsets);
    expect(second.entries).toMatchObject([
      { kind: "prompt", promptKey: prompt, origin: "human", length: 13 },
      { kind: "model_call", promptKey: prompt },
    ]);
  });

  test("starts over after a revert or a VACUUM, and counts messages once", async () => {
    const query = { sessionId: S, home: made.home };
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20);
    const reverted = made.answer(S, prompt, T + 200);
    const first = await readAll(query);
    made.db.prepare("DELETE FROM message WHERE id = ?").run(reverted);
    const after = made.answer(S, prompt, T + 400);
    const second = await readAll(query, first.offsets);
    const calls = ofKind(merged([...first.entries, ...second.entries]), "model_call");
    expect(calls.map(({ key }) => key)).toContain(`message:${after}`);
    expect(calls).toHaveLength(3);
  });

  test("misses nothing if the clock is set back", async () => {
    const query = { sessionId: S, home: made.home };
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20);
    const first = await readAll(query);
    made.answer(S, prompt, T - 3_600_000);
    expect(ofKind((await readAll(query, first.offsets)).entries, "model_call")).toHaveLength(1);
  });

  test("counts a row that is not JSON and reads the others", async () => {
    const prompt = made.prompt(S, T + 10);
    const bad = made.answer(S, prompt, T + 20);
    made.db.prepare("UPDATE message SET data = '{\"role\":' WHERE id = ?").run(bad);
    const good = made.answer(S, prompt, T + 200);
    made.db.prepare("UPDATE part SET data = 'nonsense' WHERE message_id = ?").run(good);
    const { entries, unreadable } = await readAll({ sessionId: S, home: made.home });
    expect(unreadable).toBe(1);
    expect(ofKind(entries, "model_call").map(({ key }) => key)).toEqual([`message:${good}`]);
  });
});

describe("text that is not UTF-8", () => {
  test("reads a row with a lone surrogate, which JSON.stringify writes for a cut emoji", async () => {
    const prompt = made.prompt(S, T + 10);
    const answer = made.answer(S, prompt, T + 1000);
    made.tool(S, answer, T + 1050, "call_\ud83d", { input: { command: "git \ud83d" } }, "bash\ud83d");
    const failed = { status: "error", error: "cut \ud83d" };
    made.tool(S, answer, T + 1100, "call_2", failed);
    made.message(S, T + 1, { role: "user", agent: "build\ud83d" });
    const [use] = ofKind(await read(), "tool_use");
    expect(use).toMatchObject({
      callId: expect.stringMatching(/^call_\ufffd+$/),
      name: expect.stringMatching(/^bash\ufffd+$/),
    });
    expect(ofKind(await read(), "model_call")).toHaveLength(1);
    expect(ofKind(await read(), "tool_result")).toHaveLength(2);
  });

  test("invalid bytes in any column lose only that value", async () => {
    made.answer(S, made.prompt(S, T + 10), T + 1000);
    made.session("ses_broken", T + 1);
    const broken = "CAST(CAST(version AS BLOB) || x'ff' AS TEXT)";
    made.db.exec(`UPDATE session SET directory = ${broken}, version = ${broken} WHERE id = 'ses_broken'`);
    made.db.exec("UPDATE message SET data = replace(data, 'acme-coder-1', CAST(x'e0ff' AS TEXT))");
    const { sessions } = await locateAll(reader, made.home);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([S, "ses_broken"]);
    expect(ofKind(await read(), "model_call")).toMatchObject([{ model: "\ufffd\ufffd", usage: { input: 100 } }]);
  });

  test("rejects a database with invalid table names", async () => {
    const path = join(dirname(made.path), "opencode-torn.db");
    const torn = new Libsql(path, {});
    torn.exec("CREATE TABLE session (id text, parent_id text, directory text, version text, time_created integer)");
    torn.close();
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("directory text") + 10] = 0xf4;
    writeFileSync(path, bytes);
    const { sessions, problems } = await locateAll(reader, made.home);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([S]);
    expect(problems.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/opencode-torn\.db" is not read.* UTF-8/),
    ]);
  });
});

describe("which messages count", () => {
  test("a fork excludes copied messages", async () => {
    const prompt = made.prompt(S, T + 10);
    made.tool(S, made.answer(S, prompt, T + 20), T + 25, "call_1");
    const fork = made.session("ses_fork", T + 5_000);
    const copyOf = (data: object, ms: number) => made.message(fork, ms, data as never, made.id("msg", T + 5_001));
    const copiedPrompt = copyOf({ role: "user" }, T + 10);
    made.part(fork, copiedPrompt, T + 5_002, { type: "text", text: "Sell apples" });
    const copied = copyOf(
      { role: "assistant", finish: "stop", tokens: { input: 100, output: 10 }, time: { completed: T + 120 } },
      T + 20,
    );
    made.part(
      fork,
      copied,
      T + 5_003,
      {
        type: "tool",
        tool: "bash",
        callID: "call_1",
        state: { status: "completed", time: { start: T + 25, end: T + 45 } },
      },
      made.id("prt", T + 5_003),
    );
    const own = made.prompt(fork, T + 5_100);
    // The provider numbers calls from the history: the same id again
    made.tool(fork, made.answer(fork, own, T + 5_200), T + 5_210, "call_1");
    const entries = await read(fork);
    expect(ofKind(entries, "prompt").map(({ key }) => key)).toEqual([`prompt:${own}`]);
    expect(ofKind(entries, "model_call")).toHaveLength(1);
    expect(ofKind(entries, "tool_use").map(({ callId }) => callId)).toEqual(["call_1"]);
  });

  test("a message that only the clock makes older than its session is no copy", async () => {
    const prompt = made.prompt(S, T - 60_000);
    made.answer(S, prompt, T - 59_000);
    expect(ofKind(await read(), "model_call")).toHaveLength(1);
  });

  test("a fork created after the clock was set back excludes copied messages", async () => {
    const backMs = T - 3_600_000;
    const fork = made.session("ses_fork", backMs);
    const idAtFork = (ms: number) => made.id("msg", backMs + ms);
    const copied = made.message(fork, T + 10, { role: "user" }, idAtFork(1));
    made.part(fork, copied, backMs + 2, { type: "text", text: "Sell apples" });
    made.message(
      fork,
      T + 20,
      {
        role: "assistant",
        parentID: copied,
        finish: "stop",
        tokens: { input: 100, output: 10 },
        time: { completed: T + 120 },
      },
      idAtFork(3),
    );
    // A client whose clock is an hour behind made its id
    const own = made.message(fork, backMs + 9_000, { role: "user" }, made.id("msg", backMs - 3_600_000));
    made.part(fork, own, backMs + 9_010, { type: "text", text: "Sell pears" });
    const answer = made.answer(fork, own, backMs + 9_100);
    const entries = await read(fork);
    expect(ofKind(entries, "prompt").map(({ key }) => key)).toEqual([`prompt:${own}`]);
    expect(ofKind(entries, "model_call").map(({ key }) => key)).toEqual([`message:${answer}`]);
  });

  test("messages that OpenCode writes in the user's name continue the prompt", async () => {
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20, { finish: "tool-calls" });
    const request = made.prompt(S, T + 200, { type: "compaction", auto: true, overflow: false });
    made.answer(S, request, T + 210, { mode: "compaction", summary: true });
    const goOn = made.prompt(S, T + 400, { type: "text", text: "Continue", synthetic: true });
    made.answer(S, goOn, T + 410);
    const next = made.prompt(S, T + 9_000);
    made.answer(S, next, T + 9_100);
    const entries = await read();
    expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual([prompt, next]);
    expect(ofKind(entries, "model_call").map(({ promptKey }) => promptKey)).toEqual([prompt, prompt, prompt, next]);
    expect(ofKind(entries, "compaction")).toMatchObject([{ trigger: "auto", timeMs: T + 310, promptKey: prompt }]);
  });

  test("a request repeated after a compaction is no second prompt", async () => {
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20, { finish: undefined, tokens: undefined });
    const request = made.prompt(S, T + 200, { type: "compaction", auto: true, overflow: true });
    made.answer(S, request, T + 210, { summary: true });
    const again = made.prompt(S, T + 312);
    made.answer(S, again, T + 330);
    const next = made.prompt(S, T + 5_000);
    const entries = await read();
    expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual([prompt, next]);
    expect(ofKind(entries, "model_call").at(-1)?.promptKey).toBe(prompt);
  });

  test("a failed compaction is ignored, and the next message is the user's", async () => {
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20);
    const request = made.prompt(S, T + 200, { type: "compaction", auto: false });
    made.answer(S, request, T + 210, {
      summary: true,
      finish: "error",
      tokens: { input: 0, output: 0 },
      error: { name: "ContextOverflowError", data: { message: "too large" } },
    });
    const next = made.prompt(S, T + 400);
    const entries = await read();
    expect(ofKind(entries, "compaction")).toEqual([]);
    expect(ofKind(entries, "prompt").map(({ promptKey }) => promptKey)).toEqual([prompt, next]);
    expect(ofKind(entries, "model_error")).toMatchObject([{ errorType: "ContextOverflowError", final: true }]);
  });

  test("an answer that the provider ended with an error is complete, with its tokens", async () => {
    const none = { reasoning: 0, cache: { read: 0, write: 0 } };
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20, { finish: "error", tokens: { input: 900, output: 0, ...none } });
    const failed = made.prompt(S, T + 200);
    const tokens = { input: 7, output: 1, ...none };
    made.answer(S, failed, T + 210, { finish: "error", tokens, error: { name: "APIError" } });
    const entries = await read();
    expect(ofKind(entries, "model_call")).toMatchObject([
      { complete: true, finishReason: "error", usage: { input: 900, output: 0 } },
      { complete: false, finishReason: "error", usage: { input: 7, output: 1 } },
    ]);
    expect(ofKind(entries, "model_error")).toHaveLength(1);
  });

  test("a command that the user ran with `!` is no tool call", async () => {
    const prompt = made.prompt(S, T + 10);
    made.answer(S, prompt, T + 20);
    const shell = made.prompt(S, T + 300, {
      type: "text",
      synthetic: true,
      text: "The following tool was executed by the user",
    });
    const answer = made.message(S, T + 301, {
      role: "assistant",
      parentID: shell,
      tokens: { input: 0, output: 0 },
      time: { completed: T + 350 },
    });
    made.tool(S, answer, T + 302, "01KAHS3Q1V0YQ4N6C7X8Z9ABCD");
    const entries = await read();
    expect(ofKind(entries, "tool_use")).toEqual([]);
    expect(ofKind(entries, "model_call")).toHaveLength(1);
    expect(ofKind(entries, "prompt")).toHaveLength(1);
  });

  test("a slash command's subtask is identified by its part, as in hooks", async () => {
    const prompt = made.prompt(S, T + 10, { type: "subtask", agent: "general", prompt: "p", description: "d" });
    const answer = made.message(S, T + 20, {
      role: "assistant",
      parentID: prompt,
      finish: "tool-calls",
      time: { completed: T + 90 },
    });
    const part = made.tool(S, answer, T + 30, "01KAHS3Q1V0YQ4N6C7X8Z9ABCD", {}, "task");
    const entries = await read();
    expect(ofKind(entries, "prompt")).toHaveLength(1);
    expect(ofKind(entries, "tool_use")).toMatchObject([{ callId: part, name: "task", promptKey: prompt }]);
    expect(ofKind(entries, "model_call")).toEqual([]);
  });

  test("a session that a program started without a prompt has a machine's prompt", async () => {
    const first = made.prompt(S, T + 10, { type: "text", synthetic: true, text: "Nightly run" });
    made.answer(S, first, T + 20);
    expect(ofKind(await read(), "prompt")).toMatchObject([{ origin: "machine", promptKey: first }]);
  });
});

describe("subagents", () => {
  test("are read at any depth, under their own ids, with the call that started them", async () => {
    const prompt = made.prompt(S, T + 10);
    const main = made.answer(S, prompt, T + 20, { finish: "tool-calls" });
    made.tool(S, main, T + 30, "call_a", { metadata: { sessionId: "ses_a" } }, "task");
    made.session("ses_a", T + 40, S);
    const a = made.message("ses_a", T + 50, { role: "user", agent: "general" });
    made.part("ses_a", a, T + 51, { type: "text", text: "Count" });
    const answerA = made.answer("ses_a", a, T + 60);
    made.tool("ses_a", answerA, T + 70, "call_b", { metadata: { sessionId: "ses_b" } }, "task");
    made.session("ses_b", T + 80, "ses_a");
    made.tool("ses_b", made.answer("ses_b", made.prompt("ses_b", T + 90), T + 95), T + 99, "call_c");
    const entries = await read();
    expect(ofKind(entries, "subagent")).toMatchObject([
      { agentId: "ses_a", agentType: "general", parentCallId: "call_a" },
      { agentId: "ses_b", agentType: "build", parentCallId: "call_b", parentAgentId: "ses_a" },
    ]);
    expect(ofKind(entries, "model_call").map(({ agentId }) => agentId)).toEqual([undefined, "ses_a", "ses_b"]);
    expect(ofKind(entries, "prompt")).toHaveLength(1);
    expect(ofKind(entries, "tool_result")[0]).toMatchObject({ callId: "call_a", spawnedAgentId: "ses_a" });
    // Its own id gives only its parent
    expect(await read("ses_b")).toMatchObject([{ kind: "session", parentSessionId: "ses_a" }]);
  });

  test("call ids whose numbers restart in each conversation stay separate", async () => {
    const prompt = made.prompt(S, T + 10);
    const main = made.answer(S, prompt, T + 20, { finish: "tool-calls" });
    made.tool(S, main, T + 30, "functions.bash:0");
    made.session("ses_a", T + 40, S);
    const inside = made.tool(
      "ses_a",
      made.answer("ses_a", made.prompt("ses_a", T + 50), T + 60),
      T + 70,
      "functions.bash:0",
    );
    const later = made.tool(S, made.answer(S, prompt, T + 200), T + 210, "functions.bash:0");
    expect(ofKind(await read(), "tool_use").map(({ callId }) => callId)).toEqual([
      "functions.bash:0",
      `functions.bash:0#${later}`,
      `functions.bash:0#${inside}`,
    ]);
  });

  test("a call left unfinished keeps its id separate from the fork that copied it", async () => {
    const running = { status: "running", time: { start: T - 40_000 } };
    const copied = made.answer(S, made.prompt(S, T + 1), T + 2, { time: { created: T - 50_000 } });
    made.tool(S, copied, T + 3, "functions.bash:0", running);
    made.tool(S, made.answer(S, made.prompt(S, T + 10), T + 20), T + 30, "functions.bash:0");
    expect(ofKind(await read(), "tool_use").map(({ callId, timeMs }) => [callId, timeMs])).toContainEqual([
      "functions.bash:0",
      T + 30,
    ]);
  });
});

describe("status", () => {
  test.each([
    ["a denial by the user", { error: "The user rejected permission to use this specific tool call." }, "denied"],
    [
      "a denial by a rule",
      { error: "The user has specified a rule which prevents you from using this specific tool call. Here are …" },
      "denied",
    ],
    ["a question that was dismissed", { error: "The user dismissed this question" }, "denied"],
    ["a failure", { error: "File not found: x.js" }, "error"],
    ["a stop", { error: "Tool execution aborted", metadata: { interrupted: true } }, "error"],
  ])("%s", async (_, state, status) => {
    const answer = made.answer(S, made.prompt(S, T + 10), T + 20, { finish: "tool-calls" });
    made.tool(S, answer, T + 30, "call_1", { status: "error", ...state });
    const entries = await read();
    expect(ofKind(entries, "tool_result")).toMatchObject([{ status }]);
    // After a denial the agent stops, so no further model call is expected
    expect(ofKind(entries, "model_call")[0]?.asksForTools).toBe(status === "denied" ? undefined : true);
  });

  test.each([
    ["an exit code of 3", "bash", { metadata: { exit: 3 } }, { status: "error", exitCode: 3 }],
    ["a command that was stopped", "bash", { metadata: { exit: null } }, { status: "error", errorType: "terminated" }],
    ["a tool that does not exist", "invalid", { input: { tool: "no_such_tool" } }, { status: "error" }],
    [
      "an edit",
      "edit",
      { metadata: { filediff: { additions: 3, deletions: 1, patch: "@@" } } },
      { status: "success", linesAdded: 3, linesRemoved: 1 },
    ],
    [
      "a patch of two files",
      "apply_patch",
      {
        metadata: {
          files: [
            { additions: 3, deletions: 1, before: "x" },
            { additions: 2, deletions: 0 },
          ],
        },
      },
      { status: "success", linesAdded: 5, linesRemoved: 1 },
    ],
  ])("%s", async (_, tool, state, result) => {
    made.tool(S, made.answer(S, made.prompt(S, T + 10), T + 20), T + 30, "call_1", state, tool);
    const entries = await read();
    expect(ofKind(entries, "tool_result")).toMatchObject([result]);
    if (tool === "invalid") expect(ofKind(entries, "tool_use")).toMatchObject([{ name: "no_such_tool" }]);
  });

  test("a stop by the user is an interruption; an answer whose tools ran has unknown usage", async () => {
    const error = { name: "MessageAbortedError", data: { message: "Aborted" } };
    const stopped = { finish: undefined, tokens: { input: 0, output: 0 }, error };
    const prompt = made.prompt(S, T + 10);
    const ran = made.answer(S, prompt, T + 20, stopped);
    made.tool(S, ran, T + 30, "call_1", { status: "error", error: "Tool execution aborted", metadata: {} });
    made.answer(S, prompt, T + 500, stopped);
    const entries = await read();
    expect(ofKind(entries, "interruption")).toHaveLength(2);
    expect(ofKind(entries, "model_error")).toEqual([]);
    expect(ofKind(entries, "model_call")).toMatchObject([{ key: `message:${ran}`, complete: false }]);
    expect(ofKind(entries, "tool_result")).toMatchObject([{ status: "error", errorType: "interrupted" }]);
  });

  test("a failed request is an error and no model call", async () => {
    const error = { name: "APIError", data: { statusCode: 400, responseBody: "secret", isRetryable: false } };
    made.answer(S, made.prompt(S, T + 10), T + 20, { finish: undefined, tokens: { input: 0, output: 0 }, error });
    const entries = await read();
    expect(ofKind(entries, "model_error")).toMatchObject([{ errorType: "400", httpStatus: 400, final: true }]);
    expect(ofKind(entries, "model_call")).toEqual([]);
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  test("a provider without usage gives a call without usage", async () => {
    made.answer(S, made.prompt(S, T + 10), T + 20, { tokens: { input: 0, output: 0, reasoning: 0 } });
    const [call] = ofKind(await read(), "model_call");
    expect(call).toMatchObject({ complete: true, finishReason: "stop" });
    expect(call).not.toHaveProperty("usage");
  });

  test("reasoning that earlier versions include in the output is not added again", async () => {
    const tokens = { total: 160, input: 100, output: 60, reasoning: 40, cache: { read: 0, write: 0 } };
    made.answer(S, made.prompt(S, T + 10), T + 20, { tokens });
    expect(ofKind(await read(), "model_call")[0]?.usage).toMatchObject({ input: 100, output: 60, reasoning: 40 });
  });
});

test("entries have no content", async () => {
  const secret = "AKIA-acme-secret";
  const prompt = made.prompt(S, T + 10, { type: "text", text: secret });
  const answer = made.answer(S, prompt, T + 20, { system: secret });
  made.part(S, answer, T + 21, { type: "text", text: secret, time: { start: T, end: T + 30 } });
  made.tool(S, answer, T + 30, "call_1", { input: { command: `git log ${secret}` }, output: secret, title: secret });
  made.tool(S, answer, T + 60, "call_2", { status: "error", error: secret, input: { filePath: secret } });
  const entries = await read();
  expect(ofKind(entries, "tool_use").map(({ executable }) => executable)).toEqual(["git", undefined]);
  expect(JSON.stringify(entries)).not.toContain(secret);
});
