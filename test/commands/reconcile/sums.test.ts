import { describe, expect, test } from "vitest";
import { compareSeries, compareSums } from "#check/reconcile/compare-streams.ts";
import { compareTrace } from "#check/reconcile/compare-traces.ts";
import type { Kind } from "#check/reconcile/facts.ts";
import type { MachineFacts, StoredSpan, StoredStream } from "#check/reconcile/stored.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { timeOf } from "#kit/text/times.ts";

const only = (output: number): Readonly<Record<Kind, number>> => ({
  input: 0,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
});

/** A machine that counted some output tokens; `inSessions` of them are in its sessions, `since` of these after its first stream was created. */
const machine = (counted: number, inSessions: number, since: number, hasPruned: boolean, owed = 0): MachineFacts => ({
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
  tokens: only(inSessions),
  tokensSince: only(since),
  hasPruned,
  droppedSpans: 0,
  missingPoints: 0,
  clockSkewMs: 0,
});

describe("counter sums compared with the sessions in the store", () => {
  test.each([
    ["the same", machine(100, 100, 100, false), 0, 0],
    ["more, and nothing was pruned", machine(101, 100, 100, false), 1, 0],
    ["more, by the amount that is owed", machine(101, 100, 100, false, 1), 0, 0],
    ["more after a prune", machine(101, 100, 100, true), 0, 1],
    ["less, though all of it ended since the first stream was created", machine(99, 100, 100, false), 1, 0],
    ["less in a copied store", machine(60, 100, 60, false), 0, 1],
    ["less than what ended since then", machine(59, 100, 60, false), 1, 0],
    ["less than what ended since then, after a prune", machine(59, 100, 60, true), 1, 0],
  ])("%s", (_, machineFacts, differences, unknown) => {
    const result = compareSums(machineFacts);
    expect([result.differences.length, result.unknown.length]).toEqual([differences, unknown]);
  });
});

describe("series in a Prometheus with one service name for all agents", () => {
  const stream = (source: string, sum: number): StoredStream => ({
    metric: "openhook.turn.count",
    attributes: { "openhook.turn.state": "ended", "openhook.source": source },
    service: "my-laptop",
    value: { sum },
    owed: 0,
    delivered: { sum, atMs: 1 },
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

  test("distinguishes agents by label", () => {
    const streams = [stream("codex", 40), stream("cursor", 1)];
    const agree = compareSeries(streams, [found("codex", 40), found("cursor", 1)], METRIC_SHAPES);
    expect(agree.differences).toEqual([]);
    expect(compareSeries(streams, [found("codex", 40)], METRIC_SHAPES).differences).toHaveLength(1);
    const swapped = compareSeries(streams, [found("codex", 1), found("cursor", 40)], METRIC_SHAPES);
    expect(swapped.differences).toHaveLength(2);
  });
});

describe("a trace in the store and in a backend", () => {
  const span = (spanId: string, isQueued: boolean, parentSpanId = ""): StoredSpan => ({
    traceId: "t",
    spanId,
    parentSpanId,
    name: "chat",
    model: undefined,
    isCall: true,
    figures: { "gen_ai.usage.output_tokens": 7 },
    instanceId: "here",
    isQueued,
  });
  const question = { title: "Jaeger", session: "agent/1", traceId: "t", instanceId: "here", isSampled: false };
  const trace = (...spans: readonly StoredSpan[]) => ({ spans, isPartial: false });

  test("queued spans may be in the backend or not", () => {
    const stored = [span("a", false), span("b", true, "a")];
    expect(compareTrace({ ...question, stored }, trace(span("a", false))).differences).toEqual([]);
    expect(compareTrace({ ...question, stored }, trace(...stored)).found).toHaveLength(2);
  });

  test("counts a duplicated span once and reports it", () => {
    const result = compareTrace({ ...question, stored: [span("a", false)] }, trace(span("a", false), span("a", false)));
    expect(result).toMatchObject({ differences: [], found: [{ spanId: "a" }] });
    expect(result.remarks).toEqual(["agent/1: Jaeger keeps 1 span of trace t more than once"]);
  });

  test("an unknown span is a difference only if it came from this machine", () => {
    const stored = [span("a", false)];
    const there = { ...span("c", false), instanceId: "there" };
    expect(compareTrace({ ...question, stored }, trace(span("a", false), there)).differences).toEqual([]);
    expect(compareTrace({ ...question, stored }, trace(span("a", false), span("c", false))).differences).toHaveLength(
      1,
    );
  });

  test("a missing trace is a difference if it was delivered, none if it is queued, and unknown behind a sampler", () => {
    const missing = (isQueued: boolean, isSampled: boolean) =>
      compareTrace({ ...question, isSampled, stored: [span("a", isQueued)] }, undefined);
    expect(missing(false, false).differences).toHaveLength(1);
    expect(missing(true, false)).toMatchObject({ differences: [], unknown: [] });
    expect(missing(false, true)).toMatchObject({ differences: [] });
    expect(missing(false, true).unknown).toHaveLength(1);
  });
});

describe("times of options", () => {
  const nowMs = Date.parse("2026-11-21T12:00:00Z");
  test.each([
    ["36h", nowMs - 36 * 3_600_000],
    ["2w", nowMs - 14 * 86_400_000],
    ["2026-11-14", new Date(2026, 10, 14).getTime()],
    ["2026-11-14T09:30", new Date(2026, 10, 14, 9, 30).getTime()],
    ["2026-11-14T09:30:00Z", Date.UTC(2026, 10, 14, 9, 30)],
  ])("%s", (text, ms) => expect(timeOf("--since", text, nowMs)).toBe(ms));

  test.each(["", "7", "d7", "14.11.2026", "2026-13-40", "7y", "2026-11-14 09:30"])("%j is not a time", (text) => {
    expect(() => timeOf("--since", text, nowMs)).toThrow(/takes an age like/);
  });
});
