import { describe, expect, test } from "vitest";
import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { callsOfSpans } from "#show/report/waterfall/row-sums.ts";
import { toColumns } from "#show/view/data/columns.ts";
import { insideOf, isWorking, readSpans } from "#show/view/page/session/spans.ts";
import { FULL_VIEW, makeAxis, positionOf, ticksOf, timeAt, zoomed } from "#show/view/page/session/waterfall/axis.ts";
import { findSpans, nextFailed, orderOf, rowOf, visibleRows } from "#show/view/page/session/waterfall/visible-rows.ts";
import { safeLines, safeText } from "#show/view/page/text/safe-text.ts";
import fc from "../support/properties.ts";

const id = (n: number): string => n.toString(16).padStart(16, "0");

function span(
  n: number,
  parent: number | undefined,
  startMs: number,
  endMs: number,
  more: Partial<SpanRecord> = {},
): SpanRecord {
  return {
    traceId: "0".repeat(31).concat("1"),
    spanId: id(n),
    ...(parent !== undefined && { parentSpanId: id(parent) }),
    name: `execute_tool tool-${n}`,
    kind: "internal",
    startMs,
    endMs,
    status: { code: "unset" },
    attributes: { [semconv.OPENHOOK_SPAN_KIND]: "tool_call" },
    links: [],
    events: [],
    resource: {},
    ...more,
  };
}
const shown = (record: SpanRecord, open = false) => ({ record, segment: 0, open });
const columnsOf = (spans: readonly ReturnType<typeof shown>[]) => toColumns(spans, callsOfSpans(spans), new Map());
const spansOf = (...records: readonly SpanRecord[]) => readSpans(columnsOf(records.map((record) => shown(record))));
const root = (endMs: number) => span(1, undefined, 0, endMs, kind("session"));
const turn = (n: number) => span(n, 1, n, n + 1, kind("turn"));
const subagent = (n: number, parent: number) => span(n, parent, n, n + 1, kind("subagent"));
const kind = (name: string) => ({
  attributes: { [semconv.OPENHOOK_SPAN_KIND]: name, [semconv.OPENHOOK_MODEL_CALLS]: 0 },
});
const call = (n: number, parent: number, input?: number, cost?: number): SpanRecord =>
  span(n, parent, n, n + 1, {
    attributes: {
      [semconv.OPENHOOK_SPAN_KIND]: "model_call",
      ...(input !== undefined && {
        [semconv.GEN_AI_USAGE_INPUT_TOKENS]: input,
        [semconv.GEN_AI_USAGE_OUTPUT_TOKENS]: 1,
      }),
      ...(cost !== undefined && { [semconv.OPENHOOK_COST_USD]: cost }),
    },
  });

/** Any forest, and spans that are each other's parents. */
const anySpans = fc
  .array(
    fc.record({
      parent: fc.integer({ min: 0, max: 40 }),
      start: fc.integer({ min: 0, max: 1e6 }),
      length: fc.nat(1e5),
      error: fc.boolean(),
    }),
    {
      maxLength: 40,
    },
  )
  .map((all) =>
    all.map(({ parent, start, length, error }, n) =>
      span(n, parent === n ? undefined : parent, start, start + length, error ? { status: { code: "error" } } : {}),
    ),
  );

