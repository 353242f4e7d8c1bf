import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/gemini-cli/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { type EntryOf, type Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { locateAll } from "../../support/located.ts";
import fc from "../../support/properties.ts";
import { CASES } from "../../support/replay.ts";
import { runs } from "../../support/whole.ts";

const SESSION = "91c17a0a-b01c-45e8-befd-5a0e0ab1ec40";
const RECORDED = join(CASES, "gemini-cli");

let home = "";
let chats = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-gemini-"));
  chats = join(home, ".gemini", "tmp", "acme-shop", "chats");
  mkdirSync(chats, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const put = (path: string, text: string): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
};

async function read(file: TranscriptFile, from: Offset = INITIAL_OFFSET) {
  const entries: TranscriptEntry[] = [];
  let [next, unreadable] = [from, 0];
  for await (const batch of reader.read(file, from)) {
    entries.push(...batch.entries);
    next = batch.next;
    unreadable += batch.unreadable;
  }
  for (const entry of entries) expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
  // The memo is stored as JSON between two drains
  return { entries, next: JSON.parse(JSON.stringify(next)) as Offset, unreadable };
}

/** Merged as in the store: one entry per key. */
function merged(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}

const ofKind = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K): EntryOf<K>[] =>
  merged(entries).filter((entry): entry is EntryOf<K> => entry.kind === kind);

// --- records ---

let second = 0;
const time = (): string => new Date(Date.UTC(2026, 10, 21, 5, 44, second++)).toISOString();
const head = { sessionId: SESSION, projectHash: "22", startTime: "2026-11-21T05:44:00.000Z", kind: "main" };
const user = (id: string, text: string) => ({ id, timestamp: time(), type: "user", content: [{ text }] });
const tokens = { input: 1000, output: 20, cached: 400, thoughts: 5, tool: 0, total: 1025 };
const gemini = (id: string, rest: object = {}) => ({
  id,
  timestamp: time(),
  type: "gemini",
  content: "Sure.",
  thoughts: [],
  tokens,
  model: "gemini-2.5-pro",
  ...rest,
});
const call = (id: string, status: string, rest: object = {}) => ({
  id,
  name: "run_shell_command",
  args: { command: "git push" },
  status,
  timestamp: time(),
  ...rest,
});
const failed = (status: string, error: string, id = "c1") =>
  call(id, status, { result: [{ functionResponse: { id, name: "x", response: { error } } }], resultDisplay: error });
const lines = (...records: object[]): string => records.map((r) => `${JSON.stringify(r)}\n`).join("");
const main = (...records: object[]): string =>
  put(join(chats, "session-2026-11-21T05-44-91c17a0a.jsonl"), lines(head, ...records));

