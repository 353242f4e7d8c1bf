import { describe, expect, test } from "vitest";
import { dayAfter, type Forecast, forecastMonth } from "#show/report/forecast.ts";
import fc from "../support/properties.ts";

const TODAY = "2026-11-16";
const weekdayOf = (day: string): number => new Date(day).getUTCDay();
const daysFrom = (day: string, n: number): readonly string[] => Array.from({ length: n }, (_, i) => dayAfter(day, i));

/** Any day, and the costs of up to 100 days before it and of the day itself. */
const histories = fc
  .tuple(
    fc.integer({ min: 0, max: 4000 }).map((n) => dayAfter("2020-01-01", n)),
    fc.array(fc.integer({ min: 0, max: 1e12 }), { minLength: 15, maxLength: 100 }),
  )
  .map(([today, costs]) => {
    const first = dayAfter(today, 1 - costs.length);
    return { today, first, costs: new Map(daysFrom(first, costs.length).map((day, i) => [day, costs[i] ?? 0])) };
  });

const forecast = (costs: ReadonlyMap<string, number>, today: string, first: string): Forecast => {
  const found = forecastMonth(costs, today, first);
  if (found === undefined) throw new Error("no forecast");
  return found;
};

describe("the forecast of a month", () => {
  test("contains its median, is at least what was spent, and is always the same", () => {
    fc.assert(
      fc.property(histories, ({ today, first, costs }) => {
        const { low, median, high } = forecast(costs, today, first);
        const spent = [...costs].filter(([day]) => day.startsWith(today.slice(0, 7))).map(([, cost]) => cost);
        expect(low).toBeGreaterThanOrEqual(spent.reduce((a, b) => a + b, 0));
        expect(median).toBeGreaterThanOrEqual(low);
        expect(high).toBeGreaterThanOrEqual(median);
        expect(forecast(costs, today, first)).toEqual({ low, median, high });
      }),
    );
  });

  test("a higher cost of any day never lowers it", () => {
    fc.assert(
      fc.property(histories, fc.nat(), fc.integer({ min: 1, max: 1e12 }), ({ today, first, costs }, nth, more) => {
        const day = [...costs.keys()][nth % costs.size] ?? today;
        const before = forecast(costs, today, first);
        const after = forecast(new Map([...costs, [day, (costs.get(day) ?? 0) + more]]), today, first);
        for (const name of ["low", "median", "high"] as const) expect(after[name]).toBeGreaterThanOrEqual(before[name]);
      }),
    );
  });

  test("is exact if all days cost the same, in months of any length", () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 0, max: 1e12 }), ({ today, first, costs }, cost) => {
        // Today has only begun
        const equal = new Map([...costs.keys()].map((day) => [day, day === today ? cost / 2 : cost]));
        const [year = 0, month = 0] = today.split("-").map(Number);
        const known = daysFrom(`${today.slice(0, 7)}-01`, 31).filter((day) => day >= first && day < today).length;
        const left = new Date(Date.UTC(year, month, 0)).getUTCDate() - Number(today.slice(8)) + 1;
        const end = (known + left) * cost;
        const { low, median, high } = forecast(equal, today, first);
        for (const value of [low, median, high]) expect(Math.abs(value - end)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test("respects the week: who never works at weekends has no costs there", () => {
    const days = daysFrom(dayAfter(TODAY, -56), 56);
    const costs = new Map(days.map((day) => [day, [0, 6].includes(weekdayOf(day)) ? 0 : 10]));
    const workdays = daysFrom("2026-11-01", 30).filter((day) => ![0, 6].includes(weekdayOf(day))).length;
    expect(forecast(costs, TODAY, days[0] ?? "")).toEqual({
      low: workdays * 10,
      median: workdays * 10,
      high: workdays * 10,
    });
  });

  test("only the last eight weeks count", () => {
    const costs = new Map(daysFrom(dayAfter(TODAY, -200), 144).map((day) => [day, 100]));
    expect(forecast(costs, TODAY, dayAfter(TODAY, -200)).high).toBe(0);
  });

  test("cannot be estimated with less than two weeks of history", () => {
    expect(forecastMonth(new Map(), TODAY, TODAY)).toBeUndefined();
    expect(forecastMonth(new Map([[TODAY, 5]]), TODAY, dayAfter(TODAY, -13))).toBeUndefined();
    expect(forecastMonth(new Map([[TODAY, 5]]), TODAY, dayAfter(TODAY, -14))).toBeDefined();
  });

  test("the interval contains the real end about as often as it says", () => {
    // Workdays of very different cost (log-normal), few at weekends; forecast on the 1st, 10th and 20th
    const random = randomOf(7);
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const found = ["2026-10-01", "2026-10-10", "2026-10-20"].map((today) => {
      let within = 0;
      for (let n = 0; n < TRIALS; n++) {
        const first = dayAfter(today, -56);
        const days = daysFrom(first, 56 + 31).filter((day) => day <= "2026-10-31");
        const real = new Map(
          days.map((day) => [day, [0, 6].includes(weekdayOf(day)) && random() < 0.7 ? 0 : 20 * Math.exp(normal())]),
        );
        const end = [...real].filter(([day]) => day.startsWith("2026-10")).reduce((sum, [, cost]) => sum + cost, 0);
        const known = new Map([...real].filter(([day]) => day < today));
        const { low, high } = forecast(known, today, first);
        if (low <= end && end <= high) within++;
      }
      return within / TRIALS;
    });
    console.log(
      `share of months that end within the interval, forecast on the 1st, 10th and 20th: ${found.map((x) => x.toFixed(2)).join(", ")}`,
    );
    for (const share of found) {
      expect(share).toBeGreaterThan(0.72);
      expect(share).toBeLessThan(0.92);
    }
  });
});

const TRIALS = 200;

/** A generator of its own, so that it shares nothing with the one that is tested. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
