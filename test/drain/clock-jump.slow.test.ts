// Slow: only `npm run test:all` runs it. The built program under other clocks; session/endings.test.ts has the rules.
//
// Clocks that jump while agents work: by an hour, by days, to 1970; and events dated ahead.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { ACME, InboxFixture } from "../support/inbox-fixture.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { CASES, Replay } from "../support/replay.ts";
import { countersAndRows, type Expected, summaryOf } from "../support/summary.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

beforeAll(ensureBuilt);
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

const expectedOf = (source: string, name: string): Expected =>
  JSON.parse(readFileSync(join(CASES, source, name, "expected.json"), "utf8"));

/** Every call and token once, and no time backwards; whatever the segments are. */
function expectWhole(replay: Replay, { sessions }: Expected): void {
  const sums = countersAndRows(replay.places.storePath);
  expect(sums.counters).toEqual(sums.rows);
  for (const { session_id, totals, tool_calls, prompts } of sessions) {
    const got = summaryOf(replay.places.storePath, session_id);
    const sum = (key: "input" | "output"): number => (got?.modelCalls ?? []).reduce((n, call) => n + call[key], 0);
    expect([sum("input"), sum("output")]).toEqual([totals["input"], totals["output"]]);
    expect(got?.tools.map(({ id }) => id)).toEqual(tool_calls.map(({ id }) => id).sort());
    expect(got).toMatchObject({ prompts, unsettled: 0 });
    expect(got?.segments.every(({ ended }) => ended)).toBe(true);
  }
  expectForward();
}

function expectForward(): void {
  const ids = receiver.spans.map(({ spanId }) => spanId);
  expect(ids.length).toBeGreaterThan(0);
  expect(new Set(ids).size).toBe(ids.length);
  for (const span of receiver.spans) expect(span.endNs >= span.startNs).toBe(true);
  const last = new Map<string, bigint>();
  for (const point of receiver.metricPoints.filter(({ data }) => data.kind !== "gauge")) {
    const stream = JSON.stringify([point.name, point.resource, point.attributes]);
    expect(point.timeNs > (last.get(stream) ?? -1n), `${stream} runs forward`).toBe(true);
    expect(point.timeNs >= point.startNs).toBe(true);
    last.set(stream, point.timeNs);
  }
}

describe("the clock steps", () => {
  test.each([
    ["an hour back", -HOUR_MS],
    ["an hour forward", HOUR_MS],
    ["three days forward, as after a suspend", 3 * DAY_MS],
    ["back to 1970", Number.NEGATIVE_INFINITY],
  ])("%s during a session: nothing lost, nothing counted twice, no negative duration", async (_, stepMs) => {
    for (const name of ["multi-turn"]) {
      receiver.clear();
      const replay = new Replay("claude-code", name);
      replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
      try {
        const stepped = (ms: number): number => Math.max(1, ms + stepMs);
        const middle = Math.floor(replay.calls.length / 2);
        let nowMs = 0;
        const sleep = async (ms: number): Promise<void> => {
          nowMs += ms;
        };
        const drain = () => replay.drain({}, { now: () => nowMs, sleep });
        for (const [index, call] of replay.calls.entries()) {
          const ms = Date.parse(call.received_at);
          const seenMs = index < middle ? ms : stepped(ms);
          replay.put({ ...call, received_at: new Date(seenMs).toISOString() });
          nowMs = seenMs;
          if (index % 5 === 0) await drain();
        }
        // The clock is correct again
        nowMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at))) + MINUTE_MS;
        await drain();
        nowMs += 31 * MINUTE_MS;
        await drain();
        nowMs += 31 * MINUTE_MS;
        await drain();
        expectWhole(replay, expectedOf("claude-code", name));
      } finally {
        replay.remove();
      }
    }
  });

  test("set back in the middle of a drain: it does not wait for an hour", async () => {
    const replay = new Replay("claude-code", "killed", { withTranscripts: false });
    try {
      for (const call of replay.calls) replay.put(call);
      const lastMs = Math.max(...replay.calls.map((call) => Date.parse(call.received_at)));
      let slept = 0;
      const sleep = async (): Promise<void> => void slept++;
      await replay.drain({}, { sleep, now: () => (slept === 0 ? lastMs : lastMs - HOUR_MS) });
      expect(slept).toBeLessThan(50);
    } finally {
      replay.remove();
    }
  });
});

