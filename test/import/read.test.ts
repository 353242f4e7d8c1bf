import { dirname } from "node:path";
import { afterAll, expect, test } from "vitest";
import claudeCode from "#agents/claude-code/index.ts";
import { readSession } from "#collect/import/read.ts";
import { redact } from "#core/privacy/redact.ts";
import { MadeFiles } from "../support/both-sinks.ts";

const made = new MadeFiles();
afterAll(() => made.remove());

const LINE =
  '{"uuid":"u1","timestamp":"2026-11-21T10:00:00.000Z","type":"user","message":{"role":"user","content":"a question"}}\n';

test("timers, and so signals and keys, are handled between sessions that are read synchronously", async () => {
  const files = made.put([{ bytes: Buffer.from(LINE) }]);
  const roots = files.map(({ path }) => dirname(path));
  const task = { source: "claude-code", sessionId: "s1", files, roots };
  let ticks = 0;
  const others = setInterval(() => ticks++, 1);
  const untilMs = performance.now() + 300;
  let facts: unknown;
  while (performance.now() < untilMs)
    facts = (await readSession(task, claudeCode, { redact, redactName: redact, redactSecrets: redact }, true)).session
      ?.packed.facts;
  clearInterval(others);
  expect(facts).toBeInstanceOf(Uint8Array);
  expect(ticks).toBeGreaterThan(0);
});

test.each([true, false])(
  "answers that a side question copies under other request ids count once (read synchronously: %s)",
  async (isSync) => {
    const line = (type: string, message: object, rest: object) =>
      `${JSON.stringify({ type, uuid: `u-${type}`, timestamp: "2026-11-21T10:00:00.000Z", message, ...rest })}\n`;
    const answer = (id: string, requestId: string, rest = {}) =>
      line(
        "assistant",
        { id, model: "m", stop_reason: "end_turn", usage: { input_tokens: 7, output_tokens: 9 } },
        { requestId, ...rest },
      );
    const [one, two, own] = ["msg_01Xw3nPq7RtYkLmZb9", "msg_01Kd8vHs2JfTgNcQe5", "msg_01Bz6uWy4MhVjSxGa2"];
    const aside = { isSidechain: true, agentId: "aside_question-1" };
    const files = made.put([
      { bytes: Buffer.from(LINE + answer(one, "req_1") + answer(two, "req_2")) },
      {
        agentId: aside.agentId,
        bytes: Buffer.from(answer(one, "req_3", aside) + answer(two, "req_5", aside) + answer(own, "req_4", aside)),
      },
    ]);
    const roots = files.map(({ path }) => dirname(path));
    const read = await readSession(
      { source: "claude-code", sessionId: "s1", files, roots },
      claudeCode,
      { redact, redactName: redact, redactSecrets: redact },
      isSync,
    );
    const [segment] = read.session?.packed.segments ?? [];
    expect(segment?.totals).toMatchObject({ modelCalls: 3, input: 21, output: 27, subagents: 1 });
  },
);

test("facts beside an answer that a side question copies count once too", async () => {
  const usage = {
    input_tokens: 7,
    output_tokens: 9,
    iterations: [
      { type: "message", input_tokens: 7, output_tokens: 9 },
      ...[1, 2].map(() => ({ type: "advisor_message", model: "n", input_tokens: 700, output_tokens: 50 })),
    ],
  };
  const answer = (id: string, requestId: string, rest = {}) =>
    `${JSON.stringify({
      type: "assistant",
      uuid: id,
      timestamp: "2026-11-21T10:00:00.000Z",
      requestId,
      message: { id, model: "m", stop_reason: "end_turn", usage },
      ...rest,
    })}\n`;
  const aside = { isSidechain: true, agentId: "aside_question-1" };
  const files = made.put([
    { bytes: Buffer.from(LINE + answer("msg_01Xw3nPq7RtYkLmZb9", "req_1")) },
    {
      agentId: aside.agentId,
      bytes: Buffer.from(
        answer("msg_01Xw3nPq7RtYkLmZb9", "req_2", aside) + answer("msg_01Bz6uWy4MhVjSxGa2", "req_3", aside),
      ),
    },
  ]);
  const roots = files.map(({ path }) => dirname(path));
  const task = { source: "claude-code", sessionId: "s1", files, roots };
  const read = await readSession(task, claudeCode, { redact, redactName: redact, redactSecrets: redact }, true);
  const [segment] = read.session?.packed.segments ?? [];
  expect(segment?.totals).toMatchObject({ modelCalls: 6, input: 2 * 1_407, output: 2 * 109 });
});
