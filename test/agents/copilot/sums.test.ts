// Versions without a record per call: only a run's end has tokens, as sums over all runs of the session (1.0.75) or over
// that run only (1.0.60)
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { importInto, unpackAll } from "../../import/run.ts";
import { clockAt } from "../../support/clock.ts";
import { CASES, Replay } from "../../support/replay.ts";
import { countersAndRows, type Expected, summaryOf } from "../../support/summary.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

const withoutRecords = (text: string, path: string): string =>
  path === "hooks.jsonl"
    ? text
    : text
        .split("\n")
        .filter((line) => !line.includes('"type":"session.usage_record"'))
        .join("\n");

/** Sums as in 1.0.60, which restart with each run of a session. */
function countedPerRun(text: string, path: string): string {
  let before: Readonly<Record<string, number>> = {};
  const less = (value: Record<string, number>, last: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(value).map(([name, n]) => [name, n - (last[name] ?? 0)]));
  return withoutRecords(text, path)
    .split("\n")
    .map((line) => {
      if (!line.includes('"type":"session.shutdown"')) return line;
      const { data, ...rest } = JSON.parse(line);
      const { sessionStartTime, modelMetrics } = data.accountingSnapshot;
      const [model = ""] = Object.keys(modelMetrics);
      const { usage, requests } = modelMetrics[model];
      const now = { ...usage, count: requests.count };
      const { count, ...own } = less(now, before);
      before = now;
      const metrics = { [model]: { requests: { count }, usage: own } };
      return JSON.stringify({ ...rest, data: { sessionStartTime, modelMetrics: metrics } });
    })
    .join("\n");
}

test.each([
  ["basic", 3],
  ["subagent", 5],
  ["multi-turn", 5],
  ["killed-then-resumed", 3],
  ["multi-turn", 5, countedPerRun],
])("%s: the sums are the session's tokens, and its calls have none", async (name, calls, edit = withoutRecords) => {
  const { sessions } = JSON.parse(readFileSync(join(CASES, "copilot", name, "expected.json"), "utf8")) as Expected;
  replay = new Replay("copilot", name, { withTranscripts: false, edit });
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
  const { counters, rows } = countersAndRows(storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject({ calls, input: sessions[0]?.totals["input"], output: sessions[0]?.totals["output"] });
  expect(summaryOf(storePath, sessions[0]?.session_id ?? "")?.unsettled).toBe(0);
});

test.each([
  ["sums over all runs", withoutRecords],
  ["sums of each run", countedPerRun],
])("an import gives the same: %s", async (_, edit) => {
  const { sessions } = JSON.parse(
    readFileSync(join(CASES, "copilot", "multi-turn", "expected.json"), "utf8"),
  ) as Expected;
  replay = new Replay("copilot", "multi-turn", { edit });
  await importInto(replay, "copilot");
  await unpackAll(replay, "copilot");
  const { counters, rows } = countersAndRows(replay.places.storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject({
    calls: 5,
    input: sessions[0]?.totals["input"],
    output: sessions[0]?.totals["output"],
  });
});

test("keeps the sums if a newer version resumes the session and records each call", async () => {
  const { sessions } = JSON.parse(
    readFileSync(join(CASES, "copilot", "multi-turn", "expected.json"), "utf8"),
  ) as Expected;
  // Only the first run is without records
  const updated = (text: string): string => {
    const end = text.indexOf("\n", text.indexOf('"type":"session.shutdown"'));
    return withoutRecords(text.slice(0, end), "") + text.slice(end);
  };
  replay = new Replay("copilot", "multi-turn", {
    edit: (text, path) => (path === "hooks.jsonl" ? text : updated(text)),
  });
  await importInto(replay, "copilot");
  await unpackAll(replay, "copilot");
  expect(countersAndRows(replay.places.storePath).counters).toMatchObject({
    calls: 5,
    input: sessions[0]?.totals["input"],
    output: sessions[0]?.totals["output"],
  });
});
