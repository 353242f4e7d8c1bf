// Slow: only `npm run test:all` runs it. 1,000 random histories without a difference, and 200 with one; method.test.ts tries a few.
import { expect, test } from "vitest";
import { comparedMeasures } from "#show/report/compare/compare.ts";
import { LEVEL } from "#show/report/compare/resample.ts";
import { type Habits, madeUp, randomOf, shownIn, USUAL } from "./histories.ts";

const HISTORIES = 1000;
/** Enough to see whether most are found. */
const PLANTED = 100;

/** The share of histories in which something is shown, and of each measure. */
function ratesOf(
  a: readonly [n: number, habits: Habits],
  b: readonly [n: number, habits: Habits],
  seed: number,
  histories: number,
) {
  const random = randomOf(seed);
  const counts = new Map<string, number>();
  let [any, missed, intervals] = [0, 0, 0];
  for (let history = 0; history < histories; history++) {
    const measures = comparedMeasures([madeUp(...a, random), madeUp(...b, random)], true);
    const shown = shownIn(measures);
    if (shown.length > 0) any++;
    for (const name of shown) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const { difference } of measures) {
      if (difference?.interval === undefined) continue;
      intervals++;
      if (difference.interval[0] > 0 || difference.interval[1] < 0) missed++;
    }
  }
  const rate = (name: string): number => (counts.get(name) ?? 0) / histories;
  return { any: any / histories, rate, missed: missed / intervals };
}

const WITHOUT_A_DIFFERENCE = [
  ["20 and 20 sessions", 20, 20, USUAL],
  ["8 and 60 sessions", 8, 60, USUAL],
  ["12 and 12 sessions that differ by a factor of ten", 12, 12, { ...USUAL, spread: 1.2 }],
  ["30 and 30 sessions of few turns", 30, 30, { ...USUAL, turns: 2 }],
] as const;

test("without a difference, false alarms are as rare as stated", () => {
  const each = HISTORIES / WITHOUT_A_DIFFERENCE.length;
  let alarms = 0;
  for (const [name, n, m, habits] of WITHOUT_A_DIFFERENCE) {
    const { any, missed } = ratesOf([n, habits], [m, habits], 20261130, each);
    alarms += any * each;
    console.log(
      `${name}: a difference is shown in ${(any * 100).toFixed(1)}% of ${each} histories; 95% intervals without 0: ${(missed * 100).toFixed(1)}%`,
    );
    // Intervals of eight sessions are somewhat too narrow, see docs/compare.md
    expect(missed).toBeLessThanOrEqual(2 * LEVEL);
  }
  console.log(`in ${((alarms / HISTORIES) * 100).toFixed(1)}% of all ${HISTORIES}`);
  expect(alarms / HISTORIES).toBeLessThanOrEqual(LEVEL);
});

test("planted differences are found in most histories, and nothing else in more than the stated level", () => {
  const cost = ratesOf([250, USUAL], [250, { ...USUAL, cost: 1.5 }], 1, PLANTED);
  const failures = ratesOf([60, USUAL], [60, { ...USUAL, failures: 0.15 }], 2, PLANTED);
  console.log(`50% more cost, 250 sessions: ${cost.rate("cost_per_turn more") * 100}%`);
  console.log(`5% to 15% failures, 60 sessions: ${failures.rate("tool_failure_share more") * 100}%`);
  expect(cost.rate("cost_per_turn more")).toBeGreaterThan(0.8);
  expect(failures.rate("tool_failure_share more")).toBeGreaterThan(0.9);
  expect(failures.rate("cost_per_turn more") + failures.rate("cost_per_turn less")).toBeLessThanOrEqual(LEVEL);
});
