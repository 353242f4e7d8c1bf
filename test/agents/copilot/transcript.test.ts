import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/copilot/transcript.ts";
import { inputDigest } from "#agents/shared/payload/digest.ts";
import type { ContentUpdate } from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { type EntryOf, type Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { locateAll } from "../../support/located.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const ID = "9b5d9f7a-eaf4-4d35-bd6a-85c5ac5f9a3b";
let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "openhook-copilot-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const pathOf = (sessionId: string): string => join(home, ".copilot", "session-state", sessionId, "events.jsonl");

async function write(text: string, sessionId = ID): Promise<string> {
  await mkdir(dirname(pathOf(sessionId)), { recursive: true });
  await writeFile(pathOf(sessionId), text);
  return pathOf(sessionId);
}

async function readFrom(path: string, from: Offset = INITIAL_OFFSET, wanted: ReadOptions = {}) {
  const entries: TranscriptEntry[] = [];
  const content: ContentUpdate[] = [];
  let next = from;
  let unreadable = 0;
  for await (const batch of reader.read({ path }, from, wanted)) {
    content.push(...(batch.content ?? []));
    entries.push(...batch.entries.map((entry) => TranscriptEntry.parse(entry)));
    next = JSON.parse(JSON.stringify(batch.next));
    unreadable += batch.unreadable;
  }
  return { entries, content, next, unreadable };
}

let count = 0;
/** One line of a session file, a second after the previous one. */
function line(type: string, data: object, rest: object = {}): string {
  count++;
  const timestamp = new Date(Date.UTC(2026, 10, 21) + count * 1000).toISOString();
  const id = `00000000-0000-4000-8000-${String(count).padStart(12, "0")}`;
  return `${JSON.stringify({ type, data, id, timestamp, parentId: null, ...rest })}\n`;
}
const usage = (sequence: number, fields: object = {}, rest: object = {}) =>
  line(
    "session.usage_record",
    {
      usage: {
        model: "gpt-5-mini",
        inputTokens: 100,
        outputTokens: 10,
        cacheReadTokens: 40,
        duration: 300,
        apiCallId: `chatcmpl-${sequence}`,
        finishReason: "stop",
        numToolCalls: 0,
        accounting: { sourceSessionId: ID, sequence, usageId: `chatcmpl-${sequence}` },
        ...fields,
      },
    },
    rest,
  );
const user = (content: string, data: object = {}, rest: object = {}) =>
  line("user.message", { content, ...data }, rest);
const shutdown = (input: number, data: object = {}) =>
  line("session.shutdown", {
    sessionStartTime: 1795240712687,
    modelMetrics: {
      "gpt-5-mini": { requests: { count: 2 }, usage: { inputTokens: input, outputTokens: input / 10 } },
    },
    ...data,
  });

async function entriesOf(...lines: string[]): Promise<readonly TranscriptEntry[]> {
  return (await readFrom(await write(lines.join("")))).entries;
}
const only = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K): EntryOf<K>[] =>
  entries.filter((entry): entry is EntryOf<K> => entry.kind === kind);

// As 1.0.102 does: later lines are removed, the next prompt's lines replace them, and record numbers repeat
test("/rewind: reads all lines that replace a shorter part", async () => {
  const start = line("session.start", { copilotVersion: "1.0.102", context: { cwd: "/home/dev/acme-shop" } });
  const kept = start + user("one") + usage(1);
  const path = await write(kept + user("two") + usage(2));
  const before = await readFrom(path);
  const again = { apiCallId: "chatcmpl-3", accounting: { sourceSessionId: ID, sequence: 2, usageId: "chatcmpl-3" } };
  await writeFile(path, kept + user("two, again") + usage(2, again) + usage(3, { apiCallId: "chatcmpl-4" }));
  const after = await readFrom(path, before.next);
  const keysOf = (kind: TranscriptEntry["kind"]) =>
    new Set(only([...before.entries, ...after.entries], kind).map(({ key }) => key));
  expect(keysOf("prompt").size).toBe(3);
  expect(keysOf("model_call").size).toBe(4);
});

