// Slow: only `npm run test:all` runs it. Sums of killed and resumed runs, at every pace of drains; copilot/transcript.test.ts
// has the rules.
//
// Versions without a record per call: only a run's end has tokens, as sums over all runs of the session (1.0.75) or over
// that run only (1.0.60)
import { appendFileSync, readFileSync } from "node:fs";
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

const KILLED = [
  "older-file-beside-folder",
  "older-version-1.0.60-killed",
  "older-version-1.0.60-resumed-then-killed",
  "older-version-1.0.75-resumed-then-killed",
];

/** The case, and what it must count. */
function killed(name: string) {
  const text = readFileSync(join(CASES, "copilot", name, "expected.json"), "utf8");
  const [session] = (JSON.parse(text) as Expected).sessions;
  const { model_calls: calls, input, output } = session?.totals ?? {};
  const of = new Replay("copilot", name, { withTranscripts: false });
  return { of, counted: { calls, input, output }, sessionId: session?.session_id ?? "" };
}

test.each(KILLED)(
  "%s: a killed run has its output and no input, with a drain after every hook and later",
  async (name) => {
    const { of, counted } = killed(name);
    replay = of;
    let ms = 0;
    for (const call of replay.calls) {
      ms = Date.parse(call.received_at);
      replay.put(call);
      replay.writeTranscripts({ untilMs: ms });
      await replay.drain({}, clockAt(ms));
    }
    replay.writeTranscripts();
    await replay.drain({ endIdle: true }, clockAt(ms + 1_000));
    await importInto(replay, "copilot");
    const { counters, rows } = countersAndRows(replay.places.storePath);
    expect(counters).toEqual(rows);
    expect(counters).toMatchObject(counted);
  },
);

test.each(KILLED)("%s: imported, then drained, then imported again", async (name) => {
  const { of, counted } = killed(name);
  replay = of;
  replay.writeTranscripts();
  await importInto(replay, "copilot");
  await unpackAll(replay, "copilot");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  await importInto(replay, "copilot");
  const { counters, rows } = countersAndRows(replay.places.storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject(counted);
});

test("a drain at the session's end waits for the sums, which are written after the hook", async () => {
  const { of } = killed("older-version-1.0.60-resumed-then-killed");
  replay = of;
  const firstEnd = replay.calls.findIndex(({ event }) => event === "sessionEnd");
  const firstRun = replay.calls.slice(0, firstEnd + 1);
  for (const call of firstRun) replay.put(call);
  const ms = Date.parse(firstRun.at(-1)?.received_at ?? "");
  replay.writeTranscripts({ untilMs: ms });
  const sleep = async () => of.writeTranscripts({ untilMs: ms + 1_000 });
  await replay.drain({}, { ...clockAt(ms), sleep });
  expect(countersAndRows(replay.places.storePath).counters).toMatchObject({ input: 5_003, output: 44 });
});

test("a run that was ended as idle and then ends properly is counted once", async () => {
  const { of, sessionId } = killed("older-version-1.0.60-killed");
  replay = of;
  const ms = Date.parse(replay.calls.at(-1)?.received_at ?? "");
  for (const call of replay.calls) replay.put(call);
  replay.writeTranscripts();
  await replay.drain({}, clockAt(ms));
  await replay.drain({}, clockAt(ms + 3_600_000));
  expect(countersAndRows(replay.places.storePath).counters).toMatchObject({ input: 0, output: 40, unpriced: 3 });

  const usage = { inputTokens: 12_114, outputTokens: 40, cacheReadTokens: 5_906 };
  const data = { sessionStartTime: 0, modelMetrics: { "gpt-5-mini": { requests: { count: 2 }, usage } } };
  const timestamp = new Date(ms + 3_700_000).toISOString();
  const file = join(replay.home, ".copilot", "session-state", sessionId, "events.jsonl");
  appendFileSync(file, `${JSON.stringify({ type: "session.shutdown", data, id: "end", timestamp })}\n`);
  const stdin = { sessionId, timestamp: ms + 3_699_000, cwd: "/home/dev", reason: "user_exit" };
  replay.put({ received_at: timestamp, event: "sessionEnd", stdin });
  await replay.drain({}, clockAt(ms + 3_702_000));
  const { counters, rows } = countersAndRows(replay.places.storePath);
  expect(counters).toEqual(rows);
  expect(counters).toMatchObject({ input: 12_114, output: 40, cache_read: 5_906, unpriced: 2 });
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