describe("dated ahead", () => {
  const START_MS = Date.UTC(2026, 9, 5, 12);
  const eventAt = (type: string, ms: number) => ({
    events: [
      { openhook: "0.1", id: `${type}-${ms}`, source: "acme", type, time: new Date(ms).toISOString(), session_id: "s" },
    ],
  });

  test("a session dated years ahead is idle half an hour after its last event arrived", async () => {
    const inbox = new InboxFixture();
    try {
      const drainAt = (ms: number) => inbox.drain({}, [ACME], () => ms);
      const isOver = () => summaryOf(inbox.places.storePath, "s")?.segments.every(({ ended }) => ended);
      inbox.put(eventAt("session.start", START_MS));
      inbox.put(eventAt("prompt.submit", START_MS + 4 * 365 * DAY_MS));
      await drainAt(START_MS + MINUTE_MS);
      await drainAt(START_MS + 29 * MINUTE_MS);
      expect(isOver()).toBe(false);
      await drainAt(START_MS + 32 * MINUTE_MS);
      expect(isOver()).toBe(true);
      const ends = readStore(inbox.places.storePath, (db) => db.prepare("SELECT start_ms, end_ms FROM segments").all());
      for (const row of ends ?? []) expect(Number(row["end_ms"])).toBeGreaterThanOrEqual(Number(row["start_ms"]));
    } finally {
      inbox.remove();
    }
  });
});

describe("the real program", () => {
  const hasFaketime = spawnSync("faketime", ["--version"]).status === 0;
  if (!hasFaketime)
    console.warn(
      "SKIPPED: drains of the built program under another clock; there is no faketime here (Debian: faketime)",
    );

  test.skipIf(!hasFaketime)(
    "drains with the clock an hour back, a week ahead, in 1971 and now: each token counts once",
    () => {
      const replay = new Replay("claude-code", "multi-turn");
      try {
        const drainUnder = (clock: readonly string[], ...args: string[]) => {
          const [file = "", ...rest] = [...clock, process.execPath, PROGRAM, "drain", ...args];
          const env = {
            PATH: process.env["PATH"],
            HOME: replay.home,
            OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9",
          };
          const { status, stderr } = spawnSync(file, rest, { env, encoding: "utf8" });
          expect([status, stderr]).toEqual([0, ""]);
        };
        const clocks = [["faketime", "-f", "-1h"], ["faketime", "-f", "+7d"], ["faketime", "1971-01-02 03:04:05"], []];
        const share = Math.ceil(replay.calls.length / clocks.length);
        for (const [index, clock] of clocks.entries()) {
          for (const call of replay.calls.slice(index * share, (index + 1) * share))
            replay.hook(call, { keepTime: false });
          drainUnder(clock);
        }
        drainUnder([], "--end-idle");
        const { sessions } = expectedOf("claude-code", "multi-turn");
        const sums = countersAndRows(replay.places.storePath);
        expect(sums.counters).toEqual(sums.rows);
        expect(sums.counters.input).toBe(sessions.reduce((sum, { totals }) => sum + (totals["input"] ?? 0), 0));
        const spans = readStore(replay.places.storePath, (db) => db.prepare("SELECT record FROM spans").all()) ?? [];
        for (const { record } of spans) {
          const { startMs, endMs } = JSON.parse(String(record)) as { startMs: number; endMs: number };
          expect(endMs).toBeGreaterThanOrEqual(startMs);
        }
      } finally {
        replay.remove();
      }
    },
  );
});
