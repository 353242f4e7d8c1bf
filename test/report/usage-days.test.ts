import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bucketsOf, offsetsBetween } from "#show/report/buckets.ts";
import { TIME_UNITS } from "#show/report/query.ts";
import { usage } from "#show/report/usage.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { ensureSession, updateSession } from "#store/sessions.ts";
import fc from "../support/properties.ts";
import { removeFolder } from "../support/remove.ts";
import { runs } from "../support/whole.ts";

const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/Los_Angeles",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "America/St_Johns",
];
const BEGIN = Date.parse("2026-01-01T00:00Z");
const END = Date.parse("2027-01-01T00:00Z");

let folder: string;
let db: Database;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openhook-usage-"));
  db = openDatabase(join(folder, "store.db"));
});
afterEach(() => {
  db.close();
  removeFolder(folder);
});

/** Calls of one session, each with one input token. */
function fill(times: readonly number[]): void {
  const { id } = ensureSession(db, "claude-code", "year", Math.min(...times));
  updateSession(db, id, { timeMs: Math.max(...times) });
  db.prepare("DELETE FROM model_calls").run();
  const insert = db.prepare(
    `INSERT INTO model_calls (session, key, segment, subagent, end_ms, input, output, complete, body)
     VALUES (?, ?, 0, 0, ?, 1, 1, 1, ?)`,
  );
  for (const [i, ms] of times.entries()) insert.run(id, String(i), ms, JSON.stringify({ startMs: ms - 10 }));
}

test("every call belongs to the hour, day, week and month that local clocks show, through a year", () => {
  // Many of them in nights with a clock change
  const moved = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"];
  const near = fc
    .tuple(fc.constantFrom(...moved), fc.integer({ min: -12 * 3600, max: 36 * 3600 }))
    .map(([day, seconds]) => Date.parse(`${day}T00:00Z`) + seconds * 1000);
  const times = fc.array(fc.oneof(near, fc.integer({ min: BEGIN, max: END - 1 })), {
    minLength: 1,
    maxLength: 80,
    size: "max",
  });
  fc.assert(
    fc.property(times, fc.constantFrom(...ZONES), fc.constantFrom(...TIME_UNITS), (all, timeZone, unit) => {
      db.transaction(() => fill(all));
      const expected = new Map<string, number>();
      const nameOf = bucketsOf(timeZone);
      for (const ms of all) expected.set(nameOf(ms, unit), (expected.get(nameOf(ms, unit)) ?? 0) + 1);
      const rows = usage(db, { agents: [] }, { by: [unit], timeZone }).filter(
        ({ calls }) => calls?.input !== undefined,
      );
      expect(Object.fromEntries(rows.map(({ key, calls }) => [key[unit], calls?.input]))).toEqual(
        Object.fromEntries(expected),
      );
    }),
    { numRuns: runs(60) },
  );
});

test("the last hour of a day belongs to that day, before, between and after two clock changes", () => {
  const last = ["2026-02-01T23:30+01:00", "2026-06-01T23:30+02:00", "2026-11-15T23:30+01:00"];
  fill(last.map((time) => Date.parse(time)));
  const days = usage(db, { agents: [] }, { by: ["day"], timeZone: "Europe/Berlin" }).map(({ key }) => key.day);
  expect(days).toEqual(["2026-02-01", "2026-06-01", "2026-11-15"]);
});

test("a call before its session's first hook belongs to its own day, on the other side of a clock change", () => {
  fill([Date.parse("2026-06-13T12:00Z")]);
  fill([Date.parse("2026-03-08T23:30+01:00"), Date.parse("2026-06-13T12:00Z")]);
  const days = usage(db, { agents: [] }, { by: ["day"], timeZone: "Europe/Berlin" }).map(({ key }) => key.day);
  expect(days).toEqual(["2026-03-08", "2026-06-13"]);
});

test("a range can end within a day, and a repeated hour of a day is two hours", () => {
  const at = (time: string): number => Date.parse(time);
  fill([at("2026-10-25T02:30+02:00"), at("2026-10-25T02:30+01:00"), at("2026-10-25T23:59+01:00")]);
  const ask = (unit: "hour" | "day", untilMs?: number) =>
    usage(db, { agents: [] }, { by: [unit], timeZone: "Europe/Berlin", ...(untilMs !== undefined && { untilMs }) });
  expect(ask("day").map(({ key, calls }) => [key.day, calls?.input])).toEqual([["2026-10-25", 3]]);
  expect(ask("day", at("2026-10-25T02:30+01:00")).map(({ key, calls }) => [key.day, calls?.input])).toEqual([
    ["2026-10-25", 1],
  ]);
  expect(ask("hour").map(({ key }) => key.hour)).toEqual([
    "2026-10-25T02:00+02:00",
    "2026-10-25T02:00+01:00",
    "2026-10-25T23:00+01:00",
  ]);
});

test("the offset from UTC changes at each clock change", () => {
  expect(offsetsBetween(BEGIN, END, "Europe/Berlin")).toEqual([
    { fromMs: BEGIN, offsetMs: 3_600_000 },
    { fromMs: Date.parse("2026-03-29T01:00Z"), offsetMs: 7_200_000 },
    { fromMs: Date.parse("2026-10-25T01:00Z"), offsetMs: 3_600_000 },
  ]);
  expect(offsetsBetween(BEGIN, END, "Asia/Kathmandu")).toEqual([{ fromMs: BEGIN, offsetMs: 20_700_000 }]);
  expect(offsetsBetween(0, 8e15, "UTC")).toHaveLength(1);
});
