import { expect, test } from "vitest";
import { criticalPath, type Work } from "#show/report/critical-path.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const work = (value: string, startMs: number, endMs: number, isHost = false): Work<string> => ({
  value,
  startMs,
  endMs,
  isHost,
});
const path = (from: number, to: number, ...works: Work<string>[]) =>
  criticalPath(from, to, works).map(({ fromMs, toMs, value = "-" }) => `${value} ${fromMs}-${toMs}`);

test("work one after the other is on the path, and the pause between is idle", () => {
  expect(path(0, 100, work("model", 10, 30), work("tool", 30, 50), work("model 2", 60, 90))).toEqual([
    "- 0-10",
    "model 10-30",
    "tool 30-50",
    "- 50-60",
    "model 2 60-90",
    "- 90-100",
  ]);
});

test("the parallel tool that ends last is on the path", () => {
  expect(
    path(0, 40, work("short", 10, 15), work("long", 10, 30), work("shorter", 12, 14), work("model", 30, 40)),
  ).toEqual(["- 0-10", "long 10-30", "model 30-40"]);
});

test("before the last call, the path continues with a shorter call that had to end first", () => {
  expect(path(0, 50, work("a", 0, 20), work("b", 20, 50), work("beside", 5, 30))).toEqual(["a 0-20", "b 20-50"]);
});

test("a subagent's work is on the path instead of the call that waited for it", () => {
  const works = [
    work("Task", 10, 90, true),
    work("sub model", 20, 50),
    work("sub tool", 50, 80),
    work("model", 90, 100),
  ];
  expect(path(0, 100, ...works)).toEqual([
    "- 0-10",
    "Task 10-20",
    "sub model 20-50",
    "sub tool 50-80",
    "Task 80-90",
    "model 90-100",
  ]);
});

test("background work is on the path only if nothing else was waited for", () => {
  expect(path(0, 100, work("background", 0, 100), work("model", 20, 40), work("tool", 40, 60))).toEqual([
    "background 0-100",
  ]);
  expect(path(0, 100, work("background", 0, 150), work("model", 20, 40), work("tool", 40, 100))).toEqual([
    "background 0-20",
    "model 20-40",
    "tool 40-100",
  ]);
});

test("if nothing had just ended, running work is on the path, latest start first", () => {
  const works = [work("early", 0, 200), work("late", 30, 200), work("model", 60, 80)];
  expect(path(0, 100, ...works)).toEqual(["early 0-30", "late 30-60", "model 60-80", "late 80-100"]);
});

test("an empty range has no path, and work without duration or outside the range is not on it", () => {
  expect(path(5, 5, work("model", 0, 10))).toEqual([]);
  expect(path(0, 10)).toEqual(["- 0-10"]);
  expect(path(0, 10, work("point", 5, 5), work("before", -20, -10), work("after", 30, 40))).toEqual(["- 0-10"]);
  expect(path(0, 10, work("over", -5, 25))).toEqual(["over 0-10"]);
});

const works = fc.array(
  fc.record({
    startMs: fc.integer({ min: -50, max: 500 }),
    length: fc.integer({ min: 0, max: 200 }),
    isHost: fc.boolean(),
  }),
  { maxLength: 30 },
);

test("stretches cover the range without gaps, each within its work; idle stretches cover no work", () => {
  fc.assert(
    fc.property(works, fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 400 }), (made, from, length) => {
      const all = made.map(({ startMs, length: ms, isHost }, value) => ({
        startMs,
        endMs: startMs + ms,
        isHost,
        value,
      }));
      const stretches = criticalPath(from, from + length, all);
      let cursor = from;
      for (const { fromMs, toMs, value } of stretches) {
        expect(fromMs).toBe(cursor);
        expect(toMs).toBeGreaterThan(fromMs);
        cursor = toMs;
        const on = value === undefined ? undefined : all[value];
        if (on !== undefined) {
          expect(on.startMs).toBeLessThanOrEqual(fromMs);
          expect(on.endMs).toBeGreaterThanOrEqual(toMs);
        }
        const overlapping = all.filter((one) => one.endMs > one.startMs && one.startMs < toMs && one.endMs > fromMs);
        if (on === undefined) expect(overlapping).toEqual([]);
        if (on?.isHost === true) expect(overlapping.filter((one) => !one.isHost)).toEqual([]);
      }
      expect(length === 0 ? from : cursor).toBe(from + length);
      expect(stretches.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)).toBe(length);
    }),
    { numRuns: runs(500) },
  );
});

test("the order of the input changes only names", () => {
  fc.assert(
    fc.property(works, (made) => {
      const all = made.map(({ startMs, length, isHost }) => ({
        startMs,
        endMs: startMs + length,
        isHost,
        value: `${startMs}+${length}${isHost}`,
      }));
      const total = (given: typeof all): number =>
        criticalPath(0, 600, given).reduce((sum, s) => sum + (s.value === undefined ? 0 : s.toMs - s.fromMs), 0);
      expect(total([...all].reverse())).toBe(total(all));
    }),
    { numRuns: runs(100) },
  );
});