describe("model calls", () => {
  test("one per record, with Copilot's counter as key", async () => {
    const [call] = only(await entriesOf(usage(1)), "model_call");
    expect(call).toMatchObject({
      key: `usage:${ID}:1:chatcmpl-1`,
      globalKey: `usage:${ID}:1:chatcmpl-1`,
      responseId: "chatcmpl-1",
      model: "gpt-5-mini",
      usage: { input: 100, output: 10, cacheRead: 40 },
      complete: true,
    });
    expect(call?.asksForTools).toBeUndefined();
    expect((call?.endMs ?? 0) - (call?.startMs ?? 0)).toBe(300);
  });
  test("two answers with the same id from a local server are two", async () => {
    const again = { apiCallId: "chatcmpl-1", accounting: { sourceSessionId: ID, sequence: 2, usageId: "chatcmpl-1" } };
    const keys = only(await entriesOf(usage(1), usage(2, again)), "model_call").map(({ key }) => key);
    expect(new Set(keys).size).toBe(2);
  });
  test("a repeated record is one call, also in a fork's copy", async () => {
    const [first, second] = only(await entriesOf(usage(7), usage(7)), "model_call");
    expect(second?.key).toBe(first?.key);
    const path = await write(usage(7), "00000000-fork");
    expect(only((await readFrom(path)).entries, "model_call")[0]?.globalKey).toBe(first?.globalKey);
  });
  test.each([
    [{ numToolCalls: 1, finishReason: "tool_calls" }, true],
    // Ollama and others
    [{ numToolCalls: 1, finishReason: "stop" }, true],
    [{ numToolCalls: undefined, finishReason: "tool_calls" }, true],
    [{ numToolCalls: 0, finishReason: "length" }, undefined],
  ])("%j calls tools: %s", async (fields, expected) => {
    expect(only(await entriesOf(usage(1, fields)), "model_call")[0]?.asksForTools).toBe(expected);
  });
  test("a call without numbers is a call", async () => {
    const none = { inputTokens: undefined, outputTokens: undefined };
    const [some] = only(await entriesOf(usage(1, none)), "model_call");
    expect(some?.usage).toEqual({ cacheRead: 40 });
    const [call] = only(await entriesOf(usage(1, { ...none, cacheReadTokens: undefined })), "model_call");
    expect(call).toBeDefined();
    expect(call?.usage).toBeUndefined();
  });
  test("a subagent's calls are assigned by agent id or by the call that started it", async () => {
    const calls = only(
      await entriesOf(usage(1, {}, { agentId: "child" }), usage(2, { parentToolCallId: "call_1" })),
      "model_call",
    );
    expect(calls.map(({ agentId }) => agentId)).toEqual(["child", "call_1"]);
  });
});

