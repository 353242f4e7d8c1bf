// The documented cases in a complete drain: what the store has afterwards
import { afterEach, describe, expect, test } from "vitest";
import * as semconv from "#core/telemetry/semconv.ts";
import { clockAt } from "../../support/clock.ts";
import { Replay } from "../../support/replay.ts";
import { countersAndRows, spansIn, summaryOf } from "../../support/summary.ts";
import { firstOf } from "../../support/whole.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

async function drained(name: string, times = 1) {
  replay = new Replay("cursor", name);
  for (let i = 0; i < times; i++) for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  const { counters, rows } = countersAndRows(replay.places.storePath);
  expect(counters).toEqual(rows);
  const sessionId = String(replay.calls[0]?.stdin?.["conversation_id"] ?? "173cec4e-0000-4e0e-be27-3b01582b0006");
  const summary = summaryOf(replay.places.storePath, sessionId);
  expect(summary).toBeDefined();
  if (summary === undefined) throw new Error(`no session ${sessionId}`);
  expect(summary.unsettled).toBe(0);
  const tokens = summary.modelCalls.map(({ input, output, cache_read }) => [input, output, cache_read]);
  return { ...summary, calls: rows.calls, tokens, statuses: summary.tools.map((tool) => tool.status).sort() };
}

describe.each(firstOf([1, 2], 1))("reported %i times", (times) => {
  test("a desktop session has its prompt, tokens and tools, and the user closes it", async () => {
    const { prompts, tokens, calls, statuses, segments } = await drained("basic", times);
    expect([prompts, tokens, calls, statuses]).toEqual([1, [[43_859, 1_076, 28_384]], 0, ["success", "success"]]);
    expect(segments).toEqual([{ reason: "user_exit", native: "user_close", ended: true }]);
  });

  test("the CLI in print mode has no prompts and no tokens", async () => {
    const { prompts, tokens, statuses, segments } = await drained("cli-print", times);
    expect([prompts, tokens, statuses]).toEqual([0, [], ["success"]]);
    expect(spansIn(replay?.places.storePath ?? "")).not.toContain(semconv.OPENHOOK_MODEL_CALLS);
    expect(segments).toEqual([{ reason: "completed", native: "completed", ended: true }]);
  });

  test("a session with failures has a status per tool, an interrupted turn, and ends with an error", async () => {
    const { statuses, segments, lastTurn } = await drained("failure", times);
    expect(statuses).toEqual(["denied", "error", "error", "unfinished"]);
    expect(segments).toEqual([{ reason: "error", native: "error", ended: true }]);
    expect(lastTurn).toBe("interrupted");
  });

  test("counts events once if they also come through Claude's settings", async () => {
    expect((await drained("claude-import-duplicate", times)).statuses).toEqual(["success"]);
  });

  test("parallel calls are both successes, and an end without a status is a completed one", async () => {
    const { tokens, statuses, segments } = await drained("parallel-tools", times);
    expect([tokens, statuses]).toEqual([[[21_033, 377, 7_040]], ["success", "success"]]);
    expect(segments).toEqual([{ reason: "completed", native: "ended_by_user", ended: true }]);
  });

  test.each([
    ["completed", "completed"],
    ["error", "error"],
    ["aborted", "user_exit"],
  ])(
    "after a last turn that is %s, a session without an end event ends with that turn's reason: %s",
    async (status, reason) => {
      replay = new Replay("cursor", "parallel-tools", {
        edit: (text) =>
          text
            .replaceAll('"status":"completed"', `"status":"${status}"`)
            .replaceAll('"status": "completed"', `"status":"${status}"`),
      });
      const { calls } = replay;
      const stop = calls.at(-1);
      if (stop === undefined) throw new Error("no call");
      for (const call of calls) for (let i = 0; i < times; i++) replay.put(call);
      const stoppedMs = Date.parse(stop.received_at);
      await replay.drain({}, clockAt(stoppedMs));
      await replay.drain({}, clockAt(stoppedMs + 31 * 60_000));
      const { segments } = summaryOf(replay.places.storePath, String(stop.stdin?.["conversation_id"])) ?? {};
      expect(segments).toEqual([{ reason, native: "idle", ended: true }]);
    },
  );

  test("an end without a model uses the prompt's model", async () => {
    replay = new Replay("cursor", "basic");
    for (const call of replay.calls) {
      const { model_id: _, ...unnamed } = call.stdin ?? {};
      const stdin =
        call.event === "stop" || call.event === "afterAgentResponse" ? { ...unnamed, model: "default" } : undefined;
      for (let i = 0; i < times; i++) replay.put(stdin === undefined ? call : { ...call, stdin });
    }
    await replay.drain({ endIdle: true });
    const { counters, rows } = countersAndRows(replay.places.storePath);
    expect(counters).toEqual(rows);
    const got = summaryOf(replay.places.storePath, String(replay.calls[0]?.stdin?.["conversation_id"]));
    expect(got?.modelCalls).toMatchObject([{ model: "composer-2.5", input: 43_859, output: 1_076 }]);
  });

  test("MCP tools, subagents' tokens, and payloads with byte order marks are counted", async () => {
    expect((await drained("mcp", times)).statuses).toEqual(["success"]);
    expect((await drained("subagent", times)).tokens).toEqual([[50_110, 900, 30_000]]);
    expect((await drained("windows-bom", times)).statuses).toEqual(["unfinished", "unfinished"]);
  });
});