describe("finding sessions", () => {
  test("locate: finds every session of every project once, and no subagent's", async () => {
    const path = main(user("u1", "Hello"));
    put(join(chats, SESSION, "a1.jsonl"), lines({ ...head, sessionId: "a1", kind: "subagent" }));
    put(path.slice(0, -1), JSON.stringify({ sessionId: SESSION, messages: [] }, null, 2));
    const other = put(
      join(home, ".gemini", "tmp", "a".repeat(64), "chats", "session-2025-12-01T10-00-5c0ffee0.json"),
      JSON.stringify({ sessionId: "5c0ffee0-0000", messages: [] }, null, 2),
    );
    put(join(chats, "session-2026-11-21T05-44-deadbeef.jsonl"), "");
    put(join(chats, "notes.txt"), lines(head));
    put(join(home, ".gemini", "tmp", "bin", "rg"), "");
    // Both forms belong to the session, whichever was written last
    utimesSync(path.slice(0, -1), new Date("2026-11-20"), new Date("2026-11-20"));
    const { sessions } = await locateAll(reader, home);
    expect(sessions.map(({ sessionId, mains }) => [sessionId, mains])).toEqual([
      ["5c0ffee0-0000", [other]],
      [SESSION, [path.slice(0, -1), path]],
    ]);
  });

  test("files: lists the session's file, given or searched for, then its subagents", async () => {
    const path = main(user("u1", "Hello"));
    const below = put(join(chats, SESSION, "a1.jsonl"), lines({ ...head, sessionId: "a1", kind: "subagent" }));
    put(join(chats, "session-2026-11-21T05-45-91c17a0a.jsonl"), lines({ ...head, sessionId: "91c17a0a-another" }));
    const all = [{ path }, { path: below, agentId: "a1" }];
    expect(await reader.files({ sessionId: SESSION, path, home })).toEqual(all);
    expect(await reader.files({ sessionId: SESSION, home })).toEqual(all);
    expect(await reader.files({ sessionId: SESSION, path: "/home/dev/gone/x.jsonl", home })).toEqual(all);
    expect(await reader.files({ sessionId: "../../../etc/passwd", path, home })).toEqual([]);
    expect(await reader.files({ sessionId: "unknown0", home: join(home, "none") })).toEqual([]);
  });

  test("a file that lost its beginning belongs to the session of its hooks or of the prompt log", async () => {
    const path = put(join(chats, "session-2026-11-21T05-44-91c17a0a.jsonl"), lines(user("u1", "Hello"), gemini("m1")));
    expect(await reader.files({ sessionId: SESSION, path, home })).toEqual([{ path }]);
    expect(await reader.files({ sessionId: SESSION, home })).toEqual([]);
    expect((await locateAll(reader, home)).sessions).toEqual([]);
    const typed = (sessionId: string) => ({ sessionId, messageId: 0, type: "user", message: "Hello" });
    const log = [typed("5c0ffee0-0000"), typed(SESSION), typed("deadbeef-0000")];
    put(join(chats, "..", "logs.json"), JSON.stringify(log, null, 2));
    expect(await reader.files({ sessionId: SESSION, home })).toEqual([{ path }]);
    expect(await reader.files({ sessionId: "91c17a0a-another", home })).toEqual([]);
    expect((await locateAll(reader, home)).sessions).toMatchObject([{ sessionId: SESSION, path }]);
    expect(ofKind((await read({ path })).entries, "model_call")).toMatchObject([{ promptKey: "u1" }]);
  });

  test("locate: sorts two sessions of the same minute by start time", async () => {
    main(user("u1", "Hello"));
    const other = { ...head, sessionId: "00000000-another", startTime: "2026-11-21T05:44:30.000Z" };
    put(join(chats, "session-2026-11-21T05-44-00000000.jsonl"), lines(other, user("u2", "Hello")));
    const { sessions } = await locateAll(reader, home);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([SESSION, "00000000-another"]);
  });

  test("files: reports an unreadable subagent folder and returns the rest", async () => {
    const path = main(user("u1", "Hello"));
    symlinkSync(SESSION, join(chats, SESSION));
    const problems: string[] = [];
    const files = await reader.files({ sessionId: SESSION, path, home, onProblem: (folder) => problems.push(folder) });
    expect({ files, problems }).toEqual({ files: [{ path }], problems: [join(chats, SESSION)] });
  });
});

