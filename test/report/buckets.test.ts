import { describe, expect, test } from "vitest";
import {
  bucketsBetween,
  bucketsOf,
  compareBuckets,
  mondayOf,
  startOfBucket,
  startOfDay,
} from "#show/report/buckets.ts";
import { TIME_UNITS } from "#show/report/query.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const at = (iso: string): number => Date.parse(iso);
const HOUR_MS = 3_600_000;

describe("daylight saving time in Berlin", () => {
  const nameOf = bucketsOf("Europe/Berlin");

  test("the day in October has 25 hours, and the repeated hour has two names", () => {
    const hours = bucketsBetween(at("2026-10-25T00:00+02:00"), at("2026-10-26T00:00+01:00"), "hour", "Europe/Berlin");
    expect(hours).toHaveLength(25);
    expect(hours.slice(2, 5)).toEqual(["2026-10-25T02:00+02:00", "2026-10-25T02:00+01:00", "2026-10-25T03:00+01:00"]);
    expect([...hours].reverse().sort(compareBuckets)).toEqual(hours);
    expect(nameOf(at("2026-10-25T22:59:59Z"), "day")).toBe("2026-10-25");
    expect(nameOf(at("2026-10-25T23:00:00Z"), "day")).toBe("2026-10-26");
    expect(nameOf(at("2026-10-24T21:59:59Z"), "day")).toBe("2026-10-24");
  });

  test("the day in March has 23 hours", () => {
    const hours = bucketsBetween(at("2026-03-29T00:00+01:00"), at("2026-03-30T00:00+02:00"), "hour", "Europe/Berlin");
    expect(hours).toHaveLength(23);
    expect(hours.map((hour) => hour.slice(11, 13))).not.toContain("02");
  });

  test("through a year, no day is missing or repeated", () => {
    const days = bucketsBetween(at("2026-01-01T00:00+01:00"), at("2027-01-01T00:00+01:00"), "day", "Europe/Berlin");
    expect(days).toHaveLength(365);
    expect([days[0], days[364]]).toEqual(["2026-01-01", "2026-12-31"]);
    expect([...days].sort(compareBuckets)).toEqual(days);
  });
});

test("a zone with an offset of 45 minutes, and one that skipped a day", () => {
  expect(bucketsOf("Asia/Kathmandu")(at("2026-11-20T18:15Z"), "hour")).toBe("2026-11-21T00:00+05:45");
  expect(bucketsOf("Asia/Kathmandu")(at("2026-11-20T18:14Z"), "day")).toBe("2026-11-20");
  const days = bucketsBetween(at("2011-12-29T10:00Z"), at("2011-12-31T11:00Z"), "day", "Pacific/Apia");
  expect(days).toEqual(["2011-12-29", "2011-12-31", "2012-01-01"]);
});

test.each(["UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe"])(
  "the machine's time zone %s gives the same names as the zone by its name",
  (zone) => {
    const before = process.env["TZ"];
    process.env["TZ"] = zone;
    try {
      const [own, named] = [bucketsOf(), bucketsOf(zone)];
      for (let ms = at("2015-01-01"); ms < at("2028-01-01"); ms += 31 * HOUR_MS) {
        for (const unit of TIME_UNITS) expect(own(ms, unit)).toBe(named(ms, unit));
      }
    } finally {
      if (before === undefined) delete process.env["TZ"];
      else process.env["TZ"] = before;
    }
  },
);

test("weeks start on Monday and belong to the year of their Thursday", () => {
  const weekOf = (day: string): string => bucketsOf("UTC")(at(`${day}T12:00Z`), "week");
  expect(weekOf("2026-11-22")).toBe("2026-W47");
  expect(weekOf("2026-11-23")).toBe("2026-W48");
  expect(weekOf("2027-01-03")).toBe("2026-W53");
  expect(weekOf("2024-12-30")).toBe("2025-W01");
  expect(mondayOf("2026-W47")).toBe("2026-11-16");
  expect(mondayOf("2025-W01")).toBe("2024-12-30");
  fc.assert(
    fc.property(fc.integer({ min: at("2000-01-01"), max: at("2100-01-01") }), (ms) => {
      const monday = Date.parse(mondayOf(bucketsOf("UTC")(ms, "week")));
      expect(new Date(monday).getUTCDay()).toBe(1);
      expect(ms - monday).toBeGreaterThanOrEqual(0);
      expect(ms - monday).toBeLessThan(7 * 24 * HOUR_MS);
    }),
    { numRuns: runs(300) },
  );
});

test("every moment is in one of the buckets between two times, and these are in order", () => {
  fc.assert(
    fc.property(
      fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu"),
      fc.constantFrom(...TIME_UNITS),
      fc.integer({ min: at("2015-01-01"), max: at("2040-01-01") }),
      fc.integer({ min: 1, max: 60 * 24 * HOUR_MS }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (timeZone, unit, fromMs, lengthMs, part) => {
        const names = bucketsBetween(fromMs, fromMs + lengthMs, unit, timeZone);
        const nameOf = bucketsOf(timeZone);
        expect(names).toContain(nameOf(fromMs + Math.floor(part * lengthMs), unit));
        expect(names[0]).toBe(nameOf(fromMs, unit));
        expect(names.at(-1)).toBe(nameOf(fromMs + lengthMs - 1, unit));
        expect([...names].sort(compareBuckets)).toEqual(names);
      },
    ),
    { numRuns: runs(60) },
  );
});

test("with the machine's time zone, a bucket starts at the time in its name", () => {
  const nameOf = bucketsOf();
  const now = new Date(2026, 9, 26, 13, 37).getTime();
  for (const unit of TIME_UNITS) {
    const startMs = startOfBucket(nameOf(now, unit));
    expect(nameOf(startMs, unit)).toBe(nameOf(now, unit));
    expect(nameOf(startMs - 1, unit)).not.toBe(nameOf(now, unit));
  }
  expect(nameOf(startOfDay(now, -29), "day")).toBe("2026-09-27");
  expect(nameOf(startOfDay(now), "day")).toBe("2026-10-26");
});
