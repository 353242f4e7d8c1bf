import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/openhands/transcript.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { CHILD, MadeConversation, ofKind, SESSION, START_MS, usage } from "./made.ts";

let made: MadeConversation;
beforeEach(() => {
  made = new MadeConversation();
});
afterEach(() => made.remove());

const CALL = "call_0123456789abcdef0001";
const OTHER = "call_0123456789abcdef0002";
const TASK = { kind: "TaskAction", prompt: "Where is it?", subagent_type: "general-purpose" };
const CHILD_ID = "11111111-2222-3333-4444-555555555555";

/** Entries by key, joined as the store does. */
const merged = (entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] => {
  const byKey = new Map<string, TranscriptEntry>();
  for (const entry of entries) {
    const known = byKey.get(entry.key);
    byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
  }
  return [...byKey.values()];
};

describe("tokens", () => {
  test("each response counts once: the parent repeats its subagent's, in whatever order they are read", async () => {
    made.prompt(0, "Find it");
    made.action(10, "r1", CALL, "task", TASK);
    const child = made.subagent();
    child.prompt(20, "Where is it?");
    child.answer(30, "r2");
    child.state({ agent: [usage("r2", 2_003, 41)] });
    made.answer(50, "r3");
    made.state({
      agent: [usage("r1", 9_007, 35), usage("r3", 9_523, 12)],
      condenser: [],
      "task:task_00000001": [usage("r2", 2_003, 41)],
    });
    const calls = ofKind(merged(await made.read()), "model_call");
    expect(calls.map(({ responseId, agentId, usage: u }) => [responseId, agentId, u?.input, u?.output])).toEqual([
      ["r1", undefined, 9_007, 35],
      ["r3", undefined, 9_523, 12],
      ["r2", CHILD_ID, 2_003, 41],
    ]);
    expect(calls[0]).toMatchObject({
      model: "acme-coder-1",
      complete: true,
      startMs: START_MS + 10 - 250,
      endMs: START_MS + 10,
      asksForTools: true,
      usage: { cacheRead: 100, cacheWrite: 0, reasoning: 7 },
    });
  });

  test("a subagent whose folder is gone counts from the parent's repeat, as a subagent", async () => {
    made.prompt(0, "Find it");
    made.answer(50, "r3");
    made.state({ agent: [usage("r3", 9_523, 12)], "task:task_00000001": [usage("r2", 2_003, 41)] });
    const entries = merged(await made.read());
    expect(ofKind(entries, "model_call").map(({ responseId, agentId }) => [responseId, agentId])).toEqual([
      ["r3", undefined],
      ["r2", "task_00000001"],
    ]);
    expect(ofKind(entries, "subagent")).toHaveLength(1);
  });

  test("a killed run has calls without usage; an answer to which the provider gave none is complete", async () => {
    made.prompt(0, "Find it");
    made.answer(10, "r1");
    expect(ofKind(await made.read(), "model_call")).toMatchObject([{ responseId: "r1", complete: false }]);
    made.state({ agent: [{ response_id: "r1" }] });
    const [call] = ofKind(merged(await made.read()), "model_call");
    expect(call).toMatchObject({ complete: true });
    expect(call?.usage).toBeUndefined();
  });

  test("read after every event, the facts are those of one reading", async () => {
    const offsets = new Map<string, Offset>();
    const inParts: TranscriptEntry[] = [];
    const step = async () => inParts.push(...(await made.read(offsets)));
    made.prompt(0, "Find it");
    await step();
    const action = made.action(10, "r1", CALL, "terminal", { kind: "TerminalAction", command: "ls" });
    await step();
    made.result(20, action, CALL, "terminal");
    await step();
    made.answer(30, "r2");
    await step();
    made.state({ agent: [usage("r1", 500, 5), usage("r2", 600, 6)] });
    await step();
    made.prompt(1_000, "Say bye");
    made.answer(1_010, "r3");
    await step();
    made.state({ agent: [usage("r1", 500, 5), usage("r2", 600, 6), usage("r3", 700, 7)] });
    await step();
    const byKey = (a: TranscriptEntry, b: TranscriptEntry): number => (a.key < b.key ? -1 : 1);
    expect([...merged(inParts)].sort(byKey)).toEqual([...merged(await made.read())].sort(byKey));
    expect(await made.read(offsets)).toHaveLength(1);
  });
});