describe("recordings", () => {
  const cases = readdirSync(RECORDED, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []));

  test.each(cases)("%s: gives the same in one pass and in pieces, and nothing on a second read", async (name) => {
    const from = join(RECORDED, name, "transcripts", ".gemini", "tmp", "acme-shop", "chats");
    const expected = JSON.parse(readFileSync(join(RECORDED, name, "expected.json"), "utf8"));
    for (const session of expected.sessions) {
      const files = await reader.files({ sessionId: session.session_id, path: join(from, "x.jsonl"), home });
      const entries = (await Promise.all(files.map((file) => read(file)))).flatMap((r) => r.entries);
      const calls = ofKind(entries, "model_call");
      const sum = (of: (c: EntryOf<"model_call">) => number | undefined) => calls.reduce((n, c) => n + (of(c) ?? 0), 0);
      expect({
        model_calls: calls.length,
        input: sum((c) => c.usage?.input),
        output: sum((c) => c.usage?.output),
        cache_read: sum((c) => c.usage?.cacheRead),
        cache_write: 0,
        reasoning: sum((c) => c.usage?.reasoning),
      }).toEqual(session.totals);
      expect(calls.filter((c) => c.agentId !== undefined)).toHaveLength(
        session.model_calls.filter((c: { subagent: boolean }) => c.subagent).length,
      );
      expect(ofKind(entries, "prompt")).toHaveLength(session.prompts);
      const statuses = ofKind(entries, "tool_result").map((r) => r.status);
      const expectedStatuses = session.tool_calls.map((t: { status: string }) => t.status);
      // Calls cut off by a kill are in no file
      expect(statuses.sort()).toEqual(expectedStatuses.filter((s: string) => s !== "unfinished").sort());
      for (const call of calls) expect(call.startMs).toBeLessThanOrEqual(call.endMs);

      for (const file of files) {
        const text = readFileSync(file.path, "utf8");
        const whole = merged((await read(file)).entries);
        const copy = { ...file, path: put(join(home, "copy", "chats", "x.jsonl"), "") };
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 4 }), async (cuts) => {
            writeFileSync(copy.path, "");
            let [next, at] = [INITIAL_OFFSET, 0];
            const pieces: TranscriptEntry[] = [];
            for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
              appendFileSync(copy.path, text.slice(at, cut));
              at = Math.max(at, cut);
              const got = await read(copy, next);
              pieces.push(...got.entries);
              next = got.next;
            }
            // Only the folder name has the working directory, and the copy is in another folder
            const strip = (entries: readonly TranscriptEntry[]) => entries.filter((e) => e.kind !== "session");
            expect(strip(merged(pieces))).toEqual(strip(whole));
            expect(strip(merged([...pieces, ...(await read(copy)).entries]))).toEqual(strip(whole));
          }),
          { numRuns: 8 },
        );
      }
    }
  });

  test("entries have no content", async () => {
    for (const name of ["unicode-large", "subagent", "denied"]) {
      const from = join(RECORDED, name, "transcripts", ".gemini", "tmp", "acme-shop", "chats");
      const { sessions } = JSON.parse(readFileSync(join(RECORDED, name, "expected.json"), "utf8"));
      for (const file of await reader.files({ sessionId: sessions[0].session_id, path: join(from, "x.jsonl"), home })) {
        const { entries } = await read(file);
        expect(JSON.stringify(entries)).not.toMatch(/price|Preis|README|rm -rf|policy hook|build/i);
      }
    }
  });

  test("a subagent belongs to the call that started it", async () => {
    const from = join(RECORDED, "subagent", "transcripts", ".gemini", "tmp", "acme-shop", "chats");
    const sessionId = "71de0fc1-55ee-46fa-b6e2-8795ac47573a";
    const files = await reader.files({ sessionId, path: join(from, "x.jsonl"), home });
    const entries = (await Promise.all(files.map((file) => read(file)))).flatMap((r) => r.entries);
    expect(ofKind(entries, "subagent")).toEqual([
      expect.objectContaining({
        agentId: "22f0f852-f9bb-4c91-bcd6-9cd56e9134a4",
        agentType: "codebase_investigator",
        parentCallId: "invoke_agent__invoke_agent_1795240380120_0",
        timeMs: Date.parse("2026-11-21T05:53:00.161Z"),
      }),
    ]);
    expect(ofKind(entries, "session")).toMatchObject([{ cwd: "/home/dev3/acme-shop" }]);
  });

  test("a subagent's calls of unavailable tools are errors", async () => {
    const response = (id: string, name: string, response: object) => ({ functionResponse: { id, name, response } });
    const error = "Unauthorized tool call: 'run_shell_command' is not available to this agent.";
    const answers = {
      ...user("r1", ""),
      content: [
        response("a1#0-0", "read_file", { error: "File not found: missing.txt" }),
        response("a1#0-1", "run_shell_command", { error }),
        response("a1#0-2", "run_shell_command", { error }),
      ],
    };
    const listed = { ...call("a1#0-0", "error"), name: "read_file" };
    const path = put(
      join(chats, SESSION, "a1.jsonl"),
      lines(head, user("t", "Your task"), { ...gemini("s1"), toolCalls: [listed] }, answers),
    );
    const { entries } = await read({ path, agentId: "a1" });
    const refused = { name: "run_shell_command", agentId: "a1" };
    expect(ofKind(entries, "tool_use")).toMatchObject([
      { callId: "a1#0-0", name: "read_file" },
      { ...refused, callId: "a1#0-1" },
      { ...refused, callId: "a1#0-2" },
    ]);
    expect(ofKind(entries, "tool_result").map(({ callId, status }) => [callId, status])).toEqual([
      ["a1#0-0", "error"],
      ["a1#0-1", "error"],
      ["a1#0-2", "error"],
    ]);
  });
});

