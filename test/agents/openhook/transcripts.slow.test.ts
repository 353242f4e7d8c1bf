// Slow: only `npm run test:all` runs it. Transcripts that a sender names, in all forms; adapter.test.ts and
// drain.test.ts have the sender's events.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Sender } from "./sender.ts";

const CASES = join(dirname(fileURLToPath(import.meta.url)), "transcripts");

/** Sums counted by hand from the transcript. Absent figures are unknown, `null` too. */
interface Expected {
  readonly calls: number | null;
  readonly input: number | null;
  readonly output: number | null;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
  readonly tools: readonly (readonly [string, string])[];
  readonly models: readonly string[];
  readonly shapes: readonly string[];
  /** Something in the file is unknown. */
  readonly lower_bound: boolean;
}

let sender: Sender;
beforeEach(() => {
  sender = new Sender();
});
afterEach(() => sender.remove());

const cases = readdirSync(CASES).sort();

describe("a sender that this program does not know", () => {
  const senders = new Sender();
  beforeAll(async () => {
    for (const name of cases) {
      const file = ["transcript.jsonl", "transcript.json"].find((one) => existsSync(join(CASES, name, one))) ?? "";
      const path = senders.write(`${name}/${file}`, readFileSync(join(CASES, name, file), "utf8"));
      senders.end(name, path, `${name}-agent`);
    }
    await senders.drain();
  });
  afterAll(() => senders.remove());

  test.each(cases)("%s: every figure", (name) => {
    const expected = JSON.parse(readFileSync(join(CASES, name, "expected.json"), "utf8")) as Expected;
    const { totals, tools, models, shapes, row, isUnknown } = senders.session(name);
    expect(totals).toMatchObject({
      model_calls: expected.calls,
      input: expected.input,
      output: expected.output,
      cache_read: expected.cache_read ?? null,
      cache_write: expected.cache_write ?? null,
      reasoning: expected.reasoning ?? null,
    });
    expect(tools).toEqual(expected.tools);
    expect(models).toEqual(expected.models);
    expect([...shapes].sort()).toEqual([...expected.shapes].sort());
    expect(isUnknown || totals.calls_without_usage > 0).toBe(expected.lower_bound);
    expect(row?.calls?.input ?? null).toBe(expected.input);
  });
});

const lines = (...records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join("");
const chat = (n: number, of: object = {}) => ({
  id: `chatcmpl-AbCdEfGhIjKlMnOp${n}`,
  object: "chat.completion",
  created: 1_795_860_000 + n,
  model: "gpt-5",
  usage: { prompt_tokens: 100 * n, completion_tokens: n },
  ...of,
});
const bare = (n: number) => ({
  role: "assistant",
  model: "gpt-5",
  usage: { prompt_tokens: 100 * n, completion_tokens: n },
});

test.each([
  ["web searches are in the cost", { web_search_requests: 10 }, { costNanoUsd: 130_000_000 }],
  ["fetched pages are free", { web_fetch_requests: 3 }, { costNanoUsd: 30_000_000 }],
  ["with other fees the cost is a lower bound", { acme_runs: 1 }, { costNanoUsd: 30_000_000, noPrice: "fees" }],
])("fees of Anthropic's server tools: %s", async (_, used, price) => {
  const message = {
    id: "msg_01AbCdEfGhIjKlMnOpQrStUv",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-8",
    usage: {
      input_tokens: 1_000,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      output_tokens: 1_000,
      server_tool_use: used,
    },
  };
  sender.end("s1", sender.write("a.jsonl", lines(message)));
  await sender.drain();
  const [one] = sender.session("s1").calls;
  expect(one?.call.model).toBe("claude-opus-4-8");
  expect({ costNanoUsd: one?.costNanoUsd, noPrice: one?.noPrice }).toEqual({ noPrice: undefined, ...price });
});

test("a file of JSON lines is read on from where it ended, also in the middle of a line", async () => {
  const text = lines(bare(1), bare(2), chat(3), bare(4));
  sender.envelope("prompt.submit", "s1", {}, "acme-agent", "2026-11-28T10:00:00Z");
  for (const cut of [20, text.indexOf("\n") + 1, text.length - 30, text.length - 1, text.length]) {
    const path = sender.write("a.jsonl", text.slice(0, cut));
    if (cut === text.length) sender.end("s1", path);
    else sender.envelope("tool.start", "s1", { tool_name: "x", transcript_path: path });
    await sender.drain();
  }
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 4, input: 1000, output: 10 });
});

