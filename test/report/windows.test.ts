import { describe, expect, test } from "vitest";
import { type RateLimit, WINDOW_MS } from "#core/model/rate-limit.ts";
import { type LimitWindow, reportedWindows, windowsOf } from "#show/report/blocks/windows.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const at = (text: string): number => Date.parse(`2026-11-21T${text}Z`);
const FIVE = WINDOW_MS.five_hour;
const limit = (reset: string, percent = 10): RateLimit => ({
  window: "five_hour",
  percent,
  resetsAtMs: at(reset),
});

describe("windows", () => {
  const shown = (windows: readonly LimitWindow[]) =>
    windows.map(({ startMs, endMs, isReported }) => {
      const [start, end] = [startMs, endMs].map((ms) => new Date(ms).toISOString().slice(11, 16));
      return `${start}-${end} ${isReported ? "reported" : "derived"}`;
    });
  const of = (reported: readonly RateLimit[], ...calls: readonly string[]) =>
    shown(windowsOf(reportedWindows(reported, "five_hour"), calls.map(at), FIVE));

  test("derived: from the full hour of the first call after the end of the previous one", () => {
    expect(of([], "01:20", "05:59", "06:00", "12:10")).toEqual([
      "01:00-06:00 derived",
      "06:00-11:00 derived",
      "12:00-17:00 derived",
    ]);
  });

  test("reported ones win; derived ones lie between them", () => {
    expect(of([limit("12:20")], "06:30", "07:30", "12:19", "12:40", "17:10")).toEqual([
      "06:00-07:20 derived",
      "07:20-12:20 reported",
      "12:20-17:00 derived",
      "17:00-22:00 derived",
    ]);
  });

  test("a limit that was reset early ends where the next window begins; reports of one reset are one window", () => {
    const [first, second] = reportedWindows(
      [limit("12:00:01", 20), limit("12:00", 60), limit("14:00", 5), { ...limit("20:00"), window: "seven_day" }],
      "five_hour",
    );
    expect(first).toEqual({ startMs: at("07:00"), endMs: at("09:00"), isReported: true, percent: 60 });
    expect(second).toEqual({ startMs: at("09:00"), endMs: at("14:00"), isReported: true, percent: 5 });
  });

  test("every call lies in exactly one window, and windows never overlap", () => {
    const ms = fc.integer({ min: at("00:00"), max: at("23:59") + 3 * 86_400_000 });
    fc.assert(
      fc.property(fc.array(ms), fc.array(ms), (calls, resets) => {
        const reported = resets.map((resetsAtMs): RateLimit => ({ window: "five_hour", percent: 1, resetsAtMs }));
        const times = calls.sort((a, b) => a - b);
        const windows = windowsOf(reportedWindows(reported, "five_hour"), times, FIVE);
        for (const [i, { startMs, endMs }] of windows.entries()) {
          expect(startMs).toBeLessThan(endMs);
          expect(endMs - startMs).toBeLessThanOrEqual(FIVE);
          expect(startMs).toBeGreaterThanOrEqual(windows[i - 1]?.endMs ?? 0);
        }
        for (const time of times)
          expect(windows.filter(({ startMs, endMs }) => startMs <= time && time < endMs)).toHaveLength(1);
      }),
      { numRuns: runs(100) },
    );
  });
});