describe("tokens", () => {
  test("input includes cached and tool tokens, output includes thoughts", async () => {
    const path = main(user("u1", "Hello"), gemini("m1", { tokens: { ...tokens, tool: 30 } }));
    expect(ofKind((await read({ path })).entries, "model_call")).toMatchObject([
      { model: "gemini-2.5-pro", complete: true, usage: { input: 1030, output: 25, cacheRead: 400, reasoning: 5 } },
    ]);
  });

  test("count once per message, however often it is written; checkpoints and rewinds remove nothing", async () => {
    const answer = gemini("m1");
    const path = main(
      user("u1", "Hello"),
      answer,
      { ...answer, toolCalls: [call("c1", "success")] },
      { ...answer, toolCalls: [call("c1", "success"), call("c2", "success")] },
      { $set: { messages: [{ ...answer, tokens: undefined, type: "user" }] } },
      { $rewindTo: "u1" },
      user("u2", "Hello again"),
      gemini("m2"),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "model_call").map((c) => [c.key, c.usage?.input, c.asksForTools])).toEqual([
      ["answer:m1", 1000, true],
      ["answer:m2", 1000, undefined],
    ]);
    expect(ofKind(entries, "prompt")).toHaveLength(2);
    expect(ofKind(entries, "tool_use")).toHaveLength(2);
  });

  test("an answer without counts is a call with unknown usage; messages without a model are no calls", async () => {
    const path = main(
      user("u1", "Hello"),
      gemini("m1", { tokens: null }),
      gemini("m2", { tokens: null, model: undefined }),
      gemini("m3", { tokens: undefined, content: "", toolCalls: [call("c1", "success")] }),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "model_call")).toMatchObject([{ key: "answer:m1" }]);
    expect(ofKind(entries, "model_call")[0]).not.toHaveProperty("usage");
    expect(ofKind(entries, "tool_use")).toHaveLength(1);
  });

  test("a call starts at the last input to the model", async () => {
    const [u1, m1] = [user("u1", "Hello"), gemini("m1")];
    const toolEnd = { ...m1, toolCalls: [call("c1", "success")] };
    const path = main(u1, m1, toolEnd, gemini("m2"));
    const [first, next] = ofKind((await read({ path })).entries, "model_call");
    expect(first).toMatchObject({ startMs: Date.parse(u1.timestamp), endMs: Date.parse(m1.timestamp) });
    expect(next?.startMs).toBe(Date.parse(toolEnd.toolCalls[0]?.timestamp ?? ""));
  });
});