describe("calls that a kill cut off", () => {
  test("the next process runs them again: two calls, the first unfinished", async () => {
    made.prompt(0, "Migrate");
    const action = made.action(10, "r1", CALL, "terminal", { kind: "TerminalAction", command: "sleep 300" });
    made.prompt(9_000, "Try again");
    const again = made.result(39_000, action, CALL, "terminal");
    const entries = await made.read();
    expect(ofKind(entries, "tool_use").map(({ callId, timeMs }) => [callId, timeMs - START_MS])).toEqual([
      [CALL, 10],
      [`${CALL}#${again}`, 9_000],
    ]);
    expect(ofKind(entries, "tool_result").map(({ callId, status, promptKey }) => [callId, status, promptKey])).toEqual([
      [CALL, "unfinished", expect.stringContaining("000000000000")],
      [`${CALL}#${again}`, "success", expect.stringContaining("000000009000")],
    ]);
  });

  test("a call that the user refuses later, or that a restart closed, was not run again", async () => {
    made.prompt(0, "Migrate");
    const first = made.action(10, "r1", CALL, "terminal", { kind: "TerminalAction", command: "a" });
    made.action(20, "r1", OTHER, "terminal", { kind: "TerminalAction", command: "b" });
    made.prompt(9_000, "Try again");
    made.event("UserRejectObservation", 9_001, { action_id: first, tool_call_id: CALL, rejection_reason: "no" });
    const error = "A restart occurred while this tool was in progress. This may indicate a fatal memory error.";
    made.event("AgentErrorEvent", 9_002, { tool_call_id: OTHER, error });
    const entries = await made.read();
    expect(ofKind(entries, "tool_use")).toHaveLength(2);
    expect(ofKind(entries, "tool_result").map(({ callId, status }) => [callId, status])).toEqual([
      [CALL, "denied"],
      [OTHER, "unfinished"],
    ]);
  });

  test("each run of a call is the parent of its own subagent, also if the prompts are equal", async () => {
    made.prompt(0, "Ask");
    const action = made.action(10, "r1", CALL, "task", TASK);
    made.subagent().prompt(20, "Where is it?");
    made.prompt(9_000, "Go on");
    const second = "99999999222233334444555555555555";
    made.subagent(second).prompt(9_010, "Where is it?");
    const again = made.result(9_500, action, CALL, "task");
    const parents = ofKind(merged(await made.read()), "subagent").map((one) => [one.agentId, one.parentCallId]);
    expect(parents).toEqual([
      [CHILD_ID, CALL],
      ["99999999-2222-3333-4444-555555555555", `${CALL}#${again}`],
    ]);
  });
});

