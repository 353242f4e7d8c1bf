import { describe, expect, test } from "vitest";
import type { Counted, Increment, MetricPoint, MetricShape } from "#core/model/telemetry.ts";
import { counterValues, countFacts } from "#store/counters.ts";
import { hasChangedStreams, markSent, type PendingStream, pendingStreams } from "#store/pending-streams.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { rowsOf, temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const NOW_MS = Date.UTC(2026, 9, 5, 12);
const BOUNDS = [1, 2, 4];
const TOKENS: MetricShape = { name: "tokens", unit: "{token}", description: "Tokens", type: "counter", value: "int" };
const LENGTH: MetricShape = {
  name: "length",
  unit: "s",
  description: "Length",
  type: "histogram",
  value: "double",
  bounds: BOUNDS,
};
const SHAPES = new Map([TOKENS, LENGTH].map((shape) => [shape.name, shape]));
const RESOURCE = { "service.name": "claude-code" };

const step = (metric: string, amount: number, attributes: Increment["attributes"] = {}): Increment => ({
  metric,
  amount,
  attributes,
  resource: RESOURCE,
});
let facts = 0;
const fact = (...increments: readonly Increment[]): Counted => ({ key: `fact-${facts++}`, increments });
const only = (streams: readonly PendingStream[]): PendingStream => {
  expect(streams.length).toBe(1);
  return streams[0] as PendingStream;
};
const last = (stream: PendingStream): MetricPoint => stream.points.at(-1) as MetricPoint;

describe("count", () => {
  test("a fact counts only once, also from another connection", () => {
    const [one, other] = [stores.open(), stores.open()];
    const reported = fact(step("tokens", 5));
    expect(countFacts(one, [reported, reported], SHAPES, NOW_MS)).toBe(1);
    expect(countFacts(other, [reported], SHAPES, NOW_MS)).toBe(0);
    expect(counterValues(one)).toMatchObject([{ metric: "tokens", value: 5 }]);
  });

  test("a metric that gets another attribute: what was counted without it stays, and is not counted again", () => {
    const db = stores.open();
    const loaded = fact(step("tokens", 3, { tool: "Skill" }));
    countFacts(db, [loaded], SHAPES, NOW_MS);
    const named = { ...loaded, increments: [step("tokens", 3, { tool: "Skill", skill: "pdf" })] };
    expect(countFacts(db, [named], SHAPES, NOW_MS)).toBe(0);
    countFacts(db, [fact(step("tokens", 4, { tool: "Skill", skill: "pdf" }))], SHAPES, NOW_MS);
    expect(counterValues(db).map(({ attributes, value }) => [attributes["skill"], value])).toEqual([
      [undefined, 3],
      ["pdf", 4],
    ]);
  });

  test("two connections in turn lose nothing", () => {
    const connections = [stores.open(), stores.open()];
    for (let i = 0; i < 50; i++) {
      for (const db of connections) countFacts(db, [fact(step("tokens", 1), step("length", 3))], SHAPES, NOW_MS);
    }
    const [length, tokens] = counterValues(stores.open());
    expect([tokens?.value, length?.value]).toEqual([100, 100]);
  });

  test("a sum that was too high stays until later increments catch up, in any steps", () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.integer({ min: -50, max: 100 }), { maxLength: 3 })), (all) => {
        const db = stores.open(`${stores.folder()}/owed-${facts++}.db`);
        let before = 0;
        for (const amounts of all) {
          countFacts(db, [fact(...amounts.map((amount) => step("tokens", amount)))], SHAPES, NOW_MS);
          const value = counterValues(db)[0]?.value ?? 0;
          expect(value).toBeGreaterThanOrEqual(before);
          before = value;
        }
        const [{ value, owed } = { value: 0, owed: 0 }] = counterValues(db);
        expect(value - owed).toBe(all.flat().reduce((sum, amount) => sum + amount, 0));
        expect(owed).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(50) },
    );
  });

  test("a counter that has not grown is not sent", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 5))], SHAPES, NOW_MS);
    markSent(db, pendingStreams(db, SHAPES, "delta", NOW_MS));
    countFacts(db, [fact(step("tokens", -2))], SHAPES, NOW_MS);
    expect(hasChangedStreams(db)).toBe(false);
    countFacts(db, [fact(step("tokens", 1))], SHAPES, NOW_MS);
    expect(hasChangedStreams(db)).toBe(false);
    countFacts(db, [fact(step("tokens", 3))], SHAPES, NOW_MS);
    expect(last(only(pendingStreams(db, SHAPES, "delta", NOW_MS + 1))).data).toMatchObject({ value: 2 });
  });

  test("attributes in another order are the same stream", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 1, { model: "a", kind: "b" }))], SHAPES, NOW_MS);
    countFacts(db, [fact(step("tokens", 2, { kind: "b", model: "a" }))], SHAPES, NOW_MS);
    countFacts(db, [fact(step("tokens", 4, { kind: "b", model: "c" }))], SHAPES, NOW_MS);
    expect(counterValues(db).map((s) => s.value)).toEqual([3, 4]);
  });

  test("an undeclared metric throws, and nothing is stored", () => {
    const db = stores.open();
    const wrong = () =>
      db.transaction(() => countFacts(db, [fact(step("tokens", 1), step("nonsense", 1))], SHAPES, NOW_MS));
    expect(wrong).toThrow('no metric is called "nonsense"');
    expect(rowsOf(db, "counters")).toEqual([]);
    expect(rowsOf(db, "increments")).toEqual([]);
  });

  test("sums are exact where doubles would not be", () => {
    const db = stores.open();
    const amounts = [2 ** 52, 1, 1, 1];
    for (const amount of amounts) countFacts(db, [fact(step("tokens", amount))], SHAPES, NOW_MS);
    expect(counterValues(db)[0]?.value).toBe(2 ** 52 + 3);
  });

  test("histograms have count, sum, range and buckets; a bound belongs to the bucket below it", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }), (values) => {
        const db = stores.open(":memory:");
        for (const value of values) countFacts(db, [fact(step("length", value))], SHAPES, NOW_MS);
        const data = last(only(pendingStreams(db, SHAPES, "cumulative", NOW_MS))).data;
        const between = (above: number, upTo: number) => values.filter((v) => v > above && v <= upTo).length;
        expect(data).toEqual({
          kind: "histogram",
          count: values.length,
          sum: values.reduce((a, b) => a + b, 0),
          min: Math.min(...values),
          max: Math.max(...values),
          bucketCounts: [between(-1, 1), between(1, 2), between(2, 4), between(4, Infinity)],
        });
        db.close();
      }),
      { numRuns: runs(30) },
    );
  });
});

