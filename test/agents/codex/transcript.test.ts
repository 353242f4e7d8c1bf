import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/codex/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { limitEntries } from "#store/capture/limit-fields.ts";
import { locateAll } from "../../support/located.ts";
import fc from "../../support/properties.ts";

const CASES = dirname(fileURLToPath(import.meta.url));
const ROOT = "01a1fca1-43d1-7dd2-8a64-c98c7c371885";
const PLAIN = "01a1fca1-4555-71d1-9939-6eaaf30e5d52";
const INHERITING = "01a1fca1-4599-7702-be1d-d48cd42546a2";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-codex-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const recorded = (name: string): void => cpSync(join(CASES, name, "transcripts"), home, { recursive: true });

async function read(file: TranscriptFile, from: Offset = INITIAL_OFFSET) {
  const entries: TranscriptEntry[] = [];
  let [next, unreadable] = [from, 0];
  for await (const batch of reader.read(file, from)) {
    entries.push(...batch.entries);
    next = batch.next;
    unreadable += batch.unreadable;
  }
  // The memo is stored as JSON between two drains
  return { entries, next: JSON.parse(JSON.stringify(next)) as Offset, unreadable };
}

async function readSession(sessionId: string, path?: string): Promise<TranscriptEntry[]> {
  const files = await reader.files({ sessionId, home, ...(path !== undefined && { path }) });
  const all = await Promise.all(files.map((file) => read(file)));
  return merged(all.flatMap(({ entries }) => entries));
}

function merged(entries: readonly TranscriptEntry[]): TranscriptEntry[] {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
}

const kindOf = <K extends TranscriptEntry["kind"]>(entries: readonly TranscriptEntry[], kind: K) =>
  entries.filter((entry): entry is Extract<TranscriptEntry, { kind: K }> => entry.kind === kind);

const located = async (): Promise<string[]> =>
  (await locateAll(reader, home)).sessions.map(({ sessionId }) => sessionId);

const session = (day: string, threadId: string): string =>
  join(home, ".codex", "sessions", day, `rollout-2026-11-21T00-00-00-${threadId}.jsonl`);
const put = (path: string, lines: readonly unknown[]): string => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return path;
};

describe("files", () => {
  test("lists the main thread's file, then each subagent's, found by their first lines", async () => {
    recorded("subagent-fork");
    recorded("fork");
    const files = await reader.files({ sessionId: ROOT, home });
    expect(files.map(({ agentId }) => agentId)).toEqual([undefined, PLAIN, INHERITING]);
    expect(await reader.files({ sessionId: ROOT, home, path: files[0]?.path ?? "" })).toEqual(files);
  });

  test("finds files in the archive and at a notification's hint", async () => {
    recorded("basic");
    const [id] = await located();
    const [file] = await reader.files({ sessionId: id ?? "", home });
    const archive = join(home, ".codex", "archived_sessions");
    const moved = join(archive, file?.path.split("/").at(-1) ?? "");
    mkdirSync(archive);
    cpSync(file?.path ?? "", moved);
    rmSync(file?.path ?? "");
    expect(await reader.files({ sessionId: id ?? "", home, path: file?.path ?? "" })).toEqual([{ path: moved }]);
    expect(await located()).toEqual([id]);
    const hint = join(home, ".codex", "sessions", `rollout-${id}.jsonl`);
    expect(await reader.files({ sessionId: id ?? "", home: "/home/dev/nowhere", path: hint })).toEqual([
      { path: moved },
    ]);
  });

  test("follows parent ids to subagents at any depth, and excludes those of other sessions", async () => {
    const meta = (id: string, parent?: string) => ({
      timestamp: "2026-11-21T10:00:00.000Z",
      type: "session_meta",
      payload: {
        id,
        cli_version: "0.110.0",
        source: parent === undefined ? "exec" : { subagent: { thread_spawn: { parent_thread_id: parent, depth: 1 } } },
        base_instructions: { text: "x".repeat(20_000) },
      },
    });
    const [root, child, grandchild, other, others] = ["00", "01", "02", "03", "04"].map(
      (n) => `01a1fc9e-${n}00-7000-8000-000000000000`,
    ) as [string, string, string, string, string];
    put(session("2026/11/21", child), [meta(child, root)]);
    put(session("2026/11/22", grandchild), [meta(grandchild, child)]);
    put(session("2026/11/21", other), [meta(other)]);
    put(session("2026/11/21", others), [meta(others, other)]);
    put(session("2026/11/21", root), [meta(root)]);
    const files = await reader.files({ sessionId: root, home });
    expect(files.map(({ agentId }) => agentId)).toEqual([undefined, child, grandchild]);
    expect(await located()).toEqual([root, other]);
  });

  test("a subagent's own id gives only its parent, under a separate offset key", async () => {
    recorded("subagent-fork");
    const files = await reader.files({ sessionId: PLAIN, home });
    expect(files).toHaveLength(1);
    const [file] = files;
    expect(file?.key).not.toBe(file?.path);
    const { entries, next } = await read(file as TranscriptFile);
    expect(entries).toMatchObject([{ kind: "session", parentSessionId: ROOT }]);
    expect((await read(file as TranscriptFile, next)).entries).toEqual([]);
  });
});