describe("files without a record per call", () => {
  const answer = (id: string, tools: readonly object[]) =>
    line("assistant.message", { messageId: id, content: "secret", toolRequests: tools, model: "claude-sonnet-4" });

  test("have calls without tokens, and one sum for all of them", async () => {
    const entries = await entriesOf(user("hi"), answer("m1", [{ toolCallId: "c" }]), answer("m2", []), shutdown(200));
    const calls = only(entries, "model_call");
    expect(calls.map(({ covers, usage: tokens }) => [covers, tokens?.input])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ["turn", 200],
    ]);
    expect(calls.map(({ asksForTools }) => asksForTools)).toEqual([true, undefined, undefined]);
    expect(only(entries, "reported_usage")[0]?.byModel).toEqual({ "gpt-5-mini": { input: 200, output: 20 } });
    expect(JSON.stringify(entries)).not.toContain("secret");
  });
  test("count each run's part of cumulative sums", async () => {
    const sums = only(await entriesOf(shutdown(200), line("session.resume", {}), shutdown(500)), "model_call");
    expect(new Set(sums.map(({ key }) => key)).size).toBe(2);
    expect(sums.map(({ usage: tokens }) => tokens)).toMatchObject([
      { input: 200, output: 20 },
      { input: 300, output: 30 },
    ]);
  });
  test("use the last sums of a run", async () => {
    const sums = only(await entriesOf(shutdown(200), shutdown(500)), "model_call");
    expect(new Set(sums.map(({ key }) => key)).size).toBe(1);
    const merged = sums.reduce<TranscriptEntry>(mergeEntries, sums[0] as TranscriptEntry);
    expect(merged).toMatchObject({ usage: { input: 500, output: 50 } });
  });
  const answered = (id: string, outputTokens: number, model?: string) =>
    line("assistant.message", { messageId: id, content: "", toolRequests: [], outputTokens, model });
  const mergedOf = (entries: readonly TranscriptEntry[]) => {
    const sums = new Map<string, TranscriptEntry>();
    for (const entry of only(entries, "model_call").filter(({ covers }) => covers !== undefined)) {
      const before = sums.get(entry.key);
      sums.set(entry.key, before === undefined ? entry : mergeEntries(before, entry));
    }
    return only([...sums.values()], "model_call").map(({ model, usage: tokens }) => [model, tokens]);
  };
  test("the output of a run without sums is known, its input is not", async () => {
    const entries = await entriesOf(user("hi"), answered("m1", 7, "m"), answered("m1", 7, "m"), answered("m2", 5, "m"));
    expect(mergedOf(entries)).toEqual([["m", { output: 12 }]]);
  });
  test.each([
    ["with the same model", "gpt-5-mini"],
    ["with another name of the model", "mini"],
    ["without a model", undefined],
  ])("a run's sums replace the output of its answers: %s", async (_, model) => {
    const entries = await entriesOf(user("hi"), answered("m1", 13, model), answered("m2", 7, model), shutdown(200));
    expect(mergedOf(entries)).toEqual([["gpt-5-mini", { input: 200, output: 20 }]]);
  });
  test("answers after a checkpoint add their output until the next sums", async () => {
    const lines = [answered("m1", 20, "mini"), shutdown(200), answered("m2", 9, "mini")];
    expect(mergedOf(await entriesOf(...lines))).toEqual([["gpt-5-mini", { input: 200, output: 29 }]]);
    expect(mergedOf(await entriesOf(...lines, shutdown(300)))).toEqual([["gpt-5-mini", { input: 300, output: 30 }]]);
  });
  test("add sums that restarted", async () => {
    const anew = shutdown(300, { sessionStartTime: 1795240999999 });
    const sums = only(await entriesOf(shutdown(200), anew), "model_call");
    expect(new Set(sums.map(({ key }) => key)).size).toBe(2);
  });
  test("read sums from a checkpoint's snapshot", async () => {
    const modelMetrics = { m: { usage: { inputTokens: 5, outputTokens: 1 } } };
    const accountingSnapshot = { modelMetrics, sessionStartTime: "2026-11-21T05:58:32.687Z" };
    const [sum] = only(await entriesOf(line("session.usage_checkpoint", { accountingSnapshot })), "model_call");
    expect(sum).toMatchObject({ covers: "turn", model: "m", usage: { input: 5, output: 1 } });
  });
  test("with records, sums and answers are only a cross-check", async () => {
    const entries = await entriesOf(usage(1), answer("m1", []), shutdown(100));
    expect(only(entries, "model_call")).toHaveLength(1);
    expect(only(entries, "reported_usage")).toHaveLength(1);
  });
});

