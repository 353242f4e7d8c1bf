// Slow: only `npm run test:all` runs it. A subagent that continues a conversation begins its file with copies of it, some of them under its own requests
// (ccusage issue 913). Each answer counts once, in whatever order and parts the files are read.
// import/copies.test.ts has copied records.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { reconcile } from "#commands/reconcile.ts";
import { clockAt } from "../support/clock.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { countersAndRows, summaryOf } from "../support/summary.ts";

const SESSION = "11111111-1111-4111-8111-111111111111";
const START_MS = Date.parse("2026-11-21T10:00:00.000Z");
const ASIDE = { isSidechain: true, agentId: "aside_question-1" };

let at: Replay;
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

describe("answers repeated in a side question", () => {
  test("count once if the conversation is read in slices", async () => {
    const answers = 4_000;
    await written(answers, 20);
    await ended(answers);
    expect(figures()).toEqual(wanted(answers));
  });

  test("count once if the conversation is found later and nothing is settled yet", async () => {
    const main = await written(5, 3);
    await hiddenWhile(main, () => prompted());
    await ended(5);
    expect(figures()).toEqual(wanted(5));
    expect(summaryOf(at.places.storePath, SESSION)?.modelCalls.filter(({ subagent }) => subagent)).toHaveLength(1);
  });

  test("count once if they were counted in the side question first", async () => {
    const main = await written(5, 3);
    await hiddenWhile(main, () => ended(5));
    expect(figures().calls).toBe(4);
    await at.drain({ endIdle: true }, clockAt(START_MS + 20_000));
    expect(figures()).toEqual(wanted(5));
    // A second question, asked later
    put(aside(2), [
      ...repeated(5, 3, "aside_question-2"),
      answer(7, "req_own_2", { ...ASIDE, agentId: "aside_question-2" }),
    ]);
    await at.drain({ endIdle: true }, clockAt(START_MS + 30_000));
    expect(figures()).toEqual({ calls: 7, input: 7 * 100 + 0 + 1 + 2 + 3 + 4 + 6 + 7, output: 70, unsettled: 0 });
    const sums = countersAndRows(at.places.storePath);
    expect(sums.counters).toEqual(sums.rows);
    expect(await reconciled()).toMatchObject({ code: 0 });
  });
});

// --- internal ---

const answer = (n: number, requestId: string, rest: object = {}) => ({
  cwd: "/home/dev/shop",
  sessionId: SESSION,
  version: "2.1.329",
  isSidechain: false,
  type: "assistant",
  uuid: `a-${n}`,
  timestamp: new Date(START_MS + 1_000 + n * 100).toISOString(),
  requestId,
  message: {
    id: `msg_01${String(n).padStart(6, "0")}AbCdEfGhIjKlMnOp`,
    role: "assistant",
    model: "claude-sonnet-4-5-20250929",
    content: [{ type: "text", text: "x".repeat(1_000) }],
    stop_reason: "end_turn",
    stop_details: null,
    usage: { input_tokens: 100 + n, output_tokens: 10 },
  },
  ...rest,
});

const main = (): string => join(at.transcriptRoot, "-home-dev-shop", `${SESSION}.jsonl`);
const aside = (n: number): string =>
  join(at.transcriptRoot, "-home-dev-shop", SESSION, "subagents", `agent-aside_question-${n}.jsonl`);

/** The last answers of the conversation, under the side question's own requests. */
const repeated = (answers: number, copies: number, agentId = ASIDE.agentId) =>
  Array.from({ length: copies }, (_, i) => answer(answers - copies + i, `req_${agentId}_${i}`, { ...ASIDE, agentId }));

function put(path: string, lines: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** A conversation, and a side question that repeats its end and is answered. @returns the conversation's file */
async function written(answers: number, copies: number): Promise<string> {
  const prompt = { type: "user", uuid: "u-0", promptId: "p-0", message: { role: "user", content: "hello" } };
  put(main(), [
    { cwd: "/home/dev/shop", sessionId: SESSION, timestamp: new Date(START_MS).toISOString(), ...prompt },
    ...Array.from({ length: answers }, (_, n) => answer(n, `req_main_${n}`)),
  ]);
  put(aside(1), [...repeated(answers, copies), answer(answers + 1, "req_own", ASIDE)]);
  return main();
}

async function hiddenWhile(path: string, work: () => Promise<void>): Promise<void> {
  renameSync(path, `${path}.kept`);
  await work();
  renameSync(`${path}.kept`, path);
}

const prompted = (): Promise<void> => callHook("UserPromptSubmit", { prompt_id: "p-0", prompt: "hello" }, START_MS);
const ended = (answers: number): Promise<void> =>
  callHook("SessionEnd", { reason: "other" }, START_MS + 2_000 + answers * 100);

async function callHook(event: string, payload: object, ms: number): Promise<void> {
  const facts = { session_id: SESSION, transcript_path: main(), cwd: "/home/dev/shop", hook_event_name: event };
  at.put({ received_at: new Date(ms).toISOString(), event, stdin: { ...facts, ...payload } });
  await at.drain({}, clockAt(ms));
}

function figures() {
  const summary = summaryOf(at.places.storePath, SESSION);
  const calls = summary?.modelCalls ?? [];
  const sum = (kind: "input" | "output"): number => calls.reduce((n, call) => n + Number(call[kind]), 0);
  return { calls: calls.length, input: sum("input"), output: sum("output"), unsettled: summary?.unsettled };
}

/** All answers of the conversation and of the side question. */
const wanted = (answers: number) => ({
  calls: answers + 1,
  input: 100 * (answers + 1) + (answers * (answers - 1)) / 2 + answers + 1,
  output: 10 * (answers + 1),
  unsettled: 0,
});

async function reconciled(): Promise<{ readonly code: number; readonly said: string }> {
  const world = contextAt(at.places, { env: at.env });
  const code = await reconcile(undefined, { since: "2020-01-01", sampled: false, json: false }, world.context);
  return { code, said: world.out() };
}
