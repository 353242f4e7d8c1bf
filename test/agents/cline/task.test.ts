import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import cline from "#agents/cline/transcript.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { type EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { locateAll } from "../../support/located.ts";

const reader: TranscriptReader = cline;
const ID = "1795255200000";
const T0 = Number(ID);
const CODE = ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks";
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-cline-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

type Files = Readonly<Record<string, unknown>>;

/** Writes a task's files by name; texts as they are. */
function write(files: Files, base = CODE, id = ID): string {
  const folder = join(home, base, id);
  mkdirSync(folder, { recursive: true });
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  return folder;
}

async function read(content = false) {
  const entries: TranscriptEntry[] = [];
  const pieces: ContentUpdate[] = [];
  let unreadable = 0;
  const roots = reader.roots(home, {});
  for (const file of await reader.files({ sessionId: ID, home, roots })) {
    for await (const batch of reader.read({ ...file, roots }, INITIAL_OFFSET, { content })) {
      entries.push(...batch.entries);
      pieces.push(...(batch.content ?? []));
      unreadable += batch.unreadable;
    }
  }
  for (const entry of entries) expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
  return { entries, pieces, unreadable };
}

const of = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K): readonly EntryOf<K>[] =>
  entries.filter((entry): entry is EntryOf<K> => entry.kind === kind);

const say = (at: number, kind: string, text?: unknown, more: object = {}) => ({
  ts: T0 + at,
  type: "say",
  say: kind,
  ...(text !== undefined && { text: typeof text === "string" ? text : JSON.stringify(text) }),
  ...more,
});
const model = (providerId: string, modelId = "m-1") => ({ modelInfo: { providerId, modelId, mode: "act" } });
const figures = (tokensIn: number, tokensOut: number, cacheReads = 0, cacheWrites = 0) => ({
  request: "x",
  tokensIn,
  tokensOut,
  cacheReads,
  cacheWrites,
  cost: 0.5,
});

describe("tokens of a request", () => {
  test.each([
    // Whether tokensIn includes what was read from the cache and written to it
    ["anthropic", [10, 5, 100, 20], { input: 130, output: 5, cacheRead: 100, cacheWrite: 20 }],
    ["openrouter", [10, 5, 100, 0], { input: 110, output: 5, cacheRead: 100 }],
    ["openai", [110, 5, 100, 0], { input: 110, output: 5, cacheRead: 100 }],
    ["openai-codex", [110, 5, 100, 0], { input: 110, output: 5, cacheRead: 100 }],
    // What was not in the cache is noted as written to it
    ["deepseek", [0, 5, 100, 10], { input: 110, output: 5, cacheRead: 100 }],
    ["xai", [110, 5, 100, 10], { input: 110, output: 5, cacheRead: 100 }],
    // A zero means that the provider reported nothing
    ["anthropic", [10, 5, 0, 0], { input: 10, output: 5 }],
    ["anthropic", [0, 0, 0, 0], undefined],
    ["anthropic", [10, 0, 0, 0], { input: 10 }],
    ["ollama", [0, 7, 0, 0], { output: 7 }],
    // Nothing shows which rule holds
    ["a-later-provider", [110, 5, 100, 0], { output: 5, cacheRead: 100 }],
    ["a-later-provider", [110, 5, 0, 0], { input: 110, output: 5 }],
    ["openai", [10, 5, 100, 0], { output: 5, cacheRead: 100 }],
  ] as const)("of %s: %j is %j", async (provider, [tokensIn, tokensOut, reads, writes], usage) => {
    write({
      "ui_messages.json": [
        say(1, "task", "do it"),
        say(2, "api_req_started", figures(tokensIn, tokensOut, reads, writes), model(provider)),
        say(3, "text", "ok"),
      ],
    });
    const [call, ...others] = of((await read()).entries, "model_call");
    expect(others).toEqual([]);
    expect(call?.usage).toEqual(usage);
    expect(call).toMatchObject({
      key: `request:${T0 + 2}`,
      model: "m-1",
      complete: usage !== undefined && "output" in usage,
    });
  });

  test("of Gemini lack its reasoning, so the output is a lower bound", async () => {
    write({
      "ui_messages.json": [
        say(1, "task", "do it"),
        say(2, "api_req_started", figures(10, 5), model("gemini", "gemini-2.5-pro")),
        say(3, "text", "ok"),
      ],
    });
    expect(of((await read()).entries, "model_call")).toMatchObject([
      { provider: "gcp.gemini", complete: false, usage: { input: 10, output: 5 } },
    ]);
  });

  test("come from the task's metadata if a message names no model, with the version and the reported cost", async () => {
    write({
      "ui_messages.json": [
        say(1, "task", "do it"),
        say(2, "api_req_started", figures(10, 5, 100)),
        say(3, "text", "ok"),
        say(9, "api_req_started", figures(120, 6, 100)),
        say(10, "text", "ok"),
      ],
      "task_metadata.json": {
        model_usage: [
          { ts: T0 + 2, model_id: "m-1", model_provider_id: "anthropic", mode: "act" },
          { ts: T0 + 8, model_id: "m-2", model_provider_id: "openai", mode: "act" },
        ],
        environment_history: [{ ts: T0, cline_version: "3.50.0" }],
      },
    });
    const { entries } = await read();
    expect(of(entries, "model_call")).toMatchObject([
      { model: "m-1", provider: "anthropic", usage: { input: 110 } },
      { model: "m-2", provider: "openai", complete: true },
    ]);
    expect(of(entries, "session")).toMatchObject([{ agentVersion: "3.50.0" }]);
    expect(of(entries, "reported_usage")).toMatchObject([
      { byModel: { "m-1": { input: 110, output: 5, costUsd: 0.5 }, "m-2": { costUsd: 0.5 } } },
    ]);
  });
});

