import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import cline from "#agents/cline/transcript.ts";
import { elementsOf } from "#agents/shared/transcript/elements.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { locateAll } from "../../support/located.ts";

const reader: TranscriptReader = cline;
const here = fileURLToPath(new URL(".", import.meta.url));
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-cline-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const ID = "1795241132829_gyok9";
const folder = (id = ID) => join(home, ".cline", "data", "sessions", id);

async function entriesOf(sessionId: string): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for (const file of await reader.files({ sessionId, home })) {
    for await (const batch of reader.read(file, INITIAL_OFFSET)) {
      expect(batch.next).toEqual(INITIAL_OFFSET);
      entries.push(...batch.entries);
    }
  }
  for (const entry of entries) expect(TranscriptEntry.safeParse(entry).error).toBeUndefined();
  return entries;
}

/** Writes the messages of one session, and other files of its folder by name. */
function write(messages: readonly unknown[], others: Readonly<Record<string, unknown>> = {}): void {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), `${ID}.messages.json`), JSON.stringify({ version: 1, messages }, null, 2));
  for (const [name, value] of Object.entries(others)) writeFileSync(join(folder(), name), JSON.stringify(value));
}

const user = (text: string, ts: number, more: object = {}) => ({
  id: `u${ts}`,
  role: "user",
  content: [{ type: "text", text }],
  ts,
  ...more,
});
const use = (id: string, name = "read_files", input: object = {}) => ({ type: "tool_use", id, name, input });
const answer = (id: string, ts: number, content: readonly unknown[], more: object = {}) => ({
  id,
  role: "assistant",
  content,
  ts,
  modelInfo: { id: "m-1", provider: "p" },
  metrics: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 1 },
  ...more,
});
const result = (callId: string, ts: number, content: unknown, more: object = {}) => ({
  id: `r${ts}`,
  role: "user",
  ts,
  content: [{ type: "tool_result", tool_use_id: callId, content, ...more }],
});

describe("recorded sessions", () => {
  it("are found by import, and by their id", async () => {
    cpSync(join(here, "subagent", "transcripts"), home, { recursive: true });
    const found: string[] = [];
    for (const { sessionId, path } of (await locateAll(reader, home)).sessions) {
      found.push(sessionId);
      expect(await reader.files({ sessionId, path, home: "/nowhere" })).toHaveLength(2);
    }
    expect(found).toEqual(["1795241168254_vb0a8"]);
    const files = await reader.files({ sessionId: "1795241168254_vb0a8", home });
    expect(files.map((file) => file.agentId)).toEqual([undefined, "agent_1795241169125_why7qs"]);
    expect(files[0]?.watch).toHaveLength(2);
  });

  it("link a subagent to the call that started it", async () => {
    cpSync(join(here, "subagent", "transcripts"), home, { recursive: true });
    const entries = await entriesOf("1795241168254_vb0a8");
    expect(entries.filter((entry) => entry.kind === "subagent")).toMatchObject([
      { agentId: "agent_1795241169125_why7qs", parentCallId: "call_0004AcmeShop" },
    ]);
    const calls = entries.filter((entry) => entry.kind === "model_call");
    expect(calls.filter((call) => call.agentId !== undefined)).toHaveLength(2);
    expect(calls.reduce((sum, call) => sum + (call.usage?.input ?? 0), 0)).toBe(31_900);
    expect(entries.filter((entry) => entry.kind === "prompt")).toHaveLength(1);
  });

  it("have session facts, and prompts with the typed length", async () => {
    cpSync(join(here, "multi-turn", "transcripts"), home, { recursive: true });
    const entries = await entriesOf("1795241390774_18ghs");
    expect(entries[0]).toMatchObject({ kind: "session", agentVersion: "3.0.65", gitBranch: "main" });
    const prompts = entries.filter((entry) => entry.kind === "prompt");
    expect(prompts.map((prompt) => prompt.length)).toEqual([13, 18, 7]);
    const calls = entries.filter((entry) => entry.kind === "model_call");
    expect(calls.map((call) => call.asksForTools)).toEqual([true, undefined, true, undefined, undefined]);
    expect(new Set(calls.map((call) => call.promptKey)).size).toBe(3);
  });

  it("give entries without content", async () => {
    for (const name of ["basic", "subagent", "tool-errors", "unicode-large", "api-error"]) {
      cpSync(join(here, name, "transcripts"), home, { recursive: true });
    }
    for (const { sessionId } of (await locateAll(reader, home)).sessions) {
      // Names of edited files are facts
      const entries = JSON.stringify(await entriesOf(sessionId), (name, value) =>
        name === "files" ? undefined : value,
      );
      expect(entries).not.toMatch(/README|price\.js|Preis|shop__|echo hi|malformed|PRICE-FINDER|Where is/);
    }
  });
});