describe("prompts", () => {
  test("exclude user messages that the program writes", async () => {
    const path = main(
      user("s0", "<session_context>\nThis is the Gemini CLI."),
      user("u1", "Make a file"),
      gemini("m1"),
      { ...user("r1", ""), content: [{ functionResponse: { id: "c1", name: "x", response: {} } }] },
      user("i1", "Here is the user's editor context as a JSON object. This is for your information only."),
      user("i2", "Please continue."),
      user("i3", "System: Potential loop detected. Details: Repetitive patterns identified."),
      user(
        "i4",
        "I ran the following shell command:\n```sh\ngit status\n```\n\nThis produced the following result:\n```\n\n```",
      ),
      user("i5", "[System: You successfully executed a tool but returned an empty response. Please analyze it.]"),
      user("i6", "[System: You previously returned an empty response with no text or thoughts.]"),
      user("u2", "/tmp/acme is empty"),
    );
    expect(ofKind((await read({ path })).entries, "prompt").map((p) => [p.key, p.promptKey, p.length])).toEqual([
      ["prompt:u1", "u1", 11],
      ["prompt:u2", "u2", 18],
    ]);
  });

  test("have the length of the hook's prompt: parts joined, without text that hooks added", async () => {
    const content = [{ text: "Read " }, { text: "@README.md" }, { text: "<hook_context>be brief</hook_context>" }];
    const path = main({ ...user("u1", ""), content }, { ...user("u2", ""), content: "Gr\u00fc\u00dfe \ud83d\uded2" });
    expect(ofKind((await read({ path })).entries, "prompt").map((p) => p.length)).toEqual([15, 8]);
  });

  test("are not repeated if the history is written again", async () => {
    const again = [
      { ...user("n0", "<session_context>\n…"), content: [{ text: "<session_context>\n…" }, { text: "Make a file" }] },
      gemini("n1", { tokens: null, model: undefined }),
      user("n2", "And another"),
    ];
    const path = main(
      user("u1", "Make a file"),
      gemini("m1"),
      user("u2", "And another"),
      gemini("m2"),
      ...again,
      { $set: { messages: again, lastUpdated: time() } },
      { ...user("r1", ""), content: [{ functionResponse: { id: "c1", name: "x", response: {} } }] },
      gemini("m3"),
      user("u3", "Thanks"),
      gemini("m4"),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "prompt").map((p) => p.promptKey)).toEqual(["u1", "u2", "u3"]);
    expect(ofKind(entries, "model_call").map((c) => [c.key, c.promptKey])).toEqual([
      ["answer:m1", "u1"],
      ["answer:m2", "u2"],
      ["answer:m3", "u2"],
      ["answer:m4", "u3"],
    ]);
  });
});