describe("rows", () => {
  test("every span has one row, followed by its descendants, whatever the parents are", () => {
    fc.assert(
      fc.property(anySpans, (records) => {
        const spans = spansOf(...records);
        const ids = Array.from({ length: spans.count }, (_, i) => spans.idOf(i));
        expect([...ids].sort()).toEqual(records.map(({ spanId }) => spanId).sort());
        for (let i = 0; i < spans.count; i++) {
          const parent = spans.parent[i] ?? -1;
          expect(spans.indexOf(spans.idOf(i))).toBe(i);
          if (parent < 0) continue;
          expect(parent).toBeLessThan(i);
          expect(i).toBeLessThan(parent + (spans.size[parent] ?? 0));
          expect(spans.depth[i]).toBe((spans.depth[parent] ?? 0) + 1);
        }
      }),
    );
  });

  test("collapsing hides descendants at any depth; search still finds them", () => {
    fc.assert(
      fc.property(anySpans, fc.nat(39), (records, which) => {
        const spans = spansOf(...records);
        fc.pre(which < spans.count);
        const order = orderOf(spans, "time");
        const all = visibleRows(spans, { collapsed: new Set(), errorsOnly: false, order });
        expect(all.rows).toHaveLength(spans.count);
        const folded = visibleRows(spans, { collapsed: new Set([spans.idOf(which)]), errorsOnly: false, order });
        expect(folded.rows).toHaveLength(spans.count - (spans.size[which] ?? 1) + 1);
        for (let i = which; i < which + (spans.size[which] ?? 1); i++) {
          expect(folded.rows[rowOf(folded, spans, i)]).toBe(which);
        }
        const failed = visibleRows(spans, { collapsed: new Set([spans.idOf(which)]), errorsOnly: true, order });
        expect(failed.hitCount).toBe(records.filter(({ status }) => status.code === "error").length);
        for (const row of failed.rows) {
          const inside = failed.hits?.subarray(row, row + (spans.size[row] ?? 1));
          expect(inside?.includes(1)).toBe(true);
        }
      }),
    );
  });

  test("the next failed span wraps around", () => {
    const failed = { status: { code: "error" } } as const;
    const spans = spansOf(root(90), span(2, 1, 1, 2, failed), span(3, 1, 3, 4), span(4, 1, 5, 6, failed));
    const from = (span: number, step: 1 | -1) => nextFailed(spans, orderOf(spans, "time"), span, step);
    expect([from(0, 1), from(1, 1), from(3, 1), from(0, -1)]).toEqual([1, 3, 1, 3]);
    expect(nextFailed(spansOf(root(9)), Int32Array.of(0), 0, 1)).toBe(-1);
  });

  test("sorted by duration: siblings from long to short, each followed by its descendants, and none is lost", () => {
    fc.assert(
      fc.property(anySpans, (records) => {
        const spans = spansOf(...records);
        const order = [...orderOf(spans, "duration")];
        expect(order.toSorted((a, b) => a - b)).toEqual([...orderOf(spans, "time")]);
        const length = (i: number): number => (spans.endMs[i] ?? 0) - (spans.startMs[i] ?? 0);
        const last = new Map<number, number>();
        for (const [at, span] of order.entries()) {
          const parent = spans.parent[span] ?? -1;
          if (parent >= 0) expect(order.slice(0, at)).toContain(parent);
          expect(length(span)).toBeLessThanOrEqual(last.get(parent) ?? Infinity);
          last.set(parent, length(span));
        }
      }),
    );
  });

  test("sorted by cost: a turn counts with all its calls, also those of subagents", () => {
    const call = (n: number, parent: number, cost: number): SpanRecord =>
      span(n, parent, n, n + 1, {
        attributes: { [semconv.OPENHOOK_SPAN_KIND]: "model_call", [semconv.OPENHOOK_COST_USD]: cost },
      });
    const spans = spansOf(
      root(99),
      span(2, 1, 2, 9),
      call(3, 2, 0.1),
      span(4, 1, 4, 9),
      call(5, 4, 0.1),
      call(6, 4, 0.2),
    );
    expect([...orderOf(spans, "cost")].map((i) => Number(spans.idOf(i)))).toEqual([1, 4, 6, 5, 2, 3]);
  });

  test("search: every word must match a name, a state or an attribute", () => {
    const failed = { status: { code: "error" } } as const;
    const spans = spansOf(root(90), span(2, 1, 1, 2, failed), span(3, 1, 3, 4), span(4, 1, 5, 6, failed));
    const attributes = new Map([["exit", new Set([1, 2])]]);
    const found = (search: string) =>
      [...findSpans(spans, search, attributes)].flatMap((hit, i) => (hit === 1 ? [i] : []));
    expect(found("failed")).toEqual([1, 3]);
    expect(found("ERROR tool-4")).toEqual([3]);
    expect(found("exit")).toEqual([1, 2]);
    expect(found("exit failed")).toEqual([1]);
    expect(found("session")).toEqual([0]);
    expect(found("nothing")).toEqual([]);
  });

  test("a row's figures include everything inside it; unknown stays unknown, partly known is a lower bound", () => {
    const figures = (...calls: readonly SpanRecord[]) => {
      const spans = spansOf(root(9), ...calls);
      const least = (["inputIsLowerBound", "outputIsLowerBound", "costIsLowerBound"] as const).map((flag) =>
        spans.has(0, flag),
      );
      return [spans.callsOf(0), spans.inputOf(0), spans.outputOf(0), spans.costOf(0), ...least];
    };
    expect(figures(call(2, 1, 10, 0.5), call(3, 1, 5, 0.25))).toEqual([2, 15, 2, 0.75, false, false, false]);
    expect(figures(call(2, 1, 10, 0.5), call(3, 1, 5))).toEqual([2, 15, 2, 0.5, false, false, true]);
    expect(figures(call(2, 1, 10, 0.5), call(3, 1))).toEqual([2, 10, 1, 0.5, true, true, true]);
    expect(figures(call(2, 1))).toEqual([1, null, null, null, true, true, true]);
    const unknown = spansOf(root(9), call(2, 1));
    expect([unknown.has(0, "unknownTokens"), unknown.has(0, "unknownCost")]).toEqual([true, true]);
  });

  test("by cost: the shown figures are in descending order, with the cost of subagents", () => {
    const spans = spansOf(
      ...[root(90), turn(2), call(3, 2, 1, 0.1), call(4, 2, 1, 0.3), subagent(5, 2), call(6, 5, 1, 0.2)],
      ...[turn(7), call(8, 7, 1, 0.5), turn(9), call(10, 9, 1)],
    );
    const order = [...orderOf(spans, "cost")].map((index) => [spans.idOf(index), spans.costOf(index)]);
    expect(order).toEqual(
      [
        ...[[1, 1.1] as const, [2, 0.6] as const, [4, 0.3] as const, [5, 0.2] as const, [6, 0.2] as const],
        ...[[3, 0.1] as const, [7, 0.5] as const, [8, 0.5] as const, [9, null] as const, [10, null] as const],
      ].map(([n, cost]) => [id(n), cost]),
    );
  });

  test("details say how much of a row's cost is its subagents', each once", () => {
    const spans = spansOf(
      ...[root(90), turn(2), call(3, 2, 1, 0.1), subagent(4, 2), call(5, 4, 1, 0.2)],
      ...[subagent(6, 4), call(7, 6, 1, 0.4), subagent(8, 2), call(9, 8, 1)],
    );
    expect(insideOf(spans, spans.indexOf(id(2)))).toEqual({
      calls: 4,
      tools: 0,
      subagents: 3,
      subagentCostUsd: expect.closeTo(0.6, 9),
      subagentCostIsLowerBound: true,
    });
    expect(insideOf(spans, spans.indexOf(id(6)))).toMatchObject({ calls: 1, subagents: 0, subagentCostUsd: null });
  });
});

