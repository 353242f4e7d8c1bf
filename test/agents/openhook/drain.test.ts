import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DocumentedCall, linesOf } from "../../support/documented.ts";
import { DocumentedRun } from "../../support/documented-run.ts";
import { countersAndRows, spansIn, summaryOf } from "../../support/summary.ts";

const CASE = join(dirname(fileURLToPath(import.meta.url)), "004-openhook");
const calls = linesOf<DocumentedCall>(join(CASE, "calls.jsonl"));
const LATER_MS = Date.parse("2026-09-14T12:00:00Z");

let run: DocumentedRun;
beforeEach(() => {
  run = new DocumentedRun();
});
afterEach(() => run.remove());

test("counts any sender's envelopes once by id, and sums once per session", async () => {
  for (const call of [...calls, ...calls.slice(2, 5)]) await run.hook(call);
  expect(await run.drain(LATER_MS)).toMatchObject({ quarantined: 0 });
  const { counters, rows } = countersAndRows(run.places.storePath);
  expect(counters).toMatchObject({ input: 1200, output: 300, calls: 0 });
  expect(rows).toMatchObject({ input: 1200, output: 300 });
  expect(summaryOf(run.places.storePath, "sess_abc123")).toMatchObject({ prompts: 1, unsettled: 0 });
  expect(run.log.join("\n")).toMatch(/OpenHook 0\.2 was read as 0\.1/);
});

test("a sender's extensions are not exported and do not affect the session", async () => {
  const extensions = {
    agent_id: "SENDER-1",
    agent_type: "SENDER-2",
    error_type: "SENDER-3",
    mcp_server: "SENDER-4",
    executable: "SENDER-5",
    subcommand: "SENDER-6",
    agent_version: "SENDER-7",
    start_origin: "SENDER-8",
    native_reason: "SENDER-9",
    prompt_id: "SENDER-10",
    continues: "compaction",
    process: "SENDER-11",
    own: { nested: "SENDER-12" },
  };
  const hook = (second: number, type: string, data: object) =>
    run.hook({
      received_at: "2026-09-14T09:00:00.000Z",
      argv: ["--source", "openhook"],
      stdin: {
        openhook: "0.1",
        id: `5b8e0c0a-1111-4222-8333-0000000000${10 + second}`,
        source: "strato",
        type,
        time: new Date(Date.UTC(2026, 8, 14, 9, 0, second)).toISOString(),
        session_id: "strato-1",
        data,
        extensions,
      },
    });
  await hook(0, "session.start", {});
  await hook(1, "prompt.submit", {});
  await hook(2, "tool.start", { tool_name: "cut", tool_call_id: "1" });
  await hook(3, "tool.end", { tool_name: "cut", tool_call_id: "1", status: "error" });
  await hook(4, "session.end", { reason: "completed", input_tokens: 10, output_tokens: 2 });
  await run.drain(LATER_MS);
  const summary = summaryOf(run.places.storePath, "strato-1");
  expect(summary).toMatchObject({ prompts: 1, segments: [{ ended: true, reason: "completed" }] });
  expect(JSON.stringify([spansIn(run.places.storePath), summary, countersAndRows(run.places.storePath)])).not.toMatch(
    /SENDER/,
  );
});

// OpenHook has no event for a turn's end
test.each([
  [
    "ended",
    [
      ["tool.end", { tool_name: "cut", tool_call_id: "1", status: "success" }],
      ["session.end", { reason: "completed" }],
    ],
  ],
  [
    "ended",
    [
      ["tool.end", { tool_name: "cut", tool_call_id: "1" }],
      ["session.end", { reason: "user_exit" }],
    ],
  ],
  ["unfinished", [["session.end", { reason: "completed" }]]],
  [
    "unfinished",
    [
      ["tool.end", { tool_name: "cut", tool_call_id: "1" }],
      ["session.end", { reason: "error" }],
    ],
  ],
  ["unfinished", [["tool.end", { tool_name: "cut", tool_call_id: "1" }]]],
] as const)("the last turn is %s after %j", async (state, events) => {
  const all = [["prompt.submit", {}], ["tool.start", { tool_name: "cut", tool_call_id: "1" }], ...events] as const;
  for (const [second, [type, data]] of all.entries()) {
    const time = new Date(Date.UTC(2026, 8, 14, 9, 0, second)).toISOString();
    const id = `5b8e0c0a-1111-4222-8333-0000000001${10 + second}`;
    const stdin = { openhook: "0.1", id, source: "strato", type, time, session_id: "strato-2", data };
    await run.hook({ received_at: time, argv: ["--source", "openhook"], stdin });
  }
  await run.drain(LATER_MS);
  expect(summaryOf(run.places.storePath, "strato-2")?.lastTurn).toBe(state);
});