describe("local times", () => {
  const zone = process.env["TZ"];
  const HOUR_MS = 3_600_000;
  afterEach(() => {
    if (zone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zone;
  });
  const times = async () => (await made.read()).filter(({ kind }) => kind === "prompt" || kind === "tool_result");

  test.each([
    ["America/New_York", -5 * HOUR_MS],
    ["Asia/Kathmandu", 5.75 * HOUR_MS],
    ["UTC", 9 * HOUR_MS],
  ])("the files' own times show the zone: this machine is in %s", async (here, zoneMs) => {
    process.env["TZ"] = here;
    made.remove();
    made = new MadeConversation(undefined, undefined, zoneMs);
    made.event("SystemPromptEvent", 0, { source: "agent" });
    made.prompt(10, "Check");
    const action = made.action(20, "r1", CALL, "terminal", { kind: "TerminalAction", command: "ls" });
    // Written with a parallel call that took twenty minutes
    made.result(30, action, CALL, "terminal", 20 * 60_000);
    made.answer(1_200_050, "r2");
    expect((await times()).map(({ timeMs }) => timeMs - START_MS)).toEqual([10, 30]);
  });

  test("the two hours around the end of summer time are distinguished", async () => {
    made.remove();
    made = new MadeConversation();
    const summer = new MadeConversation(made.home, made.folder, 2 * HOUR_MS);
    summer.event("SystemPromptEvent", 0, { source: "agent" });
    summer.prompt(10, "Check");
    summer.answer(HOUR_MS - 1, "r1");
    // The same clock time, an hour later
    const text = new Date(START_MS + 10 + 2 * HOUR_MS).toISOString().replace("Z", "");
    made.event("PauseEvent", HOUR_MS + 10, { source: "environment", timestamp: text });
    const [pause] = ofKind(await made.read(), "interruption");
    expect((pause?.timeMs ?? 0) - START_MS).toBe(HOUR_MS + 10);
  });

  test("copied files show none: then it is this machine's", async () => {
    process.env["TZ"] = "America/New_York";
    made.remove();
    made = new MadeConversation(undefined, undefined, -5 * HOUR_MS);
    const copiedMs = 5 * HOUR_MS + 7 * 60_000;
    made.event("SystemPromptEvent", 0, { source: "agent" }, copiedMs);
    made.prompt(10, "Check");
    made.event("PauseEvent", 4_000, { source: "environment" }, copiedMs);
    expect((await times()).map(({ timeMs }) => timeMs - START_MS)).toEqual([10]);
  });
});

test("prompts, failures and ends: an API error has its status, the finish tool ends the turn, a nudge is no human's", async () => {
  made.prompt(0, "Check");
  const action = made.action(10, "r1", CALL, "finish", { kind: "FinishAction", message: "Read." });
  made.result(20, action, CALL, "finish");
  made.prompt(30, "Your last response did not include a function call or a message. Please use a tool.");
  made.event("ConversationErrorEvent", 40, {
    source: "environment",
    code: "LLMRateLimitError",
    detail: "litellm.RateLimitError: OpenAIException - slow down",
  });
  const entries = await made.read();
  expect(ofKind(entries, "prompt").map(({ origin, length }) => [origin, length])).toEqual([
    ["human", 5],
    ["machine", expect.any(Number)],
  ]);
  expect(ofKind(entries, "turn_end")).toHaveLength(1);
  expect(ofKind(entries, "model_error")).toMatchObject([
    { errorType: "LLMRateLimitError", httpStatus: 429, final: true },
  ]);
});

test("ids that a provider counts from 0 in every answer, and in every subagent, identify no call", async () => {
  made.prompt(0, "Check");
  const child = made.subagent();
  const ids: string[] = [];
  for (const [to, ms] of [
    [made, 10],
    [made, 20],
    [child, 30],
  ] as const) {
    const action = to.action(ms, `r${ms}`, "call_0", "terminal", { kind: "TerminalAction", command: "ls" });
    to.result(ms + 1, action, "call_0", "terminal");
    ids.push(`call_0#${action}`);
  }
  const entries = await made.read();
  expect(ofKind(entries, "tool_use").map(({ callId }) => callId)).toEqual(ids);
  expect(ofKind(entries, "tool_result").map(({ callId }) => callId)).toEqual(ids);
});

test("an incomplete last file is read later, a damaged one before others is counted", async () => {
  made.prompt(0, "Check");
  const path = join(made.folder, "events", "event-00001-aaaaaaaa.json");
  writeFileSync(path, '{"id": "aaaa');
  const offsets = new Map<string, Offset>();
  await made.read(offsets);
  expect([...offsets.values()][0]?.memo["next"]).toBe(1);
  made.event("PauseEvent", 0, { source: "environment" });
  made.answer(10, "r1");
  const [part] = await made.parts();
  let unreadable = 0;
  if (part !== undefined)
    for await (const batch of reader.read(part, { bytes: 0, memo: {} })) unreadable += batch.unreadable;
  expect(unreadable).toBe(1);
});

test("the folder follows from the session's id without dashes; variables move it", async () => {
  expect(reader.roots("/home/dev", {})).toEqual(["/home/dev/.openhands/conversations"]);
  expect(reader.roots("/home/dev", { OPENHANDS_PERSISTENCE_DIR: "/data" })).toEqual(["/data/conversations"]);
  expect(reader.roots("/home/dev", { OPENHANDS_CONVERSATIONS_DIR: "/data/c" })).toEqual(["/data/c"]);
  made.prompt(0, "Check");
  made.subagent().prompt(5, "Where is it?");
  expect((await made.parts()).map(({ agentId }) => agentId)).toEqual([undefined, CHILD_ID]);
  const query = { home: made.home, roots: [made.home], onProblem: () => {} };
  const found = [];
  for await (const { sessionId } of reader.locate(query)) found.push(sessionId);
  expect(found).toEqual([SESSION]);
  rmSync(join(made.folder, "subagents", CHILD), { recursive: true });
  expect(await made.parts()).toHaveLength(1);
});