describe("a request", () => {
  test("without an answer so far is no call yet; once it has one, it is a call without usage", async () => {
    const messages = [say(1, "task", "do it"), say(2, "api_req_started", { request: "x" }, model("anthropic"))];
    write({ "ui_messages.json": messages });
    expect(of((await read()).entries, "model_call")).toEqual([]);
    write({ "ui_messages.json": [...messages, say(3, "text", "I", { partial: true })] });
    const [call] = of((await read()).entries, "model_call");
    expect(call).toMatchObject({ key: `request:${T0 + 2}`, complete: false });
    expect(call).not.toHaveProperty("usage");
  });

  test("that the user cancelled, or that failed, has unknown tokens", async () => {
    const failed = JSON.stringify({ message: "overloaded", status: 529, code: "overloaded_error" });
    write({
      "ui_messages.json": [
        say(1, "task", "do it"),
        say(2, "api_req_started", { ...figures(0, 0), cancelReason: "user_cancelled" }, model("anthropic")),
        say(10, "user_feedback", "again"),
        say(
          11,
          "api_req_started",
          { ...figures(0, 0), cancelReason: "streaming_failed", streamingFailedMessage: failed },
          model("anthropic"),
        ),
        say(20, "api_req_started", figures(10, 5), model("anthropic")),
        say(21, "error_retry", { attempt: 1, maxAttempts: 3, delaySeconds: 2, errorMessage: failed }),
        say(22, "text", "ok"),
      ],
    });
    const { entries } = await read();
    expect(of(entries, "model_call").map(({ usage, complete }) => [usage, complete])).toEqual([
      [undefined, false],
      [undefined, false],
      [{ input: 10, output: 5 }, true],
    ]);
    expect(of(entries, "interruption")).toMatchObject([{ promptKey: `prompt:${T0 + 1}` }]);
    expect(of(entries, "model_error")).toMatchObject([
      { errorType: "overloaded_error", httpStatus: 529, final: true, promptKey: `prompt:${T0 + 10}` },
      { errorType: "overloaded_error", httpStatus: 529, final: false },
    ]);
  });

  test("of early versions gets its figures from the message that ends it, and its file's earlier name is read", async () => {
    write({
      "claude_messages.json": [
        say(1, "text", "do it"),
        say(2, "api_req_started", { request: "x" }),
        say(3, "text", "ok"),
        say(4, "api_req_finished", { tokensIn: 10, tokensOut: 5, cost: 0.1 }),
      ],
    });
    const { entries } = await read();
    expect(of(entries, "model_call")).toMatchObject([{ usage: { input: 10, output: 5 } }]);
    expect(of(entries, "prompt")).toMatchObject([{ length: 5 }]);
  });
});