describe("tool calls", () => {
  test.each<[string, object, object | undefined]>([
    ["success", call("c1", "success"), { status: "success" }],
    ["error", failed("error", "File not found: x"), { status: "error" }],
    ["a hook denied it", failed("error", "Tool execution blocked: Blocked by policy hook"), { status: "denied" }],
    ["a policy denied it", failed("error", "Tool execution denied by policy."), { status: "denied" }],
    [
      "a policy denied this tool",
      failed("error", 'Tool execution for "Shell" denied by policy.'),
      { status: "denied" },
    ],
    [
      "approval was needed without a terminal",
      failed(
        "error",
        'Tool execution for "Shell" requires user confirmation, which is not supported in non-interactive mode.',
      ),
      { status: "denied" },
    ],
    ["a hook stopped the agent", failed("error", "Agent execution stopped by hook: enough"), { status: "denied" }],
    ["a result was withheld", failed("error", "Tool result blocked: secret"), { status: "error" }],
    [
      "the user denied it",
      failed("cancelled", "[Operation Cancelled] Reason: User denied execution."),
      { status: "denied" },
    ],
    [
      "the user denied it, before 0.3x",
      failed("cancelled", "[Operation Cancelled] Reason: User did not allow tool call"),
      { status: "denied" },
    ],
    [
      "it was queued behind the denied one",
      failed("cancelled", "[Operation Cancelled] Reason: User cancelled operation"),
      { status: "denied" },
    ],
    [
      "interrupted",
      failed("cancelled", "[Operation Cancelled] User cancelled tool execution."),
      { status: "error", errorType: "interrupted" },
    ],
    ["still running", call("c1", "executing"), undefined],
    ["an unknown status", call("c1", "postponed"), undefined],
  ])("%s", async (_, toolCall, result) => {
    const path = main(user("u1", "Push"), gemini("m1", { toolCalls: [toolCall] }));
    const { entries } = await read({ path });
    expect(ofKind(entries, "tool_use")).toMatchObject([{ callId: "c1", executable: "git" }]);
    expect(ofKind(entries, "tool_result")).toMatchObject(result === undefined ? [] : [{ callId: "c1", ...result }]);
  });

  test("copied from another session's history have the original global keys", async () => {
    const history = [
      user("u1", "Push"),
      gemini("m1", { toolCalls: [call("c1", "success", { agentId: "a1" })] }),
      gemini("m2", { tokens: undefined, content: "Got it. Thanks for the additional context!" }),
      { ...user("i1", ""), type: "info", content: "Request cancelled." },
      { ...user("e1", ""), type: "error", content: "[API Error: status: 400]" },
    ];
    const [first, second] = await Promise.all(
      [SESSION, "5c0ffee0-0000"].map((sessionId) =>
        read({
          path: put(join(chats, `session-x-${sessionId.slice(0, 8)}.jsonl`), lines({ ...head, sessionId }, ...history)),
        }),
      ),
    );
    const keys = first?.entries.map(({ kind, globalKey }) => [kind, globalKey]);
    expect(keys?.map(([kind]) => kind)).toEqual(
      "prompt model_call tool_use tool_result subagent compaction interruption model_error".split(" "),
    );
    expect(keys?.every(([, globalKey]) => globalKey !== undefined)).toBe(true);
    expect(second?.entries.map(({ kind, globalKey }) => [kind, globalKey])).toEqual(keys);
  });

  test("stay separate if a server restarts their numbers in every answer", async () => {
    const ran = (output: string) =>
      call("run_shell_command__0", "success", {
        result: [{ functionResponse: { id: "0", name: "x", response: { output } } }],
      });
    const path = main(
      user("u1", "Hello"),
      gemini("g1"),
      gemini("g1", { toolCalls: [ran("Output: 1")] }),
      gemini("g2", { toolCalls: [ran("Output: 2\nExit Code: 3")] }),
    );
    const first = await read({ path });
    appendFileSync(
      path,
      lines(
        gemini("g2", { toolCalls: [ran("Output: 2\nExit Code: 3")] }),
        gemini("g3", { toolCalls: [failed("error", "no", "run_shell_command__0")] }),
        // The history again, under new ids and without tokens
        user("u9", "<session_context>\n</session_context>"),
        gemini("g9", { tokens: undefined, toolCalls: [failed("error", "no", "run_shell_command__0")] }),
      ),
    );
    const entries = [...first.entries, ...(await read({ path }, first.next)).entries];
    const ids = ["run_shell_command__0", "run_shell_command__0#g2", "run_shell_command__0#g3"];
    expect(ofKind(entries, "tool_use").map(({ callId }) => callId)).toEqual(ids);
    expect(ofKind(entries, "tool_result").map(({ callId, status, exitCode }) => [callId, status, exitCode])).toEqual([
      [ids[0], "success", undefined],
      [ids[1], "success", 3],
      [ids[2], "error", undefined],
    ]);
    expect((await read({ path })).entries).toEqual(entries);
  });

  test("have exit code, edited lines and MCP server", async () => {
    const output = "Output: x\nExit Code: 3\nProcess Group PGID: 4";
    const stat = { model_added_lines: 4, model_removed_lines: 2 };
    const path = main(
      user("u1", "Go"),
      gemini("m1", {
        toolCalls: [
          call("c1", "success", { result: [{ functionResponse: { response: { output } } }] }),
          call("c2", "success", { name: "replace", resultDisplay: { diffStat: stat } }),
          call("c3", "success", { name: "mcp_shop_stock", displayName: "stock (shop MCP Server)" }),
        ],
      }),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "tool_result")).toMatchObject([{ exitCode: 3 }, { linesAdded: 4, linesRemoved: 2 }, {}]);
    expect(ofKind(entries, "tool_use")[2]?.mcpServer).toBe("shop");
  });
});