test("running spans grow until now, ended ones do not; a session that waits for the user runs nothing", () => {
  const columns = (isToolOpen: boolean) =>
    columnsOf([shown(root(50), true), shown(span(2, 1, 10, 20), isToolOpen), shown(span(3, 1, 20, 30))]);
  const grown = readSpans(columns(true), 5000);
  expect([...grown.endMs]).toEqual([5000, 5000, 30]);
  expect([...readSpans(columns(true)).endMs]).toEqual([50, 50, 30]);
  expect([isWorking(columns(true)), isWorking(columns(false))]).toEqual([true, false]);
});

describe("the axis", () => {
  test("maps time to position and back monotonically, with any pauses", () => {
    fc.assert(
      fc.property(
        anySpans,
        fc.boolean(),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (records, shorten, places) => {
          const spans = spansOf(
            ...records,
            span(99, undefined, 0, 2e6, { attributes: { [semconv.OPENHOOK_SPAN_KIND]: "session" } }),
          );
          const axis = makeAxis(spans, shorten);
          expect(positionOf(axis, 0)).toBe(0);
          expect(positionOf(axis, axis.endMs)).toBeCloseTo(1, 9);
          const rising = [...places].sort((a, b) => a - b).map((place) => timeAt(axis, place));
          for (const [i, ms] of rising.entries()) {
            expect(ms).toBeGreaterThanOrEqual(rising[i - 1] ?? 0);
            expect(timeAt(axis, positionOf(axis, ms))).toBeCloseTo(ms, 3);
          }
        },
      ),
    );
  });

  test("a day between two turns takes a quarter of the width, or its real share in scale mode", () => {
    const day = 86_400_000;
    const spans = spansOf(root(day + 60_000), span(2, 1, 0, 60_000), span(3, 1, day, day + 60_000));
    const axis = makeAxis(spans, true);
    expect(axis.pauses).toEqual([
      { startMs: 60_000, endMs: day, from: positionOf(axis, 60_000), to: positionOf(axis, day) },
    ]);
    expect(positionOf(axis, day) - positionOf(axis, 60_000)).toBeCloseTo(0.25, 6);
    expect(makeAxis(spans, false).pauses).toEqual([]);
    expect(positionOf(makeAxis(spans, false), 60_000)).toBeLessThan(0.001);
  });

  test("zooming stays within bounds and keeps the position under the pointer", () => {
    const axis = makeAxis(spansOf(root(100_000), span(2, 1, 0, 100_000)), true);
    expect(zoomed(axis, FULL_VIEW, 0.5, 2)).toEqual(FULL_VIEW);
    const half = zoomed(axis, FULL_VIEW, 0.3, 0.5);
    expect((0.3 - half.from) / (half.to - half.from)).toBeCloseTo(0.3, 6);
    let frame = FULL_VIEW;
    for (let i = 0; i < 200; i++) frame = zoomed(axis, frame, 0.3, 0.5);
    expect((frame.to - frame.from) * axis.endMs).toBeGreaterThan(1);
    for (const window of [FULL_VIEW, half, frame]) {
      const ticks = ticksOf(axis, window, 8);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(20);
      for (const { at } of ticks) expect(at).toBeGreaterThanOrEqual(-1e-6);
    }
  });
});

test("invisible and direction-changing characters are escaped", () => {
  expect(safeText("a\u202eb\u0007c\u200b\ufeff")).toBe("a\\u{202e}b\\u{7}c\\u{200b}\\u{feff}");
  expect(safeText("<b>é 漢字 👩‍💻</b>\n")).toBe("<b>é 漢字 👩‍💻</b>\\u{a}");
  expect(safeLines("one\n\ttwo\u001b[31m")).toBe("one\n\ttwo\\u{1b}[31m");
});
