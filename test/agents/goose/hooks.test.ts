import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { adapter } from "#agents/goose/adapter.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { clockAt } from "../../support/clock.ts";
import { compareRecorded } from "../../support/expected.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { type Expected, summaryOf } from "../../support/summary.ts";

const { toEvents } = adapter;

const S = "20261125_1";
let replay: Replay | undefined;
afterEach(() => replay?.remove());

const intake = (rest: Partial<IntakeFacts> = {}): IntakeFacts => ({
  timeMs: Date.UTC(2026, 10, 25),
  env: {},
  payloadBytes: 1,
  truncated: false,
  ...rest,
});
const one = (event: string, rest: object, facts = intake()) =>
  toEvents({ event, session_id: S, matcher_context: null, ...rest }, facts)[0];

test.each([
  ["Stop", { last_assistant_message: "Done." }, "turn.end"],
  ["Stop", {}, "turn.error"],
  ["UserPromptSubmit", { message: "Sell apples" }, "prompt.submit"],
  ["UserPromptSubmit", { message: "/compact" }, "compaction"],
  ["UserPromptSubmit", { message: "/compacted apples" }, "prompt.submit"],
  ["UserPromptSubmit", { message: "Please compact this conversation" }, "compaction"],
  ["UserPromptSubmit", { message: "/skills" }, "notice"],
  ["UserPromptSubmit", { message: "/goal off" }, "notice"],
  ["UserPromptSubmit", { message: "/goal Sell apples" }, "prompt.submit"],
  ["PreToolUseResult", { tool_call_id: "c1", decision: "allow" }, undefined],
  ["PreToolUseResult", { tool_call_id: "c1", decision: "deny" }, "tool.end"],
  ["AfterShellExecution", { tool_name: "shell" }, undefined],
])("%s with %j becomes %s", (event, rest, type) => expect(one(event, rest)?.type).toBe(type));

test("a denied call is an error and marked as denied; two registrations at one moment are one event", () => {
  const denied = one("PreToolUseResult", { tool_call_id: "c1", decision: "deny" });
  expect(denied && extrasOf(denied)).toMatchObject({ denied: true });
  const ids = [1, 2].map((hookPid) => one("UserPromptSubmit", { message: "x" }, intake({ hookPid }))?.id);
  expect(ids[0]).toBe(ids[1]);
});

const byHooks = JSON.parse(
  readFileSync(join(CASES, "goose", "interactive-clear", "by-hooks.json"), "utf8"),
) as Expected;

test.each([1, 2])(
  "after /clear, hooks keep what the database lost, and its ledger the tokens (hooks %i times)",
  async (times) => {
    replay = new Replay("goose", "interactive-clear");
    for (const call of replay.calls) {
      for (let n = 0; n < times; n++) replay.put(call, Date.parse(call.received_at) + n * 20);
    }
    await replay.drain({ endIdle: true });
    compareRecorded(replay.places.storePath, byHooks);
  },
);

test("a killed session has an incomplete call once it is idle, and resumed it has only one", async () => {
  replay = new Replay("goose", "concurrent-killed");
  const { calls } = replay;
  const resumed = calls.findIndex(({ stdin }) => stdin?.["message"] === "Go on with the second");
  for (const call of calls.slice(0, resumed)) replay.put(call);
  const atMs = Date.parse(calls[resumed]?.received_at ?? "");
  await replay.drain({ endIdle: true }, clockAt(atMs));
  expect(summaryOf(replay.places.storePath, "20261125_2")?.incomplete).toBe(1);
  for (const call of calls.slice(resumed)) replay.put(call);
  await replay.drain({ endIdle: true }, clockAt(atMs + 60_000));
  const got = summaryOf(replay.places.storePath, "20261125_2");
  expect([got?.incomplete, got?.prompts, got?.unsettled]).toEqual([1, 2, 0]);
});