describe("tools", () => {
  const answer = (...content: readonly unknown[]) => ({ role: "assistant", content });
  const user = (...content: readonly unknown[]) => ({ role: "user", content });
  const text = (value: string) => ({ type: "text", text: value });
  const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
  const result = (id: string, content: unknown) => ({ type: "tool_result", tool_use_id: id, content });
  const requests = [1, 2, 3].map((n) => say(n * 10, "api_req_started", figures(10, n), model("anthropic")));

  test("have the model's ids, results and executables; ids that repeat get their request's time", async () => {
    write({
      "ui_messages.json": [say(1, "task", "do it"), ...requests],
      "api_conversation_history.json": [
        user(
          text("<task>\ndo it\n</task>"),
          text("# Current Working Directory (/home/dev/acme-shop) Files\nREADME.md"),
        ),
        answer(use("call_0", "execute_command", { command: "npm test" }), use("toolu_1", "aB3xY0mcp0stock", { id: 1 })),
        user(result("call_0", "Command failed with exit code 1."), result("toolu_1", "4")),
        answer(use("call_0", "read_file", { path: "a" })),
        user(result("call_0", [text("The user denied this operation.")])),
        answer(use("toolu_2", "attempt_completion", { result: "done" })),
      ],
    });
    const { entries, pieces } = await read(true);
    expect(of(entries, "session")).toMatchObject([{ cwd: "/home/dev/acme-shop" }]);
    expect(of(entries, "tool_use")).toMatchObject([
      { callId: `call_0#${T0 + 10}`, name: "execute_command", executable: "npm", timeMs: T0 + 10 },
      { callId: "toolu_1", name: "use_mcp_tool" },
      { callId: `call_0#${T0 + 20}`, name: "read_file", timeMs: T0 + 20 },
    ]);
    expect(of(entries, "tool_result").map(({ status }) => status)).toEqual(["error", "success", "denied"]);
    expect(of(entries, "model_call").map(({ asksForTools }) => asksForTools)).toEqual([true, true, undefined]);
    expect(JSON.stringify(entries)).not.toMatch(/npm test|README|do it/);
    expect(pieces).toMatchObject([
      { part: "prompt", value: "do it" },
      { part: "answer" },
      { part: "answer" },
      { part: "arguments", value: { command: "npm test" } },
      { part: "result", value: "Command failed with exit code 1." },
      { part: "arguments" },
      { part: "result", value: "4" },
      { part: "answer" },
      { part: "arguments", value: { path: "a" } },
      { part: "result", value: "The user denied this operation." },
      { part: "answer" },
    ]);
  });

  test("in XML are those with a result; an example in a text is none", async () => {
    write({
      "ui_messages.json": [say(1, "task", "do it"), ...requests],
      "api_conversation_history.json": [
        user(text("do it")),
        answer(
          text("I write.\n<write_to_file>\n<path>a.md</path>\n<content>\n<path>x</path>\n</content>\n</write_to_file>"),
        ),
        user(text("[write_to_file for 'a.md'] Result:"), text("The content was saved.")),
        answer(text("Call it with <read_file><path>b</path></read_file>.")),
        user(text("[ERROR] You did not use a tool in your previous response!")),
        answer(text("<use_mcp_tool><server_name>shop</server_name><tool_name>stock</tool_name></use_mcp_tool>")),
        user(text("[use_mcp_tool for 'shop'] Result:\nThe tool execution failed with the following error:\n<error>")),
      ],
    });
    const { entries } = await read();
    expect(of(entries, "tool_use")).toMatchObject([
      { callId: `xml:0#${T0 + 10}`, name: "write_to_file" },
      { callId: `xml:0#${T0 + 30}`, name: "use_mcp_tool", mcpServer: "shop" },
    ]);
    expect(of(entries, "tool_result").map(({ status }) => status)).toEqual(["success", "error"]);
  });
});