describe("prompts", () => {
  const originsOf = async (data: object, rest: object = {}) =>
    only(await entriesOf(user("hi", data, rest)), "prompt").map(({ origin }) => origin);

  test.each([
    [{}, ["human"]],
    [{ source: "user", delivery: "steering" }, ["human"]],
    [{ source: "command-review", delivery: "idle" }, ["human"]],
    [{ agentMode: "shell" }, ["command"]],
    [{ source: "system", delivery: "idle" }, ["machine"]],
    [{ source: "schedule-1", delivery: "queued" }, ["machine"]],
    [{ isAutopilotContinuation: true }, ["machine"]],
    [{ source: "system" }, []],
    [{ source: "system", delivery: "steering" }, []],
    [{ source: "skill-pdf", delivery: "idle" }, []],
    [{ source: "jit-instruction" }, []],
  ])("%j", async (data, expected) => {
    expect(await originsOf(data)).toEqual(expected);
  });
  test("exclude a subagent's task", async () => {
    expect(await originsOf({ source: "agent-x", delivery: "idle" }, { agentId: "child" })).toEqual([]);
  });
  test("contain the following entries, including subagents; they have a length and no text", async () => {
    const entries = await entriesOf(user("größe"), usage(1), usage(2, {}, { agentId: "child" }), user("b"), usage(3));
    const [first, second] = only(entries, "prompt");
    expect(first?.length).toBe(5);
    expect(only(entries, "model_call").map(({ promptKey }) => promptKey)).toEqual([
      first?.promptKey,
      first?.promptKey,
      second?.promptKey,
    ]);
    expect(JSON.stringify(entries)).not.toContain("größe");
  });
  test.each<[what: string, content: string, given: string, length: number | undefined]>([
    ["typed", "Go on", "<current_datetime>x</current_datetime>\n\nGo on", 5],
    ["followed by notices", "Go on", "<current_datetime>x</current_datetime>\n\nGo on\n\n<reminder>\n</reminder>", 5],
    ["unchanged", "Go on", "Go on\n<reminder>\n</reminder>", 5],
    ["in plan mode", "Go on", "<mode_changed_notice>\n</mode_changed_notice>\n\n[[PLAN]] Go on", 5],
    ["/plan", "Go on", "[[PLAN]] I want to create a plan. Please:\n1. Analyze\n\nMy request: Go on", undefined],
    ["/fleet", "Fleet deployed: Go on", "You are now in fleet mode.\n\nUser request: Go on", undefined],
    ["a skill", "/greet", 'The user explicitly invoked the "/greet" skill.\n\nSay hello.', undefined],
    ["autopilot", "", "<current_datetime>x</current_datetime>\n\nYou have not yet marked the task", undefined],
  ])("have a length if the hook got the same text: %s", async (_, content, transformedContent, length) => {
    const [prompt] = only(await entriesOf(line("user.message", { content, transformedContent })), "prompt");
    expect(prompt?.length).toBe(length);
  });
  test("a finished background task starts a turn only if the agent was idle", async () => {
    const notification = (content: string, rest: object = {}) => line("system.notification", { content }, rest);
    const turn = (turnId: string, ...lines: string[]) =>
      [line("assistant.turn_start", { turnId }), ...lines, line("assistant.turn_end", { turnId })].join("");
    const entries = await entriesOf(
      user("a"),
      turn("0", usage(1)),
      turn("1", notification("at work"), usage(2)),
      notification("of a subagent", { agentId: "child" }),
      notification("at rest"),
      notification("at rest, too"),
      turn("0", notification("at work again"), usage(3)),
    );
    const prompts = only(entries, "prompt");
    expect(prompts.map(({ origin, length }) => [origin, length])).toEqual([
      ["human", 1],
      ["machine", 7],
    ]);
    const [first, second] = prompts.map(({ promptKey }) => promptKey);
    expect(only(entries, "model_call").map(({ promptKey }) => promptKey)).toEqual([first, first, second]);
  });
});