describe("what is sent to a backend", () => {
  test("a zero point precedes the first value, once", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 5))], SHAPES, NOW_MS);
    const first = only(pendingStreams(db, SHAPES, "cumulative", NOW_MS + 1000));
    expect(first.points.map((p) => [p.timeMs - NOW_MS, p.data])).toEqual([
      [0, { kind: "sum", value: 0 }],
      [1000, { kind: "sum", value: 5 }],
    ]);
    // Not accepted: sent again, unchanged
    expect(only(pendingStreams(db, SHAPES, "cumulative", NOW_MS + 2000)).points.length).toBe(2);
    markSent(db, [first]);
    const next = only(pendingStreams(db, SHAPES, "cumulative", NOW_MS + 3000));
    expect(next.points.map((p) => p.data)).toEqual([{ kind: "sum", value: 5 }]);
    expect(next.points[0]?.startMs).toBe(NOW_MS);
  });

  test("a stream queued for days has its zero point a minute before its first value, not too old for a backend", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 5), step("length", 1))], SHAPES, NOW_MS);
    const nowMs = NOW_MS + 3 * 86_400_000;
    for (const { points } of pendingStreams(db, SHAPES, "cumulative", nowMs)) {
      expect(points.map(({ startMs, timeMs }) => [startMs - NOW_MS, timeMs - nowMs])).toEqual([
        [0, -60_000],
        [0, 0],
      ]);
    }
  });

  test("increases between reading and acknowledging stay pending", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 5), step("length", 1))], SHAPES, NOW_MS);
    const pending = pendingStreams(db, SHAPES, "cumulative", NOW_MS + 1000);
    countFacts(db, [fact(step("tokens", 2))], SHAPES, NOW_MS + 1001);
    markSent(db, pending);
    expect(hasChangedStreams(db)).toBe(true);
    const changed = pendingStreams(db, SHAPES, "delta", NOW_MS + 2000);
    expect(changed.map((s) => [last(s).shape.name, last(s).data])).toEqual([["tokens", { kind: "sum", value: 2 }]]);
    markSent(db, changed);
    expect(hasChangedStreams(db)).toBe(false);
  });

  test("points are newer than the last ones, even if the clock is set back", () => {
    const db = stores.open();
    countFacts(db, [fact(step("tokens", 5))], SHAPES, NOW_MS);
    const before = pendingStreams(db, SHAPES, "cumulative", NOW_MS + 60_000);
    markSent(db, before);
    const after = only(pendingStreams(db, SHAPES, "cumulative", NOW_MS - 3_600_000));
    expect(last(after).timeMs).toBeGreaterThan(last(only(before)).timeMs);
    expect(last(after).timeMs).toBeGreaterThan(last(after).startMs);
  });

  test("deltas add up to the total, whatever is acknowledged, rejected or added in between", () => {
    const action = fc.oneof(
      fc.record({ kind: fc.constant("tokens" as const), amount: fc.nat(1000) }),
      fc.record({ kind: fc.constant("length" as const), amount: fc.nat(6) }),
      fc.record({ kind: fc.constant("send" as const), isAccepted: fc.boolean(), grows: fc.nat(5) }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        const db = stores.open(":memory:");
        let nowMs = NOW_MS;
        const reported = new Map<string, number[]>();
        const windows = new Map<string, number>();
        const send = (isAccepted: boolean, grows: number) => {
          const streams = pendingStreams(db, SHAPES, "delta", nowMs);
          if (grows > 0) countFacts(db, [fact(step("tokens", grows), step("length", grows))], SHAPES, nowMs);
          if (!isAccepted) return;
          for (const stream of streams) {
            for (const point of stream.points) {
              const { name } = point.shape;
              // Time windows follow each other without a gap
              expect(point.startMs).toBe(windows.get(name) ?? point.startMs);
              windows.set(name, point.timeMs);
              const sums = reported.get(name) ?? [];
              reported.set(
                name,
                numbersOf(point).map((n, i) => n + (sums[i] ?? 0)),
              );
            }
          }
          markSent(db, streams);
        };
        for (const act of actions) {
          nowMs += 10;
          if (act.kind === "send") send(act.isAccepted, act.grows);
          else countFacts(db, [fact(step(act.kind, act.amount))], SHAPES, nowMs);
        }
        nowMs += 10;
        send(true, 0);
        for (const stream of pendingStreams(db, SHAPES, "cumulative", nowMs)) {
          const point = last(stream);
          expect(reported.get(point.shape.name)).toEqual(numbersOf(point));
        }
        expect(hasChangedStreams(db)).toBe(false);
        db.close();
      }),
      { numRuns: runs(60) },
    );
  });
});

/** The part of a point that can be added up. */
const numbersOf = ({ data }: MetricPoint): number[] =>
  data.kind === "histogram" ? [data.count, data.sum, ...data.bucketCounts] : [data.value];