describe("usage", () => {
  const sums = (entries: readonly TranscriptEntry[], agentId?: string) => {
    const calls = kindOf(entries, "model_call").filter((call) => call.agentId === agentId);
    const sum = (part: "input" | "output" | "cacheRead") => calls.reduce((n, { usage }) => n + (usage?.[part] ?? 0), 0);
    return [calls.length, sum("input"), sum("output"), sum("cacheRead")];
  };

  test("excludes the history that a subagent inherits from its parent", async () => {
    recorded("subagent-fork");
    const entries = await readSession(ROOT);
    expect(sums(entries, INHERITING)).toEqual([1, 3200, 14, 0]);
    expect(sums(entries, PLAIN)).toEqual([1, 5100, 18, 4096]);
    expect(kindOf(entries, "tool_use").every(({ agentId }) => agentId === undefined)).toBe(true);
    expect(kindOf(entries, "interruption")).toEqual([]);
  });

  test.each([
    ["fork", "0.169"],
    ["older-version-0.150-fork", "0.150"],
  ])("of a fork starts at zero: %s", async (name) => {
    recorded(name);
    const expected = JSON.parse(readFileSync(join(CASES, name, "expected.json"), "utf8"));
    for (const { session_id, totals } of expected.sessions) {
      const entries = await readSession(session_id);
      expect(sums(entries)).toEqual([totals.model_calls, totals.input, totals.output, totals.cache_read]);
    }
  });

  test("of an older fork counts only its own lines; copies have the parent's global keys", async () => {
    const [parent, fork] = ["01a1fcba-c40d-7520-9621-db5f3fbd09ff", "01a1fcbb-0000-7000-8000-000000000000"];
    recorded("old-0.110");
    const [main] = await reader.files({ sessionId: parent, home });
    const lines = readFileSync(main?.path ?? "", "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 6, 20, seconds)).toISOString();
    const totals = (input: number, last: number) => ({
      total_token_usage: { input_tokens: input, cached_input_tokens: 0, output_tokens: 300, total_tokens: input + 300 },
      last_token_usage: { input_tokens: last, cached_input_tokens: 0, output_tokens: 66, total_tokens: last + 66 },
    });
    const meta = { ...lines[0], timestamp: at(0), payload: { ...lines[0].payload, id: fork, forked_from_id: parent } };
    const turnId = "01a1fcbb-0001-7000-8000-000000000000";
    put(session("2026/11/21", fork), [
      meta,
      ...lines.map((line) => ({ ...line, timestamp: at(0) })),
      { timestamp: at(1), type: "event_msg", payload: { type: "task_started", turn_id: turnId } },
      { timestamp: at(1), type: "event_msg", payload: { type: "user_message", message: "And then?" } },
      { timestamp: at(2), type: "event_msg", payload: { type: "token_count", info: totals(27_703, 2_800) } },
    ]);
    const entries = await readSession(fork);
    expect(sums(entries)).toEqual([1, 2_800, 66, 0]);
    expect(kindOf(entries, "prompt")).toHaveLength(1);
    expect(kindOf(entries, "tool_use")).toEqual([]);
    expect(kindOf(entries, "session")).toHaveLength(1);
  });

  test("a turn starts with its first message; messages during the turn belong to it", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const event = (second: number, payload: object) => ({
      timestamp: `2026-11-21T10:00:0${second}.000Z`,
      type: "event_msg",
      payload: { turn_id: "01a1fcbb-0001-7000-8000-000000000000", ...payload },
    });
    const message = (text: string) => ({
      type: "item_completed",
      item: { type: "UserMessage", content: [{ type: "text", text }] },
    });
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.169.0" } },
      event(1, { type: "task_started" }),
      event(1, message("Write a changelog")),
      event(4, message("in English")),
      event(6, { type: "task_complete", last_agent_message: "Done." }),
    ]);
    expect(kindOf(await readSession(id), "prompt")).toMatchObject([
      { timeMs: Date.parse("2026-11-21T10:00:01.000Z"), length: "Write a changelog".length },
    ]);
  });

  test("reads all files of a thread that was resumed in another file as one session", async () => {
    const [id, part] = ["01a1fcbb-0000-7000-8000-000000000000", "01a20cbb-0000-7000-8000-000000000000"];
    const lines = (day: string, turnId: string, responseId: string) => [
      {
        timestamp: `${day}T10:00:00.000Z`,
        type: "session_meta",
        payload: { id, session_id: id, cli_version: "0.169.0" },
      },
      {
        timestamp: `${day}T10:00:01.000Z`,
        type: "token_usage_record",
        payload: { turn_id: turnId, response_id: responseId, usage: { input_tokens: 100, output_tokens: 5 } },
      },
    ];
    const first = put(session("2026/11/21", id), lines("2026-11-21", "t1", "resp_1"));
    const name = `rollout-2026-11-24T00-00-00-${id}_${part}.jsonl`;
    const second = put(join(home, ".codex/sessions/2026/11/24", name), lines("2026-11-24", "t2", "resp_2"));

    expect((await locateAll(reader, home)).sessions).toMatchObject([{ sessionId: id, path: second }]);
    expect(await reader.files({ sessionId: id, home })).toEqual([{ path: first }, { path: second }]);
    expect(sums(await readSession(id, second))).toEqual([2, 200, 10, 0]);
  });

  test("handles totals that restart or repeat", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const count = (input: number, output: number, second: number) => ({
      timestamp: `2026-11-21T10:00:0${second}.000Z`,
      type: "event_msg",
      payload: {
        type: "token_count",
        info: { total_token_usage: { input_tokens: input, output_tokens: output, cached_input_tokens: 0 } },
      },
    });
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.98.0" } },
      { timestamp: "2026-11-21T10:00:00.000Z", type: "event_msg", payload: { type: "token_count", info: null } },
      ...[count(100, 5, 1), count(100, 5, 2), count(250, 9, 3), count(40, 2, 4), count(40, 2, 5)],
    ]);
    expect(sums(await readSession(id))).toEqual([3, 290, 11, 0]);
  });

  test("handles a resumed run that restarts its totals and exceeds the previous total in its first answer", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });
    const count = (second: number, total: object, last: object) => ({
      timestamp: `2026-11-21T10:00:0${second}.000Z`,
      type: "event_msg",
      payload: { type: "token_count", info: { total_token_usage: total, last_token_usage: last } },
    });
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.63.0" } },
      count(1, usage(5_003, 8), usage(5_003, 8)),
      count(2, usage(5_003, 8), usage(5_003, 8)),
      count(3, usage(7_505, 16), usage(7_505, 16)),
      count(4, usage(7_505, 16), usage(7_505, 16)),
      count(5, usage(15_110, 33), usage(7_605, 17)),
    ]);
    expect(sums(await readSession(id))).toEqual([3, 20_113, 41, 0]);
  });

  test("handles a version without usage records that resumes a thread with some", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output });
    const line = (type: string, payload: object) => ({ timestamp: "2026-11-21T10:00:01.000Z", type, payload });
    const older = (turn_id: string) => line("event_msg", { type: "task_started", turn_id });
    const turn = (turn_id: string) => line("event_msg", { type: "task_started", turn_id, root_turn_id: turn_id });
    const record = (turn_id: string, n: number, input: number, output: number) =>
      line("token_usage_record", { turn_id, response_id: `resp_${n}`, usage: usage(input, output) });
    const count = (input: number, output: number) =>
      line("event_msg", { type: "token_count", info: { total_token_usage: usage(input, output) } });
    put(session("2026/11/21", id), [
      line("session_meta", { id, cli_version: "0.169.0" }),
      ...[turn("a"), record("a", 1, 100, 5), count(100, 5)],
      ...[older("older"), count(150, 7), count(150, 7), count(190, 8)],
      // Totals come late, several in a row
      ...[turn("c"), record("c", 2, 20, 1), record("c", 3, 30, 1), count(210, 9), count(240, 10)],
      // Interrupted in a tool: the total comes in the next turn
      ...[turn("d"), record("d", 4, 25, 1), turn("e"), count(265, 11), record("e", 5, 15, 1), count(280, 12)],
      // Killed: no total includes it
      ...[turn("f"), record("f", 6, 40, 2), turn("g"), count(280, 12), record("g", 7, 10, 1), count(290, 13)],
      ...[older("older still"), count(299, 14)],
    ]);
    const entries = await readSession(id);
    expect(sums(entries)).toEqual([
      10,
      100 + 50 + 40 + 50 + 25 + 15 + 40 + 10 + 9,
      5 + 2 + 1 + 2 + 1 + 1 + 2 + 1 + 1,
      0,
    ]);
    expect(kindOf(entries, "model_call").filter(({ promptKey }) => /^older/.test(promptKey ?? ""))).toHaveLength(3);
  });

  test.each([
    ["openai", undefined],
    ["azure", "azure.ai.openai"],
    ["amazon-bedrock", "aws.bedrock"],
    ["openrouter", "openrouter"],
    ["ollama", "ollama"],
    ["ollama-chat", "ollama"],
    ["oss", "ollama"],
    ["our-proxy", undefined],
    [undefined, undefined],
  ])("names the provider if it is known: %s", async (modelProvider, provider) => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const usage = { input_tokens: 9, output_tokens: 1 };
    put(session("2026/11/21", id), [
      {
        timestamp: "2026-11-21T10:00:00.000Z",
        type: "session_meta",
        payload: { id, cli_version: "0.169.0", model_provider: modelProvider },
      },
      {
        timestamp: "2026-11-21T10:00:01.000Z",
        type: "token_usage_record",
        payload: { turn_id: "t", response_id: "resp_1", usage },
      },
    ]);
    expect(kindOf(await readSession(id), "model_call").map((call) => call.provider)).toEqual([provider]);
  });

  test("an answer without usage is a model call with unknown usage", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const usage = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 };
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.169.0" } },
      {
        timestamp: "2026-11-21T10:00:01.000Z",
        type: "token_usage_record",
        payload: { turn_id: "t", response_id: "resp_1", usage, thread_token_usage: usage },
      },
    ]);
    const bound = limitEntries(await readSession(id));
    expect(kindOf(bound, "model_call").map((call) => call.usage)).toEqual([undefined]);
  });

  test("counts a response once, identified by its id or by the thread's total", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const record = (responseId: string | null, total: number) => ({
      timestamp: "2026-11-21T10:00:01.000Z",
      type: "token_usage_record",
      payload: {
        thread_id: id,
        turn_id: "t",
        response_id: responseId,
        usage: { input_tokens: 10, output_tokens: 1 },
        thread_token_usage: { input_tokens: total, output_tokens: 1 },
      },
    });
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.155.0" } },
      ...[record("resp_1", 10), record("resp_1", 10), record(null, 20), record(null, 30), record(null, 30)],
      // A provider that gives all its responses the same id
      ...[record("0", 40), record("0", 50), record("0", 50)],
    ]);
    const entries = await readSession(id);
    expect(sums(entries)).toEqual([5, 50, 5, 0]);
    expect(kindOf(entries, "model_call").map(({ responseId }) => responseId)).toEqual([
      "resp_1",
      undefined,
      undefined,
      "0",
      "0",
    ]);
  });
});