describe("tools", () => {
  const started = (data: object = {}) =>
    line("tool.execution_start", { toolCallId: "c1", toolName: "bash", arguments: { command: "npm test" }, ...data });
  const completed = (data: object) => line("tool.execution_complete", { toolCallId: "c1", ...data });

  test("a use has the same digest as its hook", async () => {
    const [use] = only(await entriesOf(started()), "tool_use");
    expect(use).toMatchObject({ callId: "c1", name: "bash", executable: "npm" });
    expect(use?.inputDigest).toBe(inputDigest({ command: "npm test" }));
    const [asText] = only(await entriesOf(started({ arguments: '{"command":"npm test"}' })), "tool_use");
    expect(asText?.inputDigest).toBe(use?.inputDigest);
  });
  test("stay separate if a provider restarts their numbers in every answer", async () => {
    const text = [
      started({ toolName: "bash" }),
      started({ toolName: "view" }),
      completed({ success: true }),
      completed({ success: false }),
      started({ toolName: "task" }),
      line("subagent.started", { toolCallId: "c1", agentName: "explore" }, { agentId: "a1" }),
      completed({ success: true, shellExecution: { exitCode: 3 } }),
      started({ toolName: "edit" }),
      line("abort", { reason: "user_abort" }),
      started({ toolName: "grep" }),
      completed({ success: true }),
    ];
    const entries = await entriesOf(...text);
    const uses = only(entries, "tool_use").map(({ callId, name }) => [name, callId] as const);
    const ids = new Map(uses);
    expect(ids.get("bash")).toBe("c1");
    expect(new Set(ids.values()).size).toBe(5);
    const results = only(entries, "tool_result");
    expect(results.map(({ callId, status, errorType }) => [callId, status, errorType])).toEqual([
      [ids.get("bash"), "success", undefined],
      [ids.get("view"), "error", undefined],
      [ids.get("task"), "success", undefined],
      [ids.get("edit"), "error", "interrupted"],
      [ids.get("grep"), "success", undefined],
    ]);
    expect(only(entries, "subagent").map(({ parentCallId }) => parentCallId)).toEqual([ids.get("task")]);
    expect(await entriesOf(...text)).toEqual(entries);
  });
  test("a server's tool names the server", async () => {
    const [use] = only(await entriesOf(started({ toolName: "shop-stock", mcpServerName: "shop" })), "tool_use");
    expect(use).toMatchObject({ name: "shop-stock", mcpServer: "shop" });
  });
  test.each([
    [{ success: true, shellExecution: { exitCode: 3 } }, "success", { exitCode: 3 }],
    [{ success: true, result: { content: "x\n<shellId: 0 completed with exit code 4>" } }, "success", { exitCode: 4 }],
    [{ success: false, error: { code: "failure", message: "m" } }, "error", {}],
    [{ success: false, error: { code: "timeout" } }, "error", { errorType: "timeout" }],
    [{ success: false, error: { code: "denied" } }, "denied", {}],
    [{ success: false, error: { code: "interrupted" } }, "error", { errorType: "interrupted" }],
    [{ success: false, model: "resumed", error: { code: "interrupted" } }, "unfinished", {}],
    [{ success: false, error: { code: "rejected" } }, "denied", {}],
    [{ success: false }, "error", {}],
    [
      { success: true, toolTelemetry: { metrics: { linesAdded: 4, linesRemoved: 0 } } },
      "success",
      { linesAdded: 4, linesRemoved: 0 },
    ],
  ])("%j is %s", async (data, status, fields) => {
    const [result] = only(await entriesOf(completed(data)), "tool_result");
    expect(result).toMatchObject({ callId: "c1", status, ...fields });
    if (!("errorType" in fields)) expect(result?.errorType).toBeUndefined();
  });
  test("a command that the user ran is no tool call", async () => {
    const entries = await entriesOf(
      line("tool.user_requested", { toolCallId: "c1", toolName: "bash", arguments: {} }),
      started(),
      completed({ success: true, isUserRequested: true }),
    );
    expect(entries).toEqual([]);
  });
  test("a call that the program made for the model is none, in files that record the caller", async () => {
    const known = { model: "gpt-5-mini", turnId: "0" };
    const kinds = async (...lines: string[]) => only(await entriesOf(...lines), "tool_use").length;
    expect(await kinds(usage(1), started())).toBe(0);
    expect(await kinds(usage(1), started(known))).toBe(1);
    expect(await kinds(started())).toBe(1);
    expect(only(await entriesOf(usage(1), started(), completed({ success: true })), "tool_result")).toEqual([]);
  });
  test("a call that starts a subagent has its id", async () => {
    const data = { toolCallId: "c9", agentName: "explore", agentDisplayName: "secret" };
    const [known] = only(await entriesOf(line("subagent.started", data, { agentId: "child" })), "subagent");
    expect(known).toMatchObject({ agentId: "child", agentType: "explore", parentCallId: "c9" });
    const [old] = only(await entriesOf(line("subagent.started", data)), "subagent");
    expect(old).toMatchObject({ agentId: "c9", parentCallId: "c9" });
    expect(JSON.stringify(known)).not.toContain("secret");
  });
});