describe("sums", () => {
  test("over the calls of subagents, and over calls that a restored checkpoint removed", async () => {
    write({
      "ui_messages.json": [
        say(1, "task", "do it"),
        say(2, "api_req_started", figures(10, 5, 100), model("anthropic")),
        say(3, "text", "ok"),
        say(50, "deleted_api_reqs", figures(20, 9, 300)),
        say(60, "subagent_usage", { source: "subagents", ...figures(30, 7, 200) }, model("anthropic", "m-2")),
      ],
      "task_metadata.json": { model_usage: [{ ts: T0, model_id: "m-1", model_provider_id: "anthropic", mode: "act" }] },
    });
    const sums = of((await read()).entries, "model_call").filter(({ covers }) => covers !== undefined);
    expect(sums).toMatchObject([
      { key: `removed:${T0 + 50}`, covers: "removed", model: "m-1", startMs: T0 + 3, endMs: T0 + 50 },
      { key: `turn:${T0 + 60}`, covers: "turn", model: "m-2" },
    ]);
    expect(sums.map(({ usage }) => usage)).toEqual([
      { input: 320, output: 9, cacheRead: 300 },
      { input: 230, output: 7, cacheRead: 200 },
    ]);
  });

  test("over removed calls have unknown input if nothing shows which providers they used", async () => {
    write({ "ui_messages.json": [say(1, "task", "do it"), say(50, "deleted_api_reqs", figures(20, 9, 300))] });
    const sums = of((await read()).entries, "model_call");
    expect(sums.map(({ usage }) => usage)).toEqual([{ output: 9, cacheRead: 300 }]);
  });
});

describe("files", () => {
  const ui = [
    say(1, "task", "do it"),
    say(2, "api_req_started", figures(10, 5), model("anthropic")),
    say(3, "text", ""),
  ];

  test.each([
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".config/Code - Insiders/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".config/VSCodium/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".config/Cursor/User/globalStorage/saoudrizwan.claude-dev/tasks",
    "Library/Application Support/Windsurf/User/globalStorage/saoudrizwan.claude-dev/tasks",
    "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".local/share/code-server/User/globalStorage/saoudrizwan.claude-dev/tasks",
    ".cline/data/tasks",
  ])("below %s are found", async (base) => {
    const folder = write({ "ui_messages.json": ui }, base);
    write({ "settings.json": {} }, base, "1795255200001");
    const { sessions, problems } = await locateAll(reader, home);
    expect(problems).toEqual([]);
    expect(sessions).toMatchObject([{ sessionId: ID, path: join(folder, "ui_messages.json") }]);
    expect((await read()).entries.length).toBeGreaterThan(1);
  });

  test("of one task in two folders are one session, found by its id, and each call has one key", async () => {
    const before = write(
      { "ui_messages.json": ui.slice(0, 3) },
      ".config/Cursor/User/globalStorage/saoudrizwan.claude-dev/tasks",
    );
    const after = write({
      "ui_messages.json": [...ui, say(9, "api_req_started", figures(20, 6), model("anthropic")), say(10, "text", "ok")],
    });
    const { sessions } = await locateAll(reader, home);
    expect(sessions).toHaveLength(1);
    const files = await reader.files({ sessionId: ID, home });
    expect(files.map(({ path }) => path).sort()).toEqual(
      [join(before, "ui_messages.json"), join(after, "ui_messages.json")].sort(),
    );
    expect(new Set(of((await read()).entries, "model_call").map(({ key }) => key))).toEqual(
      new Set([`request:${T0 + 2}`, `request:${T0 + 9}`]),
    );
  });

  test("that are broken are counted, and what is complete is read", async () => {
    write({ "ui_messages.json": JSON.stringify(ui).slice(0, -40), "api_conversation_history.json": "{" });
    expect(of((await read()).entries, "prompt")).toHaveLength(1);
    write({ "ui_messages.json": "<html>" });
    expect(await read()).toMatchObject({ entries: [], unreadable: 1 });
    write({ "ui_messages.json": [] });
    expect(await read()).toMatchObject({ entries: [], unreadable: 0 });
  });

  test("that link elsewhere are not read; the task's figures still count", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "openhook-elsewhere-"));
    try {
      const folder = write({ "ui_messages.json": ui });
      writeFileSync(join(elsewhere, "api.json"), JSON.stringify([{ role: "assistant", content: "secret" }]));
      symlinkSync(join(elsewhere, "api.json"), join(folder, "api_conversation_history.json"));
      const { entries, unreadable } = await read();
      expect(of(entries, "model_call")).toHaveLength(1);
      expect(unreadable).toBe(1);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});