describe("messages", () => {
  it("outside the conversation open no turn and are no model calls", async () => {
    write([
      user('<user_input mode="act">do it</user_input>', 1),
      user("a reminder", 2, { metadata: { kind: "recovery_notice" } }),
      user("a hook's context", 3, { metadata: { displayRole: "system" } }),
      answer("a1", 4, [{ type: "text", text: "." }], { metadata: { displayRole: "status", displayOnly: true } }),
      answer("a2", 5, [{ type: "text", text: "." }]),
    ]);
    const entries = await entriesOf(ID);
    expect(entries.map((entry) => entry.kind)).toEqual(["prompt", "model_call"]);
    expect(entries[1]).toMatchObject({ key: "message:a2", startMs: 1, promptKey: "prompt:u1", complete: true });
    expect(entries[0]).toMatchObject({ length: 5 });
  });

  it("that the program writes in the user's name continue the prompt; user messages sent in between are prompts", async () => {
    const ofRun = { metadata: { userRunSpan: 0 } };
    write([
      user('<user_input mode="act">do it</user_input>', 1),
      answer("a1", 2, [{ type: "text", text: "half" }]),
      user("Your previous response was cut off because it reached the limit.", 3, ofRun),
      answer("a2", 4, [{ type: "text", text: "whole" }]),
      user('<user_input mode="act">but faster</user_input>', 5, ofRun),
      answer("a3", 6, [{ type: "text", text: "fast" }]),
    ]);
    const entries = await entriesOf(ID);
    expect(entries.filter((entry) => entry.kind === "prompt")).toMatchObject([{ length: 5 }, { length: 10 }]);
    expect(entries.filter((entry) => entry.kind === "model_call")).toMatchObject([
      { key: "message:a1", promptKey: "prompt:u1" },
      { key: "message:a2", promptKey: "prompt:u1", startMs: 3 },
      { key: "message:a3", promptKey: "prompt:u5" },
    ]);
  });

  it("without metrics end the turn of a completed run, but not of a later one", async () => {
    const at = (ms: number) => new Date(ms).toISOString();
    const run = (status: string) => ({ [`${ID}.json`]: { status, started_at: at(1), ended_at: at(5) } });
    const half = answer("a1", 4, [{ type: "text", text: "." }], { metrics: undefined });
    const ends = async () => (await entriesOf(ID)).filter(({ kind }) => kind === "turn_end");
    write([user("x", 2), half], run("completed"));
    expect(await ends()).toMatchObject([{ promptKey: "prompt:u2", timeMs: 4 }]);
    write([user("x", 2), half, user("y", 6)], run("completed"));
    expect(await ends()).toEqual([]);
    write([user("x", 2), half], run("failed"));
    expect(await ends()).toEqual([]);
  });

  it("removed by a compaction still count, and the compaction is recorded", async () => {
    const compacted = {
      version: 1,
      updated_at: "2026-11-22T19:57:08.383Z",
      conversation_id: ID,
      source_message_count: 2,
      source_prefix_hash: "sha256:d",
      source_last_message_key: "id:a1",
      messages: [user("Context summary: secret", 9, { metadata: { kind: "compaction_summary" } })],
    };
    write([user("x", 1), answer("a1", 2, [])], { [`${ID}.compaction.json`]: compacted });
    const entries = await entriesOf(ID);
    expect(entries.filter(({ kind }) => kind === "compaction")).toEqual([
      {
        kind: "compaction",
        key: "compaction:id:a1",
        globalKey: "compaction:id:a1",
        timeMs: Date.parse("2026-11-22T19:57:08.383Z"),
      },
    ]);
    expect(entries.filter(({ kind }) => kind === "model_call")).toHaveLength(1);
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  it("name the provider, which the model's price depends on", async () => {
    const by = (provider?: string) => ({ modelInfo: { id: "anthropic/claude-sonnet-4.5", provider } });
    const given = ["openrouter", "openai-native", "bedrock", "my-gateway", undefined];
    write([user("x", 1), ...given.map((one, n) => answer(`a${n}`, n + 2, [{ type: "text", text: "." }], by(one)))]);
    const calls = (await entriesOf(ID)).flatMap((entry) => (entry.kind === "model_call" ? [entry.provider] : []));
    expect(calls).toEqual(["openrouter", "openai", "aws.bedrock", "my-gateway", undefined]);
  });

  it("keep calls separate if the provider restarts their numbers in every answer", async () => {
    write([
      user("x", 1),
      answer("a1", 2, [use("call_0")]),
      result("call_0", 3, "no", { is_error: true }),
      answer("a2", 4, [use("call_0", "run_commands")]),
      result("call_0", 5, [{ query: "echo 3", result: "3", success: true }]),
      answer("a3", 6, [use("call_0", "run_commands"), use("call_1")]),
      result("call_1", 7, [{ query: "README.md", result: "", success: true }]),
    ]);
    const entries = await entriesOf(ID);
    expect(entries.flatMap((entry) => (entry.kind === "tool_use" ? [[entry.callId, entry.name]] : []))).toEqual([
      ["call_0", "read_files"],
      ["call_0#a2", "run_commands"],
      ["call_0#a3", "run_commands"],
      ["call_1", "read_files"],
    ]);
    expect(entries.flatMap((entry) => (entry.kind === "tool_result" ? [[entry.callId, entry.status]] : []))).toEqual([
      ["call_0", "error"],
      ["call_0#a2", "success"],
      ["call_1", "success"],
    ]);
  });

  it("that failed are the turn's error; without metrics they are incomplete", async () => {
    write([
      user("x", 1),
      answer("a1", 2, [{ type: "text", text: "half" }], { metrics: undefined }),
      answer("a2", 3, [], { metrics: undefined }),
      answer("error_1", 4, [{ type: "text", text: "secret" }], { metrics: undefined }),
    ]);
    const entries = await entriesOf(ID);
    expect(entries.slice(1)).toMatchObject([
      { kind: "model_call", complete: false },
      { kind: "model_error", errorType: "_OTHER", final: true },
    ]);
    expect(entries[1]).not.toHaveProperty("usage");
  });

  it("keep their keys when a resumed session gives results new ids", async () => {
    const first = [user("x", 1), answer("a1", 2, [use("c1")])];
    write([...first, result("c1", 3, "ok")]);
    const before = await entriesOf(ID);
    write([...first, { ...result("c1", 3, "ok"), id: "r3_tool_c1" }, answer("a2", 5, [])]);
    const after = await entriesOf(ID);
    expect(after.slice(0, before.length)).toEqual(before);
  });

  it("name tools that ran at the provider", async () => {
    const metadata = {
      modelToolActivities: [
        { toolCallId: "ws1", toolName: "web_search", execution: "provider", output: [] },
        { toolCallId: "ws2", toolName: "web_search", execution: "provider", isError: true, output: "no" },
        { toolCallId: "ws3", toolName: "web_search", execution: "provider" },
      ],
    };
    write([user("x", 1), answer("a1", 2, [{ type: "text", text: "." }], { metadata })]);
    const entries = await entriesOf(ID);
    const results = entries.filter((entry) => entry.kind === "tool_result");
    expect(results.map(({ callId, status }) => [callId, status])).toEqual([
      ["ws1", "success"],
      ["ws2", "error"],
    ]);
    expect(entries.filter((entry) => entry.kind === "tool_use")).toHaveLength(3);
    expect(entries.find((entry) => entry.kind === "model_call")).not.toHaveProperty("asksForTools");
  });

  it.each([
    ["cancelled", [], "denied"],
    ["cancelled", [result("c1", 3, "ok")], "success"],
    ["running", [], undefined],
    ["failed", [], undefined],
  ])("of a session that is %s give the first call the status %s", async (status, results, expected) => {
    write([user("x", 1), answer("a1", 2, [use("c1"), use("c2")]), ...results], { [`${ID}.json`]: { status } });
    const found = (await entriesOf(ID)).filter((entry) => entry.kind === "tool_result");
    expect(found.map((entry) => entry.status)).toEqual(expected === undefined ? [] : [expected]);
  });

  it("link equal subagent tasks to their calls in time order", async () => {
    const spawn = (id: string) => use(id, "spawn_agent", { task: "look" });
    const child = (ts: number) => ({ messages: [user("look", ts), answer(`s${ts}`, ts + 1, [])] });
    write([user("x", 1), answer("a1", 2, [spawn("c1"), spawn("c2")]), answer("a2", 50, [spawn("c3")])], {
      "agent_b.messages.json": child(20),
      "agent_a.messages.json": child(30),
      "agent_c.messages.json": child(60),
      "agent_d.messages.json": { messages: [user("something else", 9)] },
      "mate__t1.messages.json": { messages: [user("team work", 9)] },
    });
    const subagents = (await entriesOf(ID)).filter((entry) => entry.kind === "subagent");
    expect(Object.fromEntries(subagents.map(({ agentId, parentCallId }) => [agentId, parentCallId]))).toEqual({
      agent_a: "c2",
      agent_b: "c1",
      agent_c: "c3",
      agent_d: undefined,
      mate: undefined,
    });
  });
});

describe("a file that is being written", () => {
  const text = () =>
    readFileSync(join(here, "basic", "transcripts", ".cline", "data", "sessions", ID, `${ID}.messages.json`));

  it("gives exactly the complete messages at any length", async () => {
    mkdirSync(folder(), { recursive: true });
    const path = join(folder(), `${ID}.messages.json`);
    writeFileSync(path, text());
    const whole = await entriesOf(ID);
    expect(whole).toHaveLength(8);
    for (let length = 0; length < text().length; length += 97) {
      writeFileSync(path, text().subarray(0, length));
      const part = await entriesOf(ID);
      expect(part).toEqual(whole.slice(0, part.length));
    }
  });

  it("gives nothing if it is missing or has another shape", async () => {
    mkdirSync(folder(), { recursive: true });
    const path = join(folder(), `${ID}.messages.json`);
    for (const content of [
      "",
      "[]",
      "{}",
      "null",
      '{"messages": {}}',
      '{"x": {"messages": [{"role": "user"}]}}',
      "{{{]",
    ]) {
      writeFileSync(path, content);
      expect((await entriesOf(ID)).length, content).toBe(0);
    }
    writeFileSync(path, '{"messages": [1, "two", [{"role": "user"}], {"role": "tool"}, {"role": "user", "ts": 5}]}');
    expect((await entriesOf(ID)).map((entry) => entry.key)).toEqual(["prompt:user:5"]);
  });

  it("is only looked up in its own folder", async () => {
    for (const sessionId of ["../../../etc/passwd", "..", "", ".hidden", "a/b", "a\\b"]) {
      expect(await reader.files({ sessionId, home })).toEqual([]);
    }
    mkdirSync(join(folder(), `${ID}.messages.json`), { recursive: true });
    expect(await reader.files({ sessionId: ID, home })).toEqual([]);
  });
});

describe("elements", () => {
  const of = async (content: string, maxBytes?: number) => {
    const path = join(home, "x.json");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const found: (string | undefined)[] = [];
    for await (const element of elementsOf(path, "messages", maxBytes === undefined ? {} : { maxBytes }))
      found.push(element?.toString("utf8"));
    return found;
  };

  it("are split correctly, whatever their strings contain", async () => {
    const messages = [{ a: '"}]{[\\' }, { b: [{ c: "ü🛒\u2028" }, []] }, { "messages\\": ["{"] }];
    for (const spaces of [0, 2, "\t"]) {
      const value = { messages_: "[", list: [{ messages: [{ no: 1 }] }], messages, after: [{ no: 2 }] };
      const found = await of(JSON.stringify(value, null, spaces));
      expect(found.map((element) => JSON.parse(element ?? ""))).toEqual(messages);
    }
  });

  it("that are too long are skipped", async () => {
    const found = await of(JSON.stringify({ messages: [{ a: "x".repeat(50) }, { b: 1 }] }), 40);
    expect(found).toEqual([undefined, '{"b":1}']);
  });

  it("may span several read chunks", async () => {
    const messages = Array.from({ length: 40 }, (_, i) => ({ i, text: "é".repeat(9_000 + i) }));
    const found = await of(JSON.stringify({ messages }));
    expect(found.map((element) => JSON.parse(element ?? ""))).toEqual(messages);
  });
});