describe("ends and errors", () => {
  test.each([
    [
      { errorType: "query", statusCode: 400, originatingMessageId: "m" },
      { errorType: "400", httpStatus: 400 },
    ],
    [
      { errorType: "query", statusCode: 400, providerErrorType: "invalid_request_error" },
      { errorType: "invalid_request_error" },
    ],
    [
      { errorType: "rate_limit", errorCode: "user_weekly", statusCode: 429 },
      { errorType: "user_weekly", httpStatus: 429 },
    ],
    [{ errorType: "quota" }, { errorType: "quota" }],
  ])("%j", async (data, expected) => {
    const [error] = only(await entriesOf(line("session.error", { message: "secret", ...data })), "model_error");
    expect(error).toMatchObject({ final: true, ...expected });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
  test("an error outside a request ends no turn", async () => {
    expect(await entriesOf(line("session.error", { errorType: "persistence", message: "disk" }))).toEqual([]);
  });
  test("reads interruptions, completed tasks and continued ones", async () => {
    const entries = await entriesOf(
      line("abort", { reason: "user_initiated" }),
      line("session.task_complete", { success: true }),
      line("session.task_complete", { success: false }),
      line("session.task_complete", { outcome: "continue" }),
    );
    expect(entries.map(({ kind }) => kind)).toEqual(["interruption", "turn_end"]);
  });
  test("an abort interrupts running calls and denies those that need permission", async () => {
    const start = (toolCallId: string) =>
      line("tool.execution_start", {
        toolCallId,
        toolName: "bash",
        turnId: "0",
        model: "m",
        arguments: { command: "make" },
      });
    const requested = (toolCallId: string) => line("permission.requested", { permissionRequest: { toolCallId } });
    const decided = (toolCallId: string, kind: string) =>
      line("permission.completed", { toolCallId, result: { kind } });
    const entries = await entriesOf(
      start("c1"),
      decided("c1", "approved"),
      line("tool.execution_complete", { toolCallId: "c1", success: true }),
      start("c2"),
      decided("c2", "approved"),
      start("c3"),
      start("c4"),
      requested("c4"),
      start("c5"),
      requested("c5"),
      decided("c5", "cancelled"),
      line("abort", { reason: "user_abort" }),
      decided("c4", "cancelled"),
      line("tool.execution_complete", {
        toolCallId: "c2",
        success: false,
        model: "resumed",
        error: { code: "interrupted" },
      }),
    );
    const results = only(entries, "tool_result");
    expect(results.map(({ callId, status, errorType }) => [callId, status, errorType])).toEqual([
      ["c1", "success", undefined],
      ["c2", "error", "interrupted"],
      ["c3", "error", "interrupted"],
      ["c4", "denied", undefined],
      ["c5", "denied", undefined],
    ]);
    expect(new Set(entries.map(({ globalKey }) => globalKey)).size).toBe(entries.length);
  });
  test("records a compaction with its trigger, but not a failed one", async () => {
    const entries = await entriesOf(
      line("session.compaction_start", { trigger: "threshold" }),
      line("session.compaction_complete", { success: true, compactionTokensUsed: { inputTokens: 9 } }),
      line("session.compaction_start", { trigger: "manual" }),
      line("session.compaction_complete", { success: false }),
      line("session.compaction_complete", { success: true }),
    );
    expect(only(entries, "compaction").map(({ trigger }) => trigger)).toEqual(["threshold", undefined]);
    expect(only(entries, "model_call")).toEqual([]);
  });
  test("records each session fact once", async () => {
    const context = { cwd: "/home/dev/acme-shop", branch: "main" };
    const entries = await entriesOf(
      line("session.start", { copilotVersion: "1.0.102", context }),
      line("session.resume", { context }),
      line("session.resume", { context }),
      line("session.context_changed", { ...context, branch: "next" }),
    );
    expect(only(entries, "session")).toMatchObject([
      { agentVersion: "1.0.102", cwd: "/home/dev/acme-shop", gitBranch: "main" },
      { gitBranch: "main" },
      { gitBranch: "next" },
    ]);
  });
});

describe("reading", () => {
  test("in pieces gives the same result as in one pass", async () => {
    const recorded = join(HERE, "subagent", "transcripts", ".copilot", "session-state");
    const [name = ""] = await import("node:fs").then(({ readdirSync }) => readdirSync(recorded));
    const text = await readFile(join(recorded, name, "events.jsonl"), "utf8");
    const whole = (await readFrom(await write(text))).entries;
    expect(whole.length).toBeGreaterThan(15);
    for (const parts of [7, 31]) {
      const path = await write("");
      const entries: TranscriptEntry[] = [];
      let from: Offset = INITIAL_OFFSET;
      const step = Math.ceil(text.length / parts);
      for (let at = 0; at < text.length; at += step) {
        await appendFile(path, text.slice(at, at + step));
        const { entries: more, next } = await readFrom(path, from);
        entries.push(...more);
        from = next;
      }
      expect(entries).toEqual(whole);
    }
  });
  test.each([
    ["blanks between its members", (o: object) => JSON.stringify(o, null, 1).replaceAll(/\n */g, " ")],
    ["its members in reverse order", (o: object) => JSON.stringify(Object.fromEntries(Object.entries(o).reverse()))],
  ])("a line with %s gives the same entries", async (_, rewrite) => {
    const recorded = join(HERE, "subagent", "transcripts", ".copilot", "session-state");
    const [name = ""] = await readdir(recorded);
    const text = await readFile(join(recorded, name, "events.jsonl"), "utf8");
    const lines = text.split("\n").map((one) => (one === "" ? one : rewrite(JSON.parse(one))));
    const whole = await readFrom(await write(text), INITIAL_OFFSET, { content: true });
    const other = await readFrom(await write(lines.join("\n")), INITIAL_OFFSET, { content: true });
    expect(whole.content.length).toBeGreaterThan(10);
    expect(other).toMatchObject({ entries: whole.entries, content: whole.content, unreadable: 0 });
  });
  test("starts over if the file was replaced", async () => {
    const path = await write(user("first") + usage(1));
    const { next } = await readFrom(path);
    await write(user("another") + usage(2) + usage(3));
    expect(only((await readFrom(path, next)).entries, "model_call")).toHaveLength(2);
  });
  test("counts or skips lines that are not Copilot's", async () => {
    const odd = ['not json "type":"user.message"', '{"type":"user.message"', '[{"type":"user.message"}]', "plain"];
    const known = ['{"type":"user.message","data":5}', '{"type":"session.new_thing","data":{}}', "{}"];
    const path = await write([...odd, ...known, ""].join("\n"));
    const { entries, unreadable } = await readFrom(path);
    expect(unreadable).toBe(odd.length);
    expect(entries.map(({ kind }) => kind)).toEqual(["prompt"]);
  });
  test("a session is found by its id or path, never by another session's path", async () => {
    const path = await write(user("hi"));
    expect(await reader.files({ sessionId: ID, home })).toEqual([{ path }]);
    expect(await reader.files({ sessionId: ID, home: "/nowhere", path })).toEqual([{ path }]);
    expect(await reader.files({ sessionId: "child", home, path })).toEqual([]);
    const own = await write(user("hi"), "child");
    expect(await reader.files({ sessionId: "child", home: "/nowhere", path })).toEqual([{ path: own }]);
    for (const sessionId of ["..", "../session-state", "a/b", ""])
      expect(await reader.files({ sessionId, home })).toEqual([]);
  });
  test("locate finds every session", async () => {
    await write(user("hi"), "b");
    await write(user("hi"), "a");
    await mkdir(join(home, ".copilot", "session-state", "empty"), { recursive: true });
    const { sessions } = await locateAll(reader, home);
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(["a", "b"]);
  });
});