describe("errors and compactions", () => {
  test("model errors end the turn, others do not; cancelling is an interruption", async () => {
    const note = (id: string, type: string, content: string) => ({ id, timestamp: time(), type, content });
    const path = main(
      user("u1", "Hello"),
      note("e1", "error", "[API Error: You exceeded your quota (Status: RESOURCE_EXHAUSTED)]\nPlease wait"),
      note("e2", "error", "[API Error: got status: 503 Service Unavailable]"),
      note("e3", "error", "Unknown command: /fly"),
      note("i1", "info", "Request cancelled."),
      note("i2", "info", "Update available"),
      note("w1", "warning", "Careful"),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "model_error")).toMatchObject([
      { errorType: "RESOURCE_EXHAUSTED", final: true, promptKey: "u1" },
      { errorType: "503", httpStatus: 503, final: true },
    ]);
    expect(ofKind(entries, "interruption")).toHaveLength(1);
    expect(JSON.stringify(entries)).not.toContain("quota");
  });

  test("a compaction counts once, however often its checkpoint is repeated, also in a subagent's file", async () => {
    const got = {
      ...gemini("k2", { tokens: undefined, model: undefined }),
      content: [{ text: "Got it. Thanks for the additional context!" }],
    };
    const messages = [user("k0", "<session_context>"), user("k1", "<state_snapshot>…"), got, user("u9", "Go on")];
    const path = main(
      user("u1", "Hello"),
      gemini("m1"),
      { $set: { messages } },
      head,
      { $set: { messages } },
      gemini("m2"),
    );
    const { entries } = await read({ path });
    expect(ofKind(entries, "compaction")).toHaveLength(1);
    expect(ofKind(entries, "model_call")).toHaveLength(2);
    const below = put(
      join(chats, SESSION, "a1.jsonl"),
      lines(head, user("t", "Your task"), gemini("s1"), ...messages.slice(1)),
    );
    const sub = (await read({ path: below, agentId: "a1" })).entries;
    expect(ofKind(sub, "compaction")).toMatchObject([{ agentId: "a1" }]);
    expect(ofKind(sub, "prompt")).toEqual([]);
    expect(ofKind(sub, "model_call")).toMatchObject([{ agentId: "a1" }]);
  });
});

describe("the older form, one object per file", () => {
  const old = (...messages: object[]) => JSON.stringify({ ...head, messages }, null, 2);

  test("is read completely each time, with the same result as the newer form", async () => {
    const messages = [user("u1", "Hello"), gemini("m1", { toolCalls: [call("c1", "success")] }), gemini("m2")];
    const path = put(join(chats, "session-2026-11-21T05-44-91c17a0a.json"), old(...messages));
    const first = await read({ path });
    expect(await read({ path }, first.next)).toEqual(first);
    expect(merged(first.entries)).toEqual(merged((await read({ path: main(...messages) })).entries));
    expect(await reader.files({ sessionId: SESSION, path, home })).toEqual([{ path }, { path: `${path}l` }]);
  });

  test("gives the complete messages of a half-written file, and all of them later", async () => {
    const text = old(user("u1", "Hello"), gemini("m1"));
    const path = put(join(chats, "session-2026-11-21T05-44-91c17a0a.json"), text.slice(0, -20));
    expect(await read({ path })).toMatchObject({ entries: [{ kind: "prompt", key: "prompt:u1" }], unreadable: 0 });
    writeFileSync(path, text);
    expect(ofKind((await read({ path })).entries, "model_call")).toHaveLength(1);
  });
});

test("counts lines that are no records, and survives records of any shape", async () => {
  const odd = [{ id: 7 }, { id: "x" }, { id: "y", type: "gemini", toolCalls: [null, 3, { id: "c" }], tokens: "many" }];
  const path = main(
    ...odd,
    { $set: null },
    { $set: { messages: "x" } },
    { id: "z", type: "user", content: { text: 4 } },
  );
  appendFileSync(path, 'not json\n["a list"]\n');
  const { entries, unreadable } = await read({ path });
  expect(unreadable).toBe(2);
  expect(entries.map((e) => e.kind)).toEqual(["prompt"]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          id: fc.string(),
          type: fc.constantFrom("user", "gemini", "error"),
          content: fc.jsonValue(),
          tokens: fc.jsonValue(),
          toolCalls: fc.array(
            fc.record({
              id: fc.string(),
              name: fc.string(),
              status: fc.constantFrom("error", "success", "cancelled"),
              result: fc.jsonValue(),
              resultDisplay: fc.jsonValue(),
              args: fc.jsonValue(),
            }),
          ),
        }),
      ),
      async (records) => {
        await read({ path: main(...records) });
      },
    ),
    { numRuns: runs(60) },
  );
});
