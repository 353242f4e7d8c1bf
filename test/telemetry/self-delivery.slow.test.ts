// Slow: only `npm run test:all` runs it. Own telemetry as a backend receives it; telemetry/self.test.ts has the rules.
import { mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import claude from "#agents/claude-code/index.ts";
import type { DrainDeps } from "#collect/drain/context.ts";
import { openDatabase } from "#store/database.ts";
import { writeMeta } from "#store/meta.ts";
import { readDrift } from "#store/self.ts";
import { type ReceivedPoint, type Receiver, startReceiver } from "../receiver/receiver.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";

const NOW_MS = Date.now();
const MINUTE_MS = 60_000;

let replay: Replay;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "parallel-tools");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
});
afterEach(async () => {
  replay.remove();
  await receiver.close();
});

const at = (ms: number, more: Partial<DrainDeps> = {}): Partial<DrainDeps> => ({
  now: () => NOW_MS + ms,
  sleep: async () => {},
  ...more,
});
const own = (): readonly ReceivedPoint[] =>
  receiver.latestPoints().filter(({ name }) => name.startsWith("openhook.collector."));
const values = (name: string): Record<string, number> =>
  Object.fromEntries(
    own()
      .filter((point) => point.name === `openhook.collector.${name}`)
      .map(({ attributes, data }) => [
        Object.values(attributes).join(" ") || "all",
        data.kind === "sum" || data.kind === "gauge" ? data.value : -1,
      ]),
  );
/** The only agent's version, as its transcript has it, and its last activity. */
const onlyVersion = (): { readonly version: string; readonly lastMs: number } => {
  const db = openDatabase(replay.places.storePath);
  const row = db.prepare("SELECT agent_version, last_ms FROM sessions").get();
  db.close();
  return { version: String(row?.["agent_version"]), lastMs: Number(row?.["last_ms"]) };
};
const metricRequests = (): number => receiver.requests.filter(({ path }) => path.endsWith("/v1/metrics")).length;