describe("a task that a later version continued", () => {
  const task = [
    say(1, "task", "do it"),
    say(2, "api_req_started", figures(10, 5), model("anthropic")),
    say(3, "text", "ok"),
    say(12, "api_req_started", figures(20, 6), model("anthropic")),
    say(13, "text", "ok"),
  ];
  const message = (role: string, id: string, text: string, more: object = {}) => ({
    id,
    role,
    content: [{ type: "text", text }],
    ...more,
  });
  const continued = {
    version: 1,
    messages: [
      message("user", "u1", "do it"),
      message("assistant", "a1", "ok", { metrics: { inputTokens: 30, outputTokens: 11 } }),
      message("user", "u2", "Warning: this is a legacy conversation, which means tool names may have changed."),
      message("user", "u3", "go on", { ts: T0 + 1000 }),
      message("assistant", "a2", "gone on", { ts: T0 + 1001, metrics: { inputTokens: 40, outputTokens: 7 } }),
    ],
  };
  function writeSession(): void {
    const folder = join(home, ".cline", "data", "sessions", ID);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${ID}.messages.json`), JSON.stringify(continued));
  }

  test("is one session; what it took over from the task comes as a sum over removed calls", async () => {
    write({ "ui_messages.json": task });
    writeSession();
    expect((await locateAll(reader, home)).sessions).toHaveLength(1);
    const { entries } = await read();
    expect(of(entries, "prompt").map(({ key }) => key)).toEqual([`prompt:${T0 + 1}`, "prompt:u3"]);
    expect(of(entries, "model_call").map(({ key, covers, usage }) => [key, covers, usage?.output])).toEqual([
      [`request:${T0 + 2}`, undefined, 5],
      [`request:${T0 + 12}`, undefined, 6],
      ["removed:task", "removed", 11],
      ["message:a2", undefined, 7],
    ]);
    expect(of(entries, "model_call")[2]).toMatchObject({ startMs: T0 - 1, endMs: T0 + 1000 });
  });

  test("has a copy of the continuation, which is left out", async () => {
    const copy = [0, 1, 2].map((n) => say(1000 + n, "api_req_started", figures(40, 7), model("anthropic")));
    const state = { version: 1, baseUiMessageCount: 5, writtenUiMessageCount: 8 };
    const later = [say(2000, "api_req_started", figures(50, 8), model("anthropic")), say(2001, "text", "ok")];
    write({ "ui_messages.json": [...task, ...copy, ...later], "sdk_writeback.json": state });
    expect(of((await read()).entries, "model_call").map(({ usage }) => usage?.output)).toEqual([5, 6, 8]);
    // The user went back to the earlier version and to a checkpoint before the copy
    write({ "ui_messages.json": [...task, ...later, say(2010, "text", "ok")] });
    expect(of((await read()).entries, "model_call").map(({ usage }) => usage?.output)).toEqual([5, 6, 8]);
  });
});
