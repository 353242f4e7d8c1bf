// Versions that write no record per call: only a run's end tells tokens, in sums over all runs of the session
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { importInto, unpackAll } from "../../import/run.ts";
import { clockAt } from "../../support/clock.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { booksOf, type Expected, summaryOf } from "../../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const withoutRecords = (text: string, path: string): string =>
  path === "hooks.jsonl"
    ? text
    : text
        .split("\n")
        .filter((line) => !line.includes('"type":"session.usage_record"'))
        .join("\n");

test.each([
  ["basic", 3],
  ["subagent", 5],
  ["multi-turn", 5],
  ["killed-then-resumed", 3],
])("%s: the last sums are the session's tokens, beside calls that tell none", async (name, calls) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, "copilot", name, "expected.json"), "utf8")) as Expected;
  replay = new Replay("copilot", name, { withTranscripts: false, edit: withoutRecords });
  const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
  for (const call of replay.calls) {
    const ms = Date.parse(call.received_at);
    replay.put(call);
    if (!/agentStop|sessionEnd/.test(call.event)) continue;
    replay.writeTranscripts({ untilMs: ms });
    await replay.drain({}, clockAt(ms));
  }
  replay.writeTranscripts();
  await replay.drain({ endIdle: true }, clockAt(lastMs + 1_000));

  const { storePath } = replay.places;
  const { counters, rows } = booksOf(storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject({ calls, input: sessions[0]?.totals["input"], output: sessions[0]?.totals["output"] });
  expect(summaryOf(storePath, sessions[0]?.session_id ?? "")?.unsettled).toBe(0);
});

test("the same where they are imported", async () => {
  const { sessions } = JSON.parse(
    readFileSync(join(CASES, "copilot", "multi-turn", "expected.json"), "utf8"),
  ) as Expected;
  replay = new Replay("copilot", "multi-turn", { edit: withoutRecords });
  await importInto(replay, "copilot");
  await unpackAll(replay, "copilot");
  const { counters, rows } = booksOf(replay.places.storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject({
    calls: 5,
    input: sessions[0]?.totals["input"],
    output: sessions[0]?.totals["output"],
  });
});
