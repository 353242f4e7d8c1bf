// Droid keeps one running token sum per session, beside its transcript.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { adapter } from "#agents/droid/adapter.ts";
import reader from "#agents/droid/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { removeFolder } from "../../support/remove.ts";

const { toEvents } = adapter;

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-droid-"));
});
afterEach(() => removeFolder(home));

const ID = "def43434-3679-4705-b679-6a49d0998c44";
const folder = (): string => join(home, ".factory", "sessions", "-p");
const time = (second: number): string =>
  new Date(Date.parse("2026-11-25T05:00:00.000Z") + second * 1_000).toISOString();
const START = { type: "session_start", id: ID, cwd: "/p" };
const message = (id: string, second: number, more: object) => ({
  type: "message",
  id,
  timestamp: time(second),
  message: more,
});
const prompt = (id: string, second: number) =>
  message(id, second, { role: "user", content: [{ type: "text", text: "Go" }] });
const answer = (id: string, second: number, modelId = "custom:acme-0") =>
  message(id, second, { role: "assistant", content: [{ type: "text", text: "Done" }], modelId });

function write(lines: readonly object[], tokenUsage?: object, id = ID): void {
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  if (tokenUsage !== undefined) {
    writeFileSync(
      join(folder(), `${id}.settings.json`),
      JSON.stringify({ tokenUsage, inclusiveTokenUsage: tokenUsage }),
    );
  }
}
const usage = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: cacheRead,
  cacheCreationTokens: cacheWrite,
  thinkingTokens: 8,
});

async function readFrom(from: Offset = INITIAL_OFFSET, id = ID) {
  const entries: TranscriptEntry[] = [];
  let next = from;
  for (const file of await reader.files({ sessionId: id, home })) {
    for await (const batch of reader.read(file, from)) {
      entries.push(...batch.entries);
      next = batch.next;
    }
  }
  return { entries, next };
}
const callsIn = (entries: readonly TranscriptEntry[]) =>
  entries.filter((entry): entry is EntryOf<"model_call"> => entry.kind === "model_call");

test("input includes the cache; the estimate of thinking tokens is not used", async () => {
  write([START, prompt("p", 1), answer("a", 2)], usage(100, 20, 30, 7));
  const [call, ...others] = callsIn((await readFrom()).entries);
  expect(others).toEqual([]);
  expect(call).toMatchObject({ covers: "session", complete: true, promptKey: "p" });
  expect(call?.usage).toEqual({ input: 137, output: 20, cacheRead: 30, cacheWrite: 7 });
});

test("a sum that grew without a new line is read again, under the same key", async () => {
  write([START, prompt("p", 1), answer("a", 2)], usage(100, 20));
  const before = await readFrom();
  write([START, prompt("p", 1), answer("a", 2)], usage(300, 40));
  const after = await readFrom(before.next);
  expect(after.entries.map(({ kind }) => kind)).toEqual(["model_call"]);
  expect(callsIn(after.entries)[0]).toMatchObject({ key: callsIn(before.entries)[0]?.key, usage: { input: 300 } });
});

test("a session without an answer has no usage, and one with zeros has an unknown one", async () => {
  write([START, prompt("p", 1)], usage(0, 0));
  expect(callsIn((await readFrom()).entries)).toEqual([]);
  write([START, prompt("p", 1), answer("a", 2)], usage(0, 0));
  const [call] = callsIn((await readFrom()).entries);
  expect(call).toMatchObject({ complete: false });
  expect(call?.usage).toBeUndefined();
});

test("the user's own models have their names from the settings; several are named together", async () => {
  const models = [{ id: "custom:acme-0", model: "acme-coder-1", apiKey: "not read" }];
  write([START, prompt("p", 1), answer("a", 2), answer("b", 3, "other-model")], usage(100, 20));
  writeFileSync(join(home, ".factory", "settings.json"), JSON.stringify({ customModels: models }));
  expect(callsIn((await readFrom()).entries)[0]?.model).toBe("acme-coder-1+other-model");
});

test("a fork's copies are left out, also the turn's end that follows the last copied message", async () => {
  const copies = [prompt("p", 1), answer("a", 2), { type: "agent_turn_outcome", turnId: "p", reason: "completed" }];
  const start = { ...START, parent: "origin", forkedAtMessageId: "a" };
  const own = [prompt("q", 10), answer("b", 11), { type: "agent_turn_outcome", turnId: "q", reason: "completed" }];
  write([start, ...copies, ...own], usage(50, 5));
  const { entries } = await readFrom();
  expect(entries.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
    `session session:${ID}`,
    "prompt prompt:q",
    "turn_end turn_end:q",
    `model_call sum:${ID}`,
  ]);
});

test("a turn that the provider refused failed, with its status", async () => {
  const shown = [{ type: "text", text: "BYOK Error: 400 The request was malformed" }];
  const lines = [
    prompt("p", 1),
    answer("a", 2),
    message("e", 3, { role: "user", visibility: "user_only", content: shown }),
    { type: "agent_turn_outcome", turnId: "p", reason: "model_request_rejected" },
  ];
  write([START, ...lines], usage(100, 20));
  const { entries } = await readFrom();
  expect(entries.find(({ kind }) => kind === "model_error")).toMatchObject({
    errorType: "model_request_rejected",
    httpStatus: 400,
    final: true,
  });
});

test("a subagent belongs to the call that started it, with its own sum", async () => {
  const child = "bd6ebed0-3bc4-423e-baf6-2bdffd718238";
  write([START, prompt("p", 1), answer("a", 2)], usage(100, 20));
  const called = { type: "session_start", id: child, callingSessionId: ID, callingToolUseId: "call_1" };
  write([called, answer("c", 3)], usage(7, 1), child);
  const { entries } = await readFrom();
  expect(entries.find(({ kind }) => kind === "subagent")).toMatchObject({ agentId: child, parentCallId: "call_1" });
  expect(callsIn(entries).map(({ agentId, usage: of }) => [agentId, of?.input])).toEqual([
    [undefined, 100],
    [child, 7],
  ]);
  expect((await readFrom(INITIAL_OFFSET, child)).entries).toMatchObject([{ kind: "session", parentSessionId: ID }]);
});

test("the start of a subagent's session names the session that called it; its prompt is the machine's", () => {
  const intake = { source: "droid", timeMs: 1_000, env: {}, payloadBytes: 10, truncated: false };
  const events = (payload: object) => toEvents({ session_id: "child", ...payload }, intake);
  const [start] = events({ hook_event_name: "SessionStart", source: "startup", calling_session_id: ID });
  expect(start?.type).toBe("subagent.start");
  expect(start && extrasOf(start)).toMatchObject({ parent_session_id: ID, agent_id: "child" });
  const [task] = events({ hook_event_name: "UserPromptSubmit", prompt: "# Task Tool Invocation\n", message_id: "m" });
  expect(task && extrasOf(task)).toMatchObject({ prompt_id: "m", prompt_origin: "machine" });
  expect(events({ hook_event_name: "SubagentStop", task_name: "x" })).toEqual([]);
});

test("a call that two registrations report at the same time is one; at another time it is another", () => {
  const payload = {
    hook_event_name: "PreToolUse",
    session_id: ID,
    tool_name: "Execute",
    tool_input: { command: "ls" },
  };
  const idAt = (timeMs: number, hookPid: number) =>
    toEvents(payload, { timeMs, hookPid, env: {}, payloadBytes: 10, truncated: false })[0]?.id;
  expect(idAt(1_000, 1)).toBe(idAt(1_000, 2));
  expect(idAt(1_000, 1)).not.toBe(idAt(1_002, 1));
});
