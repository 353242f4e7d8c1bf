import { describe, expect, test } from "vitest";
import type { Kind } from "../../../src/reconcile/facts.ts";
import type { MachineBook, StoredSpan, StoredStream } from "../../../src/reconcile/stored.ts";
import { compareSeries, compareSums } from "../../../src/reconcile/streams.ts";
import { compareTree } from "../../../src/reconcile/trees.ts";
import { METRIC_SHAPES } from "../../../src/telemetry/shapes.ts";
import { timeOf } from "../../../src/text/times.ts";

const only = (output: number): Readonly<Record<Kind, number>> => ({
  input: 0,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
});

/** A machine that counted some output tokens; of those, and since the sums were begun, its sessions still tell so many. */
const machine = (counted: number, told: number, toldSince: number, hasPruned: boolean, owed = 0): MachineBook => ({
  instanceId: "a",
  streams: [
    {
      metric: "openhook.token.usage",
      attributes: { "openhook.token.type": "output" },
      service: "agent",
      value: { sum: counted },
      owed,
    },
  ],
  tokens: only(told),
  tokensSince: only(toldSince),
  hasPruned,
  givenUp: 0,
  clockSkewMs: 0,
});

describe("the sums of the counters against the sessions of the store", () => {
  test.each([
    ["the same", machine(100, 100, 100, false), 0, 0],
    ["more, and nothing was pruned", machine(101, 100, 100, false), 1, 0],
    ["more, and so much is owed", machine(101, 100, 100, false, 1), 0, 0],
    ["more after a prune", machine(101, 100, 100, true), 0, 1],
    ["less, and all of it ended since the sums were begun", machine(99, 100, 100, false), 1, 0],
    ["less in a store that was copied", machine(60, 100, 60, false), 0, 1],
    ["less than what ended since then", machine(59, 100, 60, false), 1, 0],
    ["less than what ended since then, after a prune", machine(59, 100, 60, true), 1, 0],
  ])("%s", (_, book, differences, unknown) => {
    const said = compareSums(book);
    expect([said.differences.length, said.unknown.length]).toEqual([differences, unknown]);
  });
});

describe("the series of a Prometheus that has one service name for all agents", () => {
  const stream = (source: string, sum: number): StoredStream => ({
    metric: "openhook.turn.count",
    attributes: { "openhook.turn.state": "ended", "openhook.source": source },
    service: "my-laptop",
    value: { sum },
    owed: 0,
    told: { sum, atMs: 1 },
  });
  const labels = (openhook_source: string) => ({
    service_name: "my-laptop",
    openhook_turn_state: "ended",
    openhook_source,
  });
  const found = (source: string, value: number) => ({
    name: "openhook_turn_count_total",
    labels: labels(source),
    value,
  });

  test("each agent's is its own", () => {
    const streams = [stream("codex", 40), stream("cursor", 1)];
    const agree = compareSeries(streams, [found("codex", 40), found("cursor", 1)], METRIC_SHAPES);
    expect(agree.differences).toEqual([]);
    expect(compareSeries(streams, [found("codex", 40)], METRIC_SHAPES).differences).toHaveLength(1);
    const swapped = compareSeries(streams, [found("codex", 1), found("cursor", 40)], METRIC_SHAPES);
    expect(swapped.differences).toHaveLength(2);
  });
});

describe("a trace by the store and by a backend", () => {
  const span = (spanId: string, waits: boolean, parentSpanId = ""): StoredSpan => ({
    traceId: "t",
    spanId,
    parentSpanId,
    name: "chat",
    model: undefined,
    isCall: true,
    figures: { "gen_ai.usage.output_tokens": 7 },
    instanceId: "here",
    waits,
  });
  const question = { title: "Jaeger", session: "agent/1", traceId: "t", instanceId: "here", isSampled: false };
  const trace = (...spans: readonly StoredSpan[]) => ({ spans, isPartial: false });

  test("what waits may be there and need not", () => {
    const stored = [span("a", false), span("b", true, "a")];
    expect(compareTree({ ...question, stored }, trace(span("a", false))).differences).toEqual([]);
    expect(compareTree({ ...question, stored }, trace(...stored)).found).toHaveLength(2);
  });

  test("a span that is kept twice is one span, and said so", () => {
    const said = compareTree({ ...question, stored: [span("a", false)] }, trace(span("a", false), span("a", false)));
    expect(said).toMatchObject({ differences: [], found: [{ spanId: "a" }] });
    expect(said.remarks).toEqual(["agent/1: Jaeger keeps 1 span of trace t more than once"]);
  });

  test("what another machine sent into it is no difference; what came from here is", () => {
    const stored = [span("a", false)];
    const there = { ...span("c", false), instanceId: "there" };
    expect(compareTree({ ...question, stored }, trace(span("a", false), there)).differences).toEqual([]);
    expect(compareTree({ ...question, stored }, trace(span("a", false), span("c", false))).differences).toHaveLength(1);
  });

  test("a trace that is missing whole: delivered, waiting, sampled", () => {
    const missing = (waits: boolean, isSampled: boolean) =>
      compareTree({ ...question, isSampled, stored: [span("a", waits)] }, undefined);
    expect(missing(false, false).differences).toHaveLength(1);
    expect(missing(true, false)).toMatchObject({ differences: [], unknown: [] });
    expect(missing(false, true)).toMatchObject({ differences: [] });
    expect(missing(false, true).unknown).toHaveLength(1);
  });
});

describe("times", () => {
  const nowMs = Date.parse("2026-11-21T12:00:00Z");
  test.each([
    ["36h", nowMs - 36 * 3_600_000],
    ["2w", nowMs - 14 * 86_400_000],
    ["2026-11-14", new Date(2026, 10, 14).getTime()],
    ["2026-11-14T09:30", new Date(2026, 10, 14, 9, 30).getTime()],
    ["2026-11-14T09:30:00Z", Date.UTC(2026, 10, 14, 9, 30)],
  ])("%s", (text, ms) => expect(timeOf("--since", text, nowMs)).toBe(ms));

  test.each(["", "7", "d7", "14.11.2026", "2026-13-40", "7y", "2026-11-14 09:30"])("%j is none", (text) => {
    expect(() => timeOf("--since", text, nowMs)).toThrow(/takes an age like/);
  });
});
