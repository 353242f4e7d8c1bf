import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collectStatus } from "#check/health/examine.ts";
import type { DrainReport } from "#collect/drain/context.ts";
import { reconcile } from "#commands/reconcile.ts";
import { readStore } from "#store/read-only.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

let receiver: Receiver;
let replay: Replay;
beforeEach(async () => {
  receiver = await startReceiver();
  replay = new Replay("claude-code", "multi-turn");
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url };
});
afterEach(async () => {
  await receiver.close();
  replay.remove();
});

const METRIC = "openhook.token.usage";
const rejectAllPoints = (): void =>
  receiver.setBehaviour(({ path }) =>
    path.endsWith("/v1/metrics")
      ? { partial: { rejected: 1e6, message: "cumulative sums are not supported" } }
      : undefined,
  );
const half = (): number => Math.ceil(replay.calls.length / 2);

/** The sum of all deltas that the backend took. */
const received = (): number =>
  receiver.metricPoints
    .filter(({ name }) => name === METRIC)
    .reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0);

function stored(): { readonly all: number; readonly sent: number; readonly okMs: string | undefined } {
  const found = readStore(replay.places.storePath, (db) => {
    const row = db
      .prepare("SELECT sum(value) AS value, sum(coalesce(sent_value, 0)) AS sent FROM counters WHERE metric = ?")
      .get(METRIC);
    const ok = db.prepare("SELECT value FROM meta WHERE key = 'metrics.last_ok_ms'").get();
    return {
      all: Number(row?.["value"]),
      sent: Number(row?.["sent"]),
      okMs: ok === undefined ? undefined : String(ok["value"]),
    };
  });
  if (found === undefined) throw new Error("no store");
  return found;
}

describe("a backend that accepts a request and rejects every point in it", () => {
  test.each(["cumulative", "delta"])(
    "%s first: nothing counts as sent, deltas deliver all of it later",
    async (first) => {
      rejectAllPoints();
      replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: first };
      for (const call of replay.calls.slice(0, half())) replay.put(call);
      const { problems, metricsSent } = await replay.drain({ isEager: true });
      expect(metricsSent).toBe(false);
      expect(problems).toContainEqual(expect.stringMatching(/^metrics: cumulative sums are not supported/));
      expect(stored()).toMatchObject({ sent: 0, okMs: undefined });

      receiver.clear();
      receiver.setBehaviour(undefined);
      replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "delta" };
      for (const call of replay.calls.slice(half())) replay.put(call);
      await replay.drain({ isEager: true, endIdle: true });
      await replay.drain({ isEager: true, endIdle: true });
      const { all, sent } = stored();
      expect(all).toBeGreaterThan(0);
      expect(sent).toBe(all);
      expect(received()).toBe(all);
    },
  );
});

test("a backend that rejects at least as many points as there are counters: every delta arrives once", async () => {
  replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "delta" };
  for (const call of replay.calls.slice(0, half())) replay.put(call);
  const kindsOfRequests = () =>
    receiver.requests
      .filter(({ metricPoints }) => metricPoints.length > 0)
      .map(({ metricPoints }) => metricPoints.map(({ data }) => data.kind));
  rejectAllPoints();
  await replay.drain({ isEager: true });
  const [gauges, counters] = [true, false].map(
    (isGauge) =>
      kindsOfRequests()
        .flat()
        .filter((kind) => (kind === "gauge") === isGauge).length,
  );

  receiver.clear();
  // More than all counters, and fewer than all points
  const rejected = (counters ?? 0) + Math.floor((gauges ?? 0) / 2);
  receiver.setBehaviour(({ path }) =>
    path.endsWith("/v1/metrics") ? { partial: { rejected, message: "limit of points" } } : undefined,
  );
  await replay.drain({ isEager: true });
  expect(kindsOfRequests().flat()).toContain("gauge");
  for (const kinds of kindsOfRequests()) expect(new Set(kinds.map((kind) => kind === "gauge")).size).toBe(1);

  receiver.setBehaviour(undefined);
  for (const call of replay.calls.slice(half())) replay.put(call);
  await replay.drain({ isEager: true, endIdle: true });
  const { all, sent } = stored();
  expect(sent).toBe(all);
  expect(received()).toBe(all);
});

