import { describe, expect, test } from "vitest";
import { comparedMeasures } from "#show/report/compare/compare.ts";
import { corrected, differenceOf, LEVEL, MIN_SESSIONS, measured, type Unit } from "#show/report/compare/resample.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";
import { madeUp, randomOf, shownIn, USUAL } from "./histories.ts";

const units = (sizes: readonly number[], perTurn: number): readonly Unit[] =>
  sizes.map((y, at) => ({ x: y * perTurn * (1 + (at % 3) / 10), y }));

const SOME = units([3, 8, 2, 9, 4, 1, 7, 5, 6, 3], 10);

describe("two groups without a difference", () => {
  test("in few of many random histories one is shown, and few intervals do not contain 0", () => {
    const [histories, random] = [60, randomOf(7)];
    let [alarms, intervals, missed] = [0, 0, 0];
    for (let history = 0; history < histories; history++) {
      const groups = [madeUp(12, USUAL, random), madeUp(20, USUAL, random)] as const;
      const measures = comparedMeasures(groups, true);
      if (shownIn(measures).length > 0) alarms++;
      for (const [low, high] of measures.flatMap(({ difference }) =>
        difference?.interval ? [difference.interval] : [],
      )) {
        intervals++;
        if (low > 0 || high < 0) missed++;
      }
    }
    expect(missed / intervals).toBeLessThanOrEqual(2 * LEVEL);
    expect(alarms / histories).toBeLessThanOrEqual(LEVEL);
  });

  test("a group and itself differ in nothing", () => {
    const group = madeUp(15, USUAL, randomOf(3));
    for (const { difference, verdict } of comparedMeasures([group, group], true)) {
      expect(verdict).toBe("none");
      expect(difference).toMatchObject({ change: 0, p: 1, corrected: 1 });
    }
  });

  test("equal sessions differ in nothing, and the interval has no width", () => {
    const same = Array.from({ length: 9 }, (): Unit => ({ x: 0.3, y: 3 }));
    expect(differenceOf(same, same.slice(1), "ratio")).toEqual({ change: 0, interval: [0, 0], p: 1 });
  });
});

describe("a planted difference", () => {
  const found = (habits: Partial<typeof USUAL>, seed: number): readonly string[] => {
    const random = randomOf(seed);
    return shownIn(comparedMeasures([madeUp(300, USUAL, random), madeUp(300, { ...USUAL, ...habits }, random)], true));
  };
  test.each([1, 2, 3, 4])("half as much cost again per turn is found, history %i", (seed) => {
    expect(found({ cost: 1.5 }, seed)).toContain("cost_per_turn more");
  });
  test.each([1, 2, 3, 4])("three times as many failed tool calls are found, history %i", (seed) => {
    expect(found({ failures: 0.15 }, seed)).toEqual(["tool_failure_share more"]);
  });
});

test("exchanged sides give the same answer with other signs, to the last digit", () => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 8, max: 20 }), fc.integer({ min: 8, max: 20 }), (seed, n, m) => {
      const random = randomOf(seed);
      const [a, b] = [madeUp(n, USUAL, random), madeUp(m, { ...USUAL, cost: 2 }, random)];
      const back = comparedMeasures([b, a], false);
      for (const [at, one] of comparedMeasures([a, b], true).entries()) {
        const other = back[at];
        expect([other?.a, other?.b]).toEqual([one.b, one.a]);
        expect(other?.difference?.corrected).toBe(one.difference?.corrected);
        const turned = (value = Number.NaN) => (one.measure.unit === "share" ? -value : 1 / (1 + value) - 1);
        expect(other?.difference?.change).toBeCloseTo(turned(one.difference?.change), 9);
        expect(other?.difference?.interval?.[0]).toBeCloseTo(turned(one.difference?.interval?.[1]), 9);
        const exchanged = { less: "more", more: "less", none: "none", few: "few", unknown: "unknown" } as const;
        expect(other?.verdict).toBe(exchanged[one.verdict]);
      }
    }),
    { numRuns: runs(40) },
  );
});

test("every measure has n of both sides, and an interval around the difference", () => {
  const random = randomOf(11);
  for (const { a, b, difference } of comparedMeasures([madeUp(10, USUAL, random), madeUp(30, USUAL, random)], true)) {
    expect([a.sessions, b.sessions]).toEqual([10, 30]);
    const { change = Number.NaN, interval: [low, high] = [Number.NaN, Number.NaN] } = difference ?? {};
    expect(low).toBeLessThan(change);
    expect(high).toBeGreaterThan(change);
  }
});

test("large sessions count as much as there is of them", () => {
  expect(
    measured([
      { x: 10, y: 1 },
      { x: 10, y: 9 },
    ]),
  ).toBe(2);
  expect(measured([{ x: 10, y: 0 }])).toBeUndefined();
});

test("one long session with many turns is one piece of evidence, not many", () => {
  const usual = units([2, 2, 2, 2, 2, 2, 2, 2, 2, 2], 10);
  const withOne = [...usual.slice(1), { x: 500 * 30, y: 500 }];
  expect(measured(withOne)).toBeGreaterThan(25);
  expect(differenceOf(usual, withOne, "ratio")?.p).toBeGreaterThan(LEVEL);
});

test("fewer sessions than the least on a side are not compared", () => {
  const random = randomOf(5);
  const few = madeUp(MIN_SESSIONS - 1, USUAL, random);
  for (const one of comparedMeasures([few, madeUp(50, { ...USUAL, cost: 9 }, random)], true)) {
    expect(one).toMatchObject({ verdict: "few", a: { sessions: MIN_SESSIONS - 1 } });
    expect(one.difference).toBeUndefined();
  }
});

test("a side that is 0 has no ratio, and is compared all the same", () => {
  const none = SOME.map(({ y }) => ({ x: 0, y }));
  expect(differenceOf(SOME, none, "ratio")).toEqual({ change: -1, p: expect.closeTo(0, 2) });
  expect(differenceOf(none, SOME, "ratio")).toEqual({ p: expect.closeTo(0, 2) });
  expect(differenceOf(none, none, "ratio")).toMatchObject({ change: 0, p: 1 });
  expect(differenceOf(SOME, [{ x: 5, y: 0 }], "ratio")).toBeUndefined();
});

test("where most sessions have nothing to divide by, there is no interval, and nothing is shown", () => {
  const rare = (x: number) => Array.from({ length: 10 }, (_, at): Unit => ({ x: x + at, y: at === 0 ? 1 : 0 }));
  const found = differenceOf(rare(1), rare(1000), "ratio");
  expect(found?.change).toBeGreaterThan(10);
  expect(found?.interval).toBeUndefined();
  const random = randomOf(21);
  const withFew = (cost: number) =>
    madeUp(10, { ...USUAL, cost }, random).map(({ session, calls }, at) => ({
      session: { ...session, merged: at === 0 ? 1 : 0 },
      calls,
    }));
  const [measure] = comparedMeasures([withFew(1), withFew(1000)], true).filter(
    (one) => one.measure.name === "cost_per_merged_change",
  );
  expect(measure).toMatchObject({ verdict: "none" });
});

test("several p-values are corrected as Holm's procedure says", () => {
  expect(corrected([0.01, 0.04, 0.03, 0.005])).toEqual([0.03, 0.06, 0.06, 0.02]);
  expect(corrected([0.9, 0.8])).toEqual([1, 1]);
  expect(corrected([])).toEqual([]);
});