test.each([
  ["in one line", (all: readonly object[]) => JSON.stringify({ messages: all })],
  ["over several lines", (all: readonly object[]) => JSON.stringify({ messages: all }, undefined, 2)],
  ["as an array", (all: readonly object[]) => JSON.stringify(all)],
])(
  "a document %s that is written again counts nothing twice, and nothing is lost if its beginning is gone",
  async (_, text) => {
    const timed = (n: number) => ({ ...bare(n), createdAt: 1_795_860_000 + n });
    const steps = [[timed(1)], [timed(1), timed(2)], [timed(1), timed(2), chat(3)], [chat(3), timed(4)]];
    for (const [at, step] of steps.entries()) {
      sender.writtenMs += 1_000;
      const path = sender.write("a.json", text(step));
      if (at === 0) sender.end("s1", path);
      await sender.drain();
    }
    expect(sender.session("s1").totals).toMatchObject({ model_calls: 4, input: 1000, output: 10 });
  },
);

test("an answer counts once over all sessions, and in one session however often it is written", async () => {
  const first = lines(chat(1), chat(1, { usage: { prompt_tokens: 100, completion_tokens: 7 } }), chat(2));
  sender.end("s1", sender.write("1.jsonl", first));
  // A drain reads several sessions at the same time, and the first to read an answer owns it
  await sender.drain();
  sender.end("s2", sender.write("2.jsonl", first + lines(chat(3))));
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 2, input: 300, output: 9 });
  expect(sender.session("s2").totals).toMatchObject({ model_calls: 1, input: 300, output: 3 });
});

test("equal short ids are other answers if their input differs, and in other sessions if their time does", async () => {
  const short = (n: number, at: number) => chat(n, { id: "chatcmpl-7", created: 1_795_860_000 + at });
  sender.end("s1", sender.write("1.jsonl", lines(short(1, 0), short(1, 0), short(2, 1))));
  sender.end("s2", sender.write("2.jsonl", lines(short(1, 5))));
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 2, input: 300 });
  expect(sender.session("s2").totals).toMatchObject({ model_calls: 1, input: 100 });
});

const CACHE: readonly (readonly [string, object, object])[] = [
  ["Anthropic", { input_tokens: 9, output_tokens: 4 }, { cache_read_input_tokens: 0 }],
  ["Chat Completions", { prompt_tokens: 9, completion_tokens: 4 }, { prompt_tokens_details: { cached_tokens: 0 } }],
  [
    "Responses",
    { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
    { input_tokens_details: { cached_tokens: 0 } },
  ],
  ["Gemini", { promptTokenCount: 9, candidatesTokenCount: 4 }, { cachedContentTokenCount: 0 }],
  ["AI SDK", { inputTokens: 9, outputTokens: 4 }, { cachedInputTokens: 0 }],
  [
    "GenAI",
    { "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 4 },
    { "gen_ai.usage.cache_read.input_tokens": 0 },
  ],
];

test("a cache that is stated as 0 is 0; one that is absent or null is unknown", async () => {
  for (const [name, usage, zero] of CACHE) {
    const missing = Object.fromEntries(Object.keys(zero).map((one) => [one, null]));
    for (const [at, own] of [{ ...usage }, { ...usage, ...missing }, { ...usage, ...zero }].entries()) {
      const text = lines({ role: "assistant", ...(name === "GenAI" ? { attributes: own } : { usage: own }) });
      sender.end(`${name}-${at}`, sender.write(`${name}-${at}.jsonl`, text));
    }
  }
  await sender.drain();
  for (const [name] of CACHE)
    for (const [at, cache] of [null, null, 0].entries())
      expect([`${name}-${at}`, sender.session(`${name}-${at}`).totals]).toMatchObject([
        `${name}-${at}`,
        { model_calls: 1, input: 9, output: 4, cache_read: cache },
      ]);
});

const count = (input: number, output: number) => ({ type: "usage", input_tokens: input, output_tokens: output });

test("a proof that comes after too many records with nothing but counts proves nothing", async () => {
  const rising = Array.from({ length: 250 }, (_, at) => count(100 + at, 10 + at));
  sender.end("s1", sender.write("a.jsonl", lines(...rising, count(500, 1))));
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: null, input: null, output: null });
});