describe("tools, turns and subagents", () => {
  test.each([
    ["0.169.0", { type: "item_completed", turn_id: "asked", item: { type: "EnteredReviewMode" } }, "asked"],
    ["0.142.5", { type: "entered_review_mode" }, undefined],
  ])("a review, its end and its reviewer are one turn (%s)", async (version, entered, root) => {
    const [id, reviewer] = ["01a1fcbb-0000-7000-8000-000000000000", "01a1fcbb-0001-7000-8000-000000000000"];
    const turnId = "01a1fcbb-0002-7000-8000-000000000000";
    const at = (second: number) => `2026-11-21T10:00:0${second}.000Z`;
    const meta = (rest: object) => ({
      timestamp: at(0),
      type: "session_meta",
      payload: { cli_version: version, ...rest },
    });
    const event = (second: number, payload: object) => ({ timestamp: at(second), type: "event_msg", payload });
    const begun = { type: "task_started", turn_id: turnId, ...(root !== undefined && { root_turn_id: root }) };
    put(session("2026/11/21", id), [
      meta({ id, session_id: id, source: "exec" }),
      event(1, entered),
      event(1, begun),
      event(2, { type: "user_message", message: "Review the changes" }),
      event(6, { type: "task_complete", turn_id: "asked", last_agent_message: "Fine" }),
    ]);
    put(session("2026/11/21", reviewer), [
      meta({ id: reviewer, session_id: id, parent_thread_id: id, source: { subagent: "review" } }),
      event(1, begun),
      {
        timestamp: at(3),
        type: "token_usage_record",
        payload: { turn_id: turnId, response_id: "resp_1", usage: { input_tokens: 100, output_tokens: 5 } },
      },
      event(5, { type: "task_complete", turn_id: turnId, last_agent_message: "Fine" }),
    ]);
    const entries = await readSession(id);
    const [prompt] = kindOf(entries, "prompt");
    expect(prompt).toMatchObject({ promptKey: turnId, length: 18 });
    expect(kindOf(entries, "turn_end").filter(({ agentId }) => agentId === undefined)).toMatchObject([
      { promptKey: turnId, timeMs: Date.parse(at(6)) },
    ]);
    if (root !== undefined)
      expect(kindOf(entries, "model_call")).toMatchObject([{ promptKey: turnId, agentId: reviewer }]);
  });

  test.each([
    ["0.145.0", 5],
    ["0.157.1", undefined],
  ])("inherited turns of a subagent are not repeated, even without a heading line (%s)", async (version, long) => {
    const [id, child] = ["01a1fcbb-0000-7000-8000-000000000000", "01a1fcbb-0009-7000-8000-000000000000"];
    const [older, old, own] = [1, 2, 10].map(
      (n) => `01a1fcbb-${n.toString(16).padStart(4, "0")}-7000-8000-000000000000`,
    );
    let ms = 0;
    const line = (type: string, payload: object) => {
      // Lines of a long history have increasing times
      ms += (long ?? 0) * 100;
      return { timestamp: new Date(Date.UTC(2026, 10, 21, 10) + ms).toISOString(), type, payload };
    };
    const event = (type: string, payload: object = {}) => line("event_msg", { type, ...payload });
    const count = (input: number, last: number) =>
      event("token_count", {
        info: {
          total_token_usage: { input_tokens: input, output_tokens: 50 },
          last_token_usage: { input_tokens: last, output_tokens: 5 },
        },
      });
    const call = [
      line("response_item", { type: "function_call", name: "shell", call_id: "call_1", arguments: "{}" }),
      line("response_item", { type: "function_call_output", call_id: "call_1", output: "plum" }),
    ];
    const path = put(session("2026/11/21", child), [
      line("session_meta", {
        id: child,
        session_id: id,
        parent_thread_id: id,
        cli_version: version,
        source: { subagent: { thread_spawn: { parent_thread_id: id, depth: 1 } } },
      }),
      line("response_item", { type: "message", role: "user", content: [] }),
      ...(long === undefined ? [] : [count(90_000, 900), ...call]),
      event("task_complete", { turn_id: older }),
      event("task_started", { turn_id: old }),
      ...(long === undefined ? [] : [count(91_000, 1_000)]),
      event("turn_aborted", { turn_id: old, reason: "interrupted" }),
      event("task_started", { turn_id: own }),
      count(long === undefined ? 2_000 : 93_000, 2_000),
      event("task_complete", { turn_id: own }),
    ]);
    const { entries } = await read({ path, agentId: child });
    expect(entries.map(({ kind }) => kind)).toEqual(["subagent", "model_call", "turn_end"]);
    expect(kindOf(entries, "turn_end").map(({ key }) => key)).toEqual([`turn_end:${own}`]);
    expect(kindOf(entries, "model_call")[0]?.usage?.input).toBe(2_000);
  });

  test.each([
    ["usage_limit_exceeded", ["usage_limit_exceeded"]],
    [{ http_connection_failed: { http_status_code: 502 } }, ["http_connection_failed"]],
    [{ active_turn_not_steerable: { turn_kind: "review" } }, []],
    ["thread_rollback_failed", []],
  ])("an error fails its turn, unless the turn continues: %j", async (info, expected) => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const event = (payload: object) => ({ timestamp: "2026-11-21T10:00:01.000Z", type: "event_msg", payload });
    put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id, cli_version: "0.120.0" } },
      event({ type: "task_started", turn_id: "01a1fcbb-0001-7000-8000-000000000000" }),
      event({ type: "error", message: "No plums today", codex_error_info: info }),
    ]);
    expect(kindOf(await readSession(id), "model_error").map(({ errorType }) => errorType)).toEqual(expected);
  });

  test("a call's status comes from items up to its result; later items are ignored", async () => {
    recorded("parallel-tools");
    const [id] = await located();
    const entries = await readSession(id ?? "");
    const result = (callId: string) => kindOf(entries, "tool_result").find((entry) => entry.callId === callId);
    expect(result("call_par_2")).toMatchObject({ status: "error", exitCode: 1 });
    expect(result("call_par_4")).toMatchObject({ status: "success", linesAdded: 1, linesRemoved: 0 });
    expect(result("call_par_1")?.durationMs).toBeGreaterThan(500);
    const [file] = await reader.files({ sessionId: id ?? "", home });
    const late = {
      timestamp: "2026-11-21T23:00:00.000Z",
      type: "event_msg",
      payload: {
        type: "item_completed",
        item: { type: "CommandExecution", id: "call_par_1", status: "failed", exit_code: 137 },
      },
    };
    appendFileSync(file?.path ?? "", `${JSON.stringify(late)}\n`);
    const again = kindOf(await readSession(id ?? ""), "tool_result").find(({ callId }) => callId === "call_par_1");
    expect(again).toMatchObject({ status: "success", exitCode: 0 });
  });

  test.each([
    ["comments and operators that look like patch lines", "", { linesAdded: 2, linesRemoved: 3 }],
    ["a patch with the names of its files", "--- a/plums.sql\n+++ b/plums.sql\n", { linesAdded: 2, linesRemoved: 3 }],
  ])("counts every line of an edit, with any first characters: %s", async (_, head, counts) => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds)).toISOString();
    const diff = `${head}@@ -1,4 +1,3 @@\n create table plums;\n--- unripe, see #12\n--- and its index\n-drop index a;\n+++ i;\n+select 1;\n`;
    const item = { type: "FileChange", id: "call_0", status: "completed" };
    const changes = { "/home/dev/plums.sql": { type: "update", unified_diff: diff } };
    const path = put(session("2026/11/21", id), [
      { timestamp: at(0), type: "session_meta", payload: { id } },
      { timestamp: at(1), type: "response_item", payload: { type: "custom_tool_call", call_id: "call_0", name: "p" } },
      {
        timestamp: at(2),
        type: "event_msg",
        payload: { type: "item_completed", item: { ...item, changes } },
      },
    ]);
    const file = { path: "/home/dev/plums.sql", operation: "update", startLine: 2, endLine: 3, added: 2, removed: 3 };
    expect(kindOf((await read({ path })).entries, "tool_result")).toMatchObject([{ ...counts, files: [file] }]);
  });

  test("subagents belong to the calls that started them, at any depth", async () => {
    recorded("nested-subagents");
    const [root] = await located();
    const entries = await readSession(root ?? "");
    const uses = kindOf(entries, "tool_use");
    const helpers = kindOf(entries, "subagent");
    expect(helpers).toHaveLength(3);
    for (const helper of helpers) {
      const call = uses.find(({ callId }) => callId === helper.parentCallId);
      expect(call).toMatchObject({ name: "collaboration.spawn_agent" });
      expect(call?.agentId).toBe(helper.parentAgentId);
      expect(helper.agentType).toBe("default");
    }
    expect(helpers.filter(({ parentAgentId }) => parentAgentId !== undefined)).toHaveLength(1);
    // A subagent's calls belong to the main thread's turn that started it
    const turns = new Set(kindOf(entries, "prompt").map(({ promptKey }) => promptKey));
    expect(turns.size).toBe(2);
    for (const call of kindOf(entries, "model_call")) expect(turns).toContain(call.promptKey);
  });

  test("a turn without an answer failed, in versions that record no failures", async () => {
    recorded("older-version-0.131-api-error");
    const [id] = await located();
    const entries = await readSession(id ?? "");
    expect(kindOf(entries, "model_error")).toMatchObject([{ errorType: "_OTHER", final: true }]);
    recorded("older-version-0.131");
    const others = await Promise.all((await located()).filter((one) => one !== id).map((one) => readSession(one)));
    expect(kindOf(others.flat(), "model_error")).toEqual([]);
    expect(kindOf(others.flat(), "turn_end")).toHaveLength(3);
  });

  test("a model call starts at the last input and ends with its answer", async () => {
    recorded("basic");
    const [id] = await located();
    for (const call of kindOf(await readSession(id ?? ""), "model_call")) {
      expect(call.startMs).toBeLessThan(call.endMs);
      expect(call.endMs - (call.startMs ?? 0)).toBeLessThan(1_000);
    }
  });
  test("call ids whose numbers restart in every answer stay separate", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, seconds)).toISOString();
    const item = (seconds: number, payload: object) => ({ timestamp: at(seconds), type: "response_item", payload });
    const call = (seconds: number, name: string) =>
      item(seconds, { type: "function_call", name, arguments: "{}", call_id: "call_0" });
    const output = (seconds: number, text: string) =>
      item(seconds, { type: "function_call_output", call_id: "call_0", output: text });
    const path = put(session("2026/11/21", id), [
      { timestamp: at(0), type: "session_meta", payload: { id } },
      call(1, "exec_command"),
      output(2, "Wall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n"),
      call(3, "spawn_agent"),
      {
        timestamp: at(4),
        type: "event_msg",
        payload: {
          type: "item_completed",
          item: { type: "SubAgentActivity", id: "call_0", kind: "started", agent_thread_id: PLAIN },
        },
      },
      output(5, "done"),
      call(6, "exec_command"),
      {
        timestamp: at(7),
        type: "event_msg",
        payload: {
          type: "item_completed",
          item: { type: "CommandExecution", id: "call_0", status: "failed", exit_code: 7 },
        },
      },
    ]);
    const entries = merged((await read({ path })).entries);
    const second = `call_0#${Date.parse(at(3))}`;
    const third = `call_0#${Date.parse(at(6))}`;
    expect(kindOf(entries, "tool_use").map(({ callId, name }) => [callId, name])).toEqual([
      ["call_0", "exec_command"],
      [second, "spawn_agent"],
      [third, "exec_command"],
    ]);
    expect(kindOf(entries, "tool_result").map(({ callId, status, exitCode }) => [callId, status, exitCode])).toEqual([
      ["call_0", "error", 3],
      [second, "success", undefined],
      [third, "error", 7],
    ]);
    expect(kindOf(entries, "subagent")).toMatchObject([{ agentId: PLAIN, parentCallId: second }]);
  });
});