describe("a backend that rejects some points of a delta, without naming them", () => {
  const statusOf = async () => {
    const { context } = contextAt(replay.places, { env: replay.env });
    return collectStatus(context);
  };
  const reconciled = async () => {
    const world = contextAt(replay.places, { env: replay.env });
    await reconcile(undefined, { since: "2020-01-01", sampled: false, json: true }, world.context);
    return JSON.parse(world.out());
  };
  const drainHalf = async (from: number, to?: number): Promise<DrainReport> => {
    for (const call of replay.calls.slice(from, to)) replay.put(call);
    return replay.drain({ isEager: true, endIdle: to === undefined });
  };

  test("counts them as dropped, never as delivered, and cumulative sums repair them", async () => {
    replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "delta" };
    receiver.setBehaviour(({ path }) =>
      path.endsWith("/v1/metrics") ? { partial: { rejected: 3, message: "limit of series" } } : undefined,
    );
    // 3 counters in one request, 3 gauges in the other
    const { rejected } = await drainHalf(0, half());
    expect(rejected).toBe(6);
    const status = await statusOf();
    expect(status.self).toMatchObject({ dropped_points: 3, missing_points: 3 });
    expect(status.remarks).toContainEqual(expect.stringMatching(/rejected 3 metric points of deltas.*dropped/));
    const { unknown, counters } = await reconciled();
    expect(unknown).toContainEqual(expect.stringMatching(/^the backend rejected 3 metric points of deltas/));
    expect(counters.tokens.output).toMatchObject({ delivered: null });

    // Nothing is sent twice, and the loss is reported as a metric
    receiver.clear();
    receiver.setBehaviour(undefined);
    await drainHalf(half());
    const dropped = receiver.metricPoints.filter(
      ({ name, attributes }) =>
        name === "openhook.collector.dropped.count" && attributes["openhook.collector.reason"] === "rejected_points",
    );
    expect(dropped.map(({ data }) => data.kind === "sum" && data.value)).toEqual([3]);
    const { all } = stored();
    expect(received()).toBeLessThan(all);
    expect((await statusOf()).self).toMatchObject({ dropped_points: 3, missing_points: 3 });

    receiver.clear();
    replay.env = { ...replay.env, OPENHOOK_OTEL_OTLP_METRICS_TEMPORALITY: "cumulative" };
    await replay.drain({ isEager: true });
    const sums = receiver.latestPoints().filter(({ name }) => name === METRIC);
    expect(sums.reduce((sum, { data }) => sum + (data.kind === "sum" ? data.value : 0), 0)).toBe(all);
    expect((await statusOf()).self).toMatchObject({ dropped_points: 3, missing_points: 0 });
    expect((await reconciled()).counters.tokens.output.delivered).toBeGreaterThan(0);
  });
});

describe("a backend whose clock cannot be right", () => {
  test.each(["Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"])(
    "%s: every point has this machine's time",
    async (date) => {
      receiver.setBehaviour(() => ({ headers: { date } }));
      const beganMs = Date.now();
      for (const call of replay.calls.slice(0, half())) replay.put(call);
      await replay.drain({ isEager: true });
      for (const call of replay.calls.slice(half())) replay.put(call);
      await replay.drain({ isEager: true, endIdle: true });
      const points = receiver.metricPoints;
      expect(points.length).toBeGreaterThan(10);
      for (const { startNs, timeNs } of points) {
        for (const ns of [startNs, timeNs]) {
          expect(Number(ns / 1_000_000n)).toBeGreaterThan(beganMs - 120_000);
          expect(Number(ns / 1_000_000n)).toBeLessThan(Date.now() + 120_000);
        }
      }
    },
  );
});