describe("each delivery", () => {
  test("contains payloads received, converted, ignored and quarantined, and the queue's length", async () => {
    for (const call of replay.calls) replay.put(call);
    replay.put({ received_at: "2026-11-21T11:00:00Z", event: "Stop", stdin: { nobody: "knows this" } });
    replay.put({ received_at: "2026-11-21T11:00:00Z", event: "Stop", stdin_raw: "{nonsense" });
    await replay.drain({ endIdle: true }, at(0));
    const payloads = values("payload.count");
    const total = Object.values(payloads).reduce((a, b) => a + b, 0);
    expect(total).toBe(replay.calls.length + 2);
    expect(payloads["converted claude-code"]).toBeGreaterThan(0);
    expect(payloads["quarantined unrecognised claude-code"]).toBe(1);
    expect(payloads["quarantined unreadable claude-code"]).toBe(1);
    expect(values("event.count")["claude-code"]).toBeGreaterThan(0);
    expect(values("transcript.line.count")["understood claude-code"]).toBeGreaterThan(10);
    expect(values("quarantine.files")).toEqual({ all: 2 });
    expect(values("inbox.files")).toEqual({ all: 0 });
    expect(values("store.size")["all"]).toBeGreaterThan(10_000);
    expect(values("drift.names")).toEqual({});
    const { version, lastMs } = onlyVersion();
    expect(values("agent.time")).toEqual({ [`claude-code ${version}`]: lastMs / 1000 });
    // Nothing was lost: a counter without counts is absent
    expect(values("dropped.count")).toEqual({});
    for (const { resource, unit } of own()) {
      expect(resource["service.name"]).toBe("openhook-otel");
      expect(resource["service.version"]).toBeUndefined();
      expect(unit).not.toBe("");
    }
  });

  test("reports no queued spans if there is no endpoint for spans", async () => {
    replay.env = { OPENHOOK_OTEL_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics` };
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true }, at(0));
    await replay.drain({ isEager: true }, at(120 * MINUTE_MS));
    for (const name of ["outbox.spans", "outbox.size", "outbox.age"]) expect(values(name), name).toEqual({ all: 0 });
  });

  test("contains the previous drain, its duration, and the results of its requests", async () => {
    for (const call of replay.calls) replay.put(call);
    receiver.setBehaviour(() => ({ status: 503 }));
    await replay.drain({}, at(0));
    receiver.setBehaviour(undefined);
    await replay.drain({ isEager: true }, at(MINUTE_MS));
    await replay.drain({ isEager: true }, at(2 * MINUTE_MS));
    expect(values("drain.count")).toEqual({ ok: 2 });
    const [duration] = own().filter(({ name }) => name === "openhook.collector.drain.duration");
    expect(duration?.data).toMatchObject({ kind: "histogram", count: 2 });
    expect(values("export.request.count")).toMatchObject({ "retry traces": 1, "ok traces": 1, "retry metrics": 1 });
    expect(values("export.last_success.age")["traces"]).toBe(60);
    expect(Object.keys(values("clock.skew"))).toEqual(["all"]);
  });

  test("counts a killed drain before it, and a failed drain counts itself", async () => {
    for (const call of replay.calls) replay.put(call);
    await replay.drain({}, at(0));
    const db = openDatabase(replay.places.storePath);
    // As a killed drain leaves it
    writeMeta(db, "drain.began_ms", String(NOW_MS));
    db.close();
    const sleep = (): Promise<void> => Promise.reject(new Error("no more"));
    const agents = [{ ...claude, transcript: sleep as never }];
    replay.put({ ...(replay.calls[0] as RecordedCall), received_at: new Date(NOW_MS).toISOString() });
    await expect(replay.drain({}, at(0, { agents }))).rejects.toThrow("no more");
    await replay.drain({ isEager: true }, at(MINUTE_MS));
    expect(values("drain.count")).toEqual({ ok: 1, killed: 1, failed: 1 });
  });
});

test("drains without work send nothing, until a backend would consider series ended", async () => {
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true }, at(0));
  expect(metricRequests()).toBe(1);
  for (let minute = 1; minute <= 3; minute++) await replay.drain({}, at(minute * MINUTE_MS));
  expect(metricRequests()).toBe(1);
  await replay.drain({}, at(5 * MINUTE_MS));
  expect(metricRequests()).toBe(2);
});

test("if they are switched off, the program's own metrics are not sent", async () => {
  replay.env = { ...replay.env, OPENHOOK_OTEL_SELF_TELEMETRY: "false" };
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true }, at(0));
  expect(receiver.latestPoints().length).toBeGreaterThan(5);
  expect(own()).toEqual([]);
});

describe("unknown names", () => {
  const KEY = `sk-ant-${"4711abcd".repeat(5)}`;

  test("are counted by version, stored by name only if they look like a name, and never sent", async () => {
    const [first, ...rest] = replay.calls;
    for (const call of [first, ...rest]) if (call !== undefined) replay.put(call);
    await replay.drain({}, at(0));
    const session = String(first?.stdin?.["session_id"]);
    const base = { session_id: session, cwd: replay.home, transcript_path: first?.stdin?.["transcript_path"] };
    for (const more of [
      { hook_event_name: "SolarFlare", spectral_class: "G2V", [KEY]: 1 },
      { hook_event_name: "SolarFlare" },
    ]) {
      replay.put({ received_at: "2026-11-21T11:30:00Z", event: "SolarFlare", stdin: { ...base, ...more } });
    }
    await replay.drain({ isEager: true }, at(MINUTE_MS));
    const db = openDatabase(replay.places.storePath);
    const drift = readDrift(db);
    db.close();
    expect(drift.map(({ source, kind, name, count }) => `${source} ${kind} ${name} ${count}`).sort()).toEqual([
      "claude-code event SolarFlare 2",
      "claude-code field _other 1",
      "claude-code field spectral_class 1",
    ]);
    expect(drift.every(({ version }) => /^\d+\.\d+\.\d+$/.test(version))).toBe(true);
    expect(values("drift.count")).toEqual({ "event claude-code": 2, "field claude-code": 2 });
    expect(Object.values(values("drift.names")).sort()).toEqual([1, 2]);
    const sent = JSON.stringify(receiver.latestPoints(), (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    for (const name of ["SolarFlare", "spectral_class", KEY]) expect(sent).not.toContain(name);
  });

  test("are limited to two hundred", async () => {
    for (let payload = 0; payload < 10; payload++) {
      const letters = "abcdefghijklmnopqrstuvwxyz".split("");
      const many = Object.fromEntries(letters.map((a) => [`${a}${letters[payload]}`.repeat(3), 1]));
      const stdin = {
        hook_event_name: "Stop",
        session_id: "s1",
        transcript_path: "/home/dev/.claude/projects/p/s1.jsonl",
        ...many,
      };
      replay.put({ received_at: "2026-11-21T11:30:00Z", event: "Stop", stdin });
    }
    await replay.drain({}, at(0));
    const db = openDatabase(replay.places.storePath);
    expect(readDrift(db).length).toBeLessThanOrEqual(201);
    expect(readDrift(db).reduce((sum, { count }) => sum + count, 0)).toBe(260);
    db.close();
  });
});

test("a payload whose file could not be removed is counted once", async () => {
  for (const call of replay.calls) replay.put(call);
  await replay.drain({}, at(0));
  const taken = (() => {
    const db = openDatabase(replay.places.storePath);
    try {
      return db
        .prepare("SELECT name FROM taken ORDER BY name")
        .all()
        .map((row) => String(row["name"]));
    } finally {
      db.close();
    }
  })();
  expect(taken.length).toBe(replay.calls.length);
  // As after a drain that dies between the commit and the removal
  mkdirSync(replay.places.claimedDir, { recursive: true });
  for (const name of taken) {
    replay.put(replay.calls[0] as never);
    const [file] = readdirSync(replay.places.inboxDir);
    renameSync(join(replay.places.inboxDir, String(file)), join(replay.places.claimedDir, name));
  }
  const report = await replay.drain({ isEager: true }, at(MINUTE_MS));
  expect(report.files).toBe(0);
  expect(readdirSync(replay.places.claimedDir)).toEqual([]);
  const counted = Object.values(values("payload.count")).reduce((a, b) => a + b, 0);
  expect(counted).toBe(replay.calls.length);
});

describe("a clock that is far off", () => {
  const HOUR_MS = 60 * MINUTE_MS;
  /** How far ahead of the backend's clock the points of the last request were, in steps of four minutes. */
  const aheadOfBackend = (): readonly number[] => {
    const points = receiver.metricPoints.map(({ timeNs }) => Number(timeNs / 1_000_000n) - Date.now());
    return [Math.min(...points), Math.max(...points)].map((ms) => Math.floor((ms + 2 * MINUTE_MS) / (4 * MINUTE_MS)));
  };

  test.each([
    [1, [0, 0]],
    [-1, [0, 0]],
    [24, [0, 0]],
    // A time that Prometheus accepts stays unchanged
    [8 / 60, [2, 2]],
  ])("by %s hours: metrics are dated by the backend's clock where it would refuse them", async (hours, expected) => {
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true }, { now: () => Date.now() + hours * HOUR_MS, sleep: async () => {} });
    expect(aheadOfBackend()).toEqual(expected);
  });

  test("corrected later: what was sent while it was ahead delays nothing", async () => {
    replay.env = { OPENHOOK_OTEL_OTLP_METRICS_ENDPOINT: `${receiver.url}/v1/metrics` };
    for (const call of replay.calls) replay.put(call);
    await replay.drain({ endIdle: true }, { now: () => Date.now() + 24 * HOUR_MS, sleep: async () => {} });
    expect(aheadOfBackend()).toEqual([24 * 15, 24 * 15]);
    receiver.clear();
    await replay.drain({ isEager: true }, { now: Date.now, sleep: async () => {} });
    expect(aheadOfBackend()).toEqual([0, 0]);
  });
});