test.each(["session.end", "tool.start"])(
  "calls that are proven only after a reading because of %s make the sum a lower bound",
  async (type) => {
    const path = sender.write("a.jsonl", lines(count(100, 50)));
    const data = { transcript_path: path, ...(type === "tool.start" && { tool_name: "x" }) };
    sender.envelope(type, "s1", data, "acme-agent", "2026-11-28T10:00:00Z");
    await sender.drain();
    sender.write("a.jsonl", lines(count(100, 50), count(140, 60), count(180, 20)));
    sender.end("s1", path);
    await sender.drain();
    const { input, output, calls_without_usage: unknown } = sender.session("s1").totals;
    expect([input, output, (unknown ?? 0) > 0]).toEqual([100, 50, true]);
  },
);

test("a session's own sums are not added to those of its transcript", async () => {
  const path = sender.write("a.jsonl", lines(chat(1), chat(2)));
  sender.envelope("session.end", "s1", { transcript_path: path, input_tokens: 5_000, output_tokens: 500 });
  const total = lines({ total_usage: { prompt_tokens: 40, completion_tokens: 4 }, time: "2026-11-28T10:00:05Z" });
  sender.envelope("session.end", "s2", {
    transcript_path: sender.write("b.jsonl", total),
    input_tokens: 40,
    output_tokens: 4,
  });
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 2, input: 300, output: 3 });
  expect(sender.session("s2").totals).toMatchObject({ model_calls: null, input: 40, output: 4 });
});

test("calls of tools that hooks and the transcript report are one", async () => {
  const call = { id: "call_AbCdEfGhIjKlMnOp", type: "function", function: { name: "search", arguments: "{}" } };
  const path = sender.write(
    "a.jsonl",
    lines(chat(1, { choices: [{ message: { role: "assistant", tool_calls: [call] } }] }), {
      role: "tool",
      tool_call_id: call.id,
      content: "x",
      created: 1_795_860_003,
    }),
  );
  sender.envelope(
    "tool.start",
    "s1",
    { tool_name: "search", tool_call_id: call.id },
    "acme-agent",
    "2026-11-28T10:00:02Z",
  );
  sender.envelope("tool.end", "s1", { tool_name: "search", tool_call_id: call.id, status: "error" });
  sender.end("s1", path);
  await sender.drain();
  expect(sender.session("s1").tools).toEqual([["search", "error"]]);
});

test("usage that nothing explains makes known sums a lower bound", async () => {
  const extra = { type: "usage", time: "2026-11-28T10:00:08Z", input_tokens: 77, output_tokens: 7 };
  sender.end("s1", sender.write("1.jsonl", lines(chat(1), extra)));
  const sum = { type: "usage", time: "2026-11-28T10:00:08Z", input_tokens: 300, output_tokens: 3 };
  sender.end("s2", sender.write("2.jsonl", lines(chat(1, { id: "x1" }), chat(2, { id: "x2" }), sum)));
  await sender.drain();
  expect(sender.session("s1").totals).toMatchObject({ model_calls: 1, input: 100, calls_without_usage: 1 });
  expect(sender.session("s2").totals).toMatchObject({ model_calls: 2, input: 300, calls_without_usage: 0 });
});

test("the source of a known agent is read by that agent's reader", async () => {
  const answer = {
    type: "assistant",
    uuid: "0b6d1f9e-6a52-4c7a-9d0f-3b1f7c2f9a01",
    sessionId: "s1",
    timestamp: "2026-11-28T10:00:02.000Z",
    message: {
      id: "msg_1",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [],
      usage: { input_tokens: 7, output_tokens: 2 },
    },
  };
  sender.folders = join(sender.home, ".claude", "projects", "-home");
  sender.end("s1", sender.write("../.claude/projects/-home/s1.jsonl", lines(answer, chat(1))), "claude-code");
  await sender.drain();
  expect(sender.session("s1")).toMatchObject({ shapes: [], totals: { model_calls: 1, input: 7 } });
});