describe("reading in parts", () => {
  const names = readdirSync(CASES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && readdirSync(join(CASES, entry.name)).includes("transcripts"))
    .map(({ name }) => name);

  test.each(names)("%s: gives the same entries wherever reading stops", async (name) => {
    recorded(name);
    for (const id of await located()) {
      for (const file of await reader.files({ sessionId: id, home })) {
        const bytes = readFileSync(file.path);
        const whole = merged((await read(file)).entries);
        await fc.assert(
          fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 4 }), async (cuts) => {
            const part = `${file.path}.part`;
            const entries: TranscriptEntry[] = [];
            let offset: Offset = INITIAL_OFFSET;
            for (const end of [...cuts.sort((a, b) => a - b), bytes.length]) {
              writeFileSync(part, bytes.subarray(0, end));
              const { entries: more, next } = await read({ ...file, path: part }, offset);
              entries.push(...more);
              offset = next;
            }
            expect(merged(entries)).toEqual(whole);
          }),
          { numRuns: 6 },
        );
      }
    }
  });

  test("counts malformed lines, but not unknown kinds", async () => {
    const id = "01a1fcbb-0000-7000-8000-000000000000";
    const path = put(session("2026/11/21", id), [
      { timestamp: "2026-11-21T10:00:00.000Z", type: "session_meta", payload: { id } },
      { timestamp: "2026-11-21T10:00:00.000Z", type: "from_the_future", payload: { a: 1 } },
      { type: "response_item", payload: null },
    ]);
    appendFileSync(path, 'no JSON\n[1]\n{"torn":');
    const { entries, unreadable } = await read({ path });
    expect(entries.map(({ kind }) => kind)).toEqual(["session"]);
    expect(unreadable).toBe(2);
  });

  test("entries have no content", async () => {
    recorded("unicode-large");
    const [id] = await located();
    const text = JSON.stringify(await readSession(id ?? ""));
    expect(text.length).toBeLessThan(10_000);
    expect(text).not.toMatch(/cat |\*\*\* Begin Patch|export const/);
  });
});
