import { describe, expect, test } from "vitest";
import type { Counted } from "#core/model/telemetry.ts";
import { METRIC_SHAPES, VERSION_METRICS } from "#core/telemetry/shapes.ts";
import {
  forgetRetired,
  MAX_OVERFLOW_SERIES,
  MAX_SERIES,
  MAX_SERIES_OF_SESSION,
  makeRoom,
  overflowState,
  retireStreams,
  retireVersions,
  SHOWN_MS,
} from "#store/cardinality.ts";
import { counterValues, countFacts } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import { markSent, pendingStreams } from "#store/pending-streams.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const NOW_MS = Date.UTC(2026, 9, 5, 12);
const DAY_MS = 86_400_000;
const METRIC = "openhook.tool.call.count";

let facts = 0;
const call = (session: string, tool: string): Counted => ({
  key: JSON.stringify(["claude-code", session, "tool", facts++]),
  increments: [
    {
      metric: METRIC,
      amount: 1,
      attributes: { "gen_ai.tool.name": tool },
      resource: { "service.name": "claude-code" },
    },
  ],
});
const count = (db: Database, some: readonly Counted[], ms = NOW_MS): number => countFacts(db, some, METRIC_SHAPES, ms);
const calls = (session: string, n: number): Counted[] =>
  Array.from({ length: n }, (_, i) => call(session, `${session}-${i}`));
const pending = (db: Database, ms: number) => pendingStreams(db, METRIC_SHAPES, "cumulative", ms);
const deliver = (db: Database, ms: number): void => markSent(db, pending(db, ms));
const total = (db: Database): number => counterValues(db).reduce((sum, { value }) => sum + value, 0);
const tools = (db: Database): readonly unknown[] =>
  pending(db, NOW_MS).map(({ points }) => points[0]?.attributes["gen_ai.tool.name"] ?? "overflow");

/** Fills a metric with series until it has no room for another. */
function fill(db: Database): void {
  for (let n = 0; tools(db).length < MAX_SERIES - MAX_OVERFLOW_SERIES; n++)
    count(db, calls(`s${n}`, MAX_SERIES_OF_SESSION));
  count(db, [call("late", "Late")]);
  expect(tools(db)).not.toContain("Late");
}

describe("the series limit", () => {
  test("one session cannot use up the limit: its later series overflow, those of others do not", () => {
    const db = stores.open();
    count(db, calls("greedy", 2_100));
    count(db, [call("other", "Bash"), call("greedy", "Bash"), call("greedy", "greedy-0"), call("greedy", "one more")]);
    const names = tools(db);
    expect(names).toHaveLength(MAX_SERIES_OF_SESSION + 2);
    expect(names).toEqual(expect.arrayContaining(["Bash", "greedy-0", "overflow"]));
    expect(total(db)).toBe(2_104);
    expect(overflowState(db)).toEqual([
      {
        metric: METRIC,
        series: MAX_SERIES_OF_SESSION + 2,
        amount: 2_100 - MAX_SERIES_OF_SESSION + 1,
        madeMost: { session: "claude-code/greedy", series: MAX_SERIES_OF_SESSION },
      },
    ]);
  });

  // Fills every series; the next test has the rule with few
  if (IS_WHOLE)
    test("series that did not change for a day make room, and sums stay", () => {
      const db = stores.open();
      fill(db);
      const before = total(db);
      makeRoom(db, NOW_MS + 2 * DAY_MS);
      expect(tools(db)).toHaveLength(MAX_SERIES - MAX_OVERFLOW_SERIES + 1);
      deliver(db, NOW_MS + 1);
      makeRoom(db, NOW_MS + DAY_MS / 2);
      expect(tools(db)).toHaveLength(MAX_SERIES - MAX_OVERFLOW_SERIES + 1);
      makeRoom(db, NOW_MS + 2 * DAY_MS);
      expect(overflowState(db)).toEqual([]);
      count(db, [call("later", "Later")], NOW_MS + 2 * DAY_MS);
      expect(tools(db)).toEqual(["Later"]);
      expect(total(db)).toBe(before + 1);
    });

  test("pruning makes room, and unsent series stay", () => {
    const db = stores.open();
    count(db, calls("a", 3));
    deliver(db, NOW_MS + 1);
    count(db, [call("b", "Read")], NOW_MS + 2);
    retireStreams(db, NOW_MS + 10);
    expect(tools(db)).toEqual(["Read"]);
  });

  test("series of versions make room a week after their last turn, and no sum is lost", () => {
    const db = stores.open();
    const turn = (version: string): Counted => ({
      key: JSON.stringify(["claude-code", "a", "turn", facts++]),
      increments: [
        {
          metric: "openhook.version.turn.count",
          amount: 1,
          attributes: { "openhook.source.version": version },
          resource: { "service.name": "claude-code" },
        },
      ],
    });
    const sent = (ms: number) => {
      const points = pending(db, ms).flatMap((stream) => stream.points);
      return [...new Set(points.map(({ attributes }) => Object.values(attributes)[0]))];
    };
    count(db, [turn("2.1.9"), call("a", "Bash")]);
    deliver(db, NOW_MS + 1);
    count(db, [turn("2.1.10")], NOW_MS + DAY_MS);
    retireVersions(db, VERSION_METRICS, NOW_MS + 7 * DAY_MS);
    expect(sent(NOW_MS + 7 * DAY_MS)).toEqual(["2.1.9", "Bash", "2.1.10"]);
    // The last one was not sent yet
    retireVersions(db, VERSION_METRICS, NOW_MS + 9 * DAY_MS);
    expect(sent(NOW_MS + 9 * DAY_MS)).toEqual(["Bash", "2.1.10"]);
    // Somebody goes back
    count(db, [turn("2.1.9")], NOW_MS + 10 * DAY_MS);
    expect(pending(db, NOW_MS + 10 * DAY_MS)[0]?.points).toMatchObject([{ startMs: NOW_MS, data: { value: 2 } }]);
    expect(total(db)).toBe(4);
  });

  test("a series that increases again continues while backends still show it", () => {
    const db = stores.open();
    count(db, [call("a", "Bash")]);
    deliver(db, NOW_MS + 1);
    retireStreams(db, NOW_MS + 10);
    expect(pending(db, NOW_MS + 20)).toEqual([]);
    count(db, [call("b", "Bash")], NOW_MS + DAY_MS);
    const [points] = pending(db, NOW_MS + DAY_MS).map((stream) => stream.points);
    expect(points).toMatchObject([{ startMs: NOW_MS, data: { value: 2 } }]);
  });

  test("a series that increases again later begins at zero, and the old sum is not lost", () => {
    const db = stores.open();
    count(db, [call("a", "Bash")]);
    deliver(db, NOW_MS + 1);
    retireStreams(db, NOW_MS + 10);
    const backMs = NOW_MS + SHOWN_MS + DAY_MS;
    count(db, [call("b", "Bash")], backMs);
    expect(pending(db, backMs).map(({ points }) => points.map(({ data }) => data))).toEqual([
      [
        { kind: "sum", value: 0 },
        { kind: "sum", value: 1 },
      ],
    ]);
    expect(total(db)).toBe(2);
    deliver(db, backMs + 1);
    forgetRetired(db, backMs + 1, backMs + 1);
    expect(total(db)).toBe(1);
  });
});
