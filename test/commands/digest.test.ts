import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { digest } from "#commands/digest.ts";
import { placesOf } from "#config/places.ts";
import { type DigestUnit, firstParts, periodBefore } from "#show/report/digest/digest.ts";
import { usage } from "#show/report/usage.ts";
import { setRepository } from "#store/changes.ts";
import { openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { putOutcomes } from "#store/outcomes.ts";
import { readStore } from "#store/read-only.ts";
import { sessionById } from "#store/sessions.ts";
import { PlantedSessions } from "../report/compare/planted.ts";
import { CONTROL, columnsOf, contextAt } from "../support/context.ts";

const agents = await allAgents();
const HOUR_MS = 3_600_000;
/** The sessions of a folder begin an hour after each other, from Thursday, 2026-10-01, on: 96 hours are up to Sunday night. */
let planted: PlantedSessions;
/** A Wednesday. */
const NOW_MS = new Date(2026, 9, 14, 15).getTime();

beforeAll(async () => {
  planted = new PlantedSessions();
  for (let at = 0; at < 9; at++) planted.add(20, { folder: `repo-${at % 7}`, output: 500 * at, failing: at % 3 === 0 });
  await planted.add(2, { folder: "dev", usage: false }).imported();
});
afterAll(() => planted.remove());

type Options = Partial<Parameters<typeof digest>[1]>;

async function run(unit: DigestUnit = "week", options: Options = {}, nowMs = NOW_MS): Promise<string> {
  const { context, out } = contextAt(planted.replay.places, {
    columns: 80,
    env: { NO_COLOR: "1", USER: "dev" },
    now: () => nowMs,
  });
  expect(await digest(unit, { markdown: false, json: false, ...options }, context)).toBe(0);
  return out();
}

const json = async (unit?: DigestUnit, nowMs?: number) => JSON.parse(await run(unit, { json: true }, nowMs));

test("the figures of both periods are those of the report", async () => {
  const found = await json();
  for (const [back, figures] of [
    [1, found.figures],
    [2, found.before],
  ] as const) {
    const [row] =
      readStore(planted.replay.places.storePath, (db) =>
        usage(db, { agents }, { by: [], ...periodBefore("week", NOW_MS, back) }),
      ) ?? [];
    expect(row?.sessions).toBeGreaterThan(70);
    expect(figures).toMatchObject({
      cost_usd: (row?.calls?.costNanoUsd ?? Number.NaN) / 1e9,
      sessions: row?.sessions,
      turns: row?.turns?.turns,
      tool_calls: row?.tools?.calls,
      tool_errors: row?.tools?.errors,
    });
    expect(figures.work_ms).toBeGreaterThan(0);
  }
  const costs = found.repositories.map((part: { readonly cost_usd: number }) => part.cost_usd);
  expect(costs.reduce((sum: number, cost: number) => sum + cost, 0)).toBeCloseTo(found.figures.cost_usd, 9);
});

test("at most 25 lines of 80 columns, with what is unknown in one sentence", async () => {
  const text = await run();
  const lines = text.trimEnd().split("\n");
  expect(lines[0]).toBe("Coding agents, week from 2026-10-05 to 2026-10-11, this machine");
  expect(text).toMatch(/^cost +≥\$\d+\.\d\d +\$\d+\.\d\d +[+-]\d/m);
  expect(text).toMatch(/^merged changes +\? +\?$/m);
  expect(text).toMatch(/^all others +\?$/m);
  expect(text.replaceAll("\n", " ")).toMatch(/ Unknown: the tokens of \d calls\./);
  expect(lines.length).toBeLessThanOrEqual(25);
  for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(80);
  expect(text).not.toMatch(CONTROL);
});

test("no name of a person and no session is in it", async () => {
  const sessions = readStore(planted.replay.places.storePath, (db) => usage(db, { agents }, { by: ["session"] })) ?? [];
  for (const text of [await run(), await run("week", { markdown: true }), await run("month", { json: true })]) {
    expect(text).not.toMatch(/\bdev\b|go on/);
    for (const { key } of sessions) expect(text).not.toContain(key.session?.split("/")[1]);
  }
});

test("Markdown is a list without a table, and names are text", async () => {
  const other = new PlantedSessions().add(3, { folder: "a_b*c" });
  await other.imported();
  const { context, out } = contextAt(other.replay.places, { now: () => NOW_MS - 7 * 24 * HOUR_MS });
  await digest("week", { markdown: true, json: false }, context);
  other.remove();
  const lines = out().trimEnd().split("\n");
  expect(lines[0]).toBe("*Coding agents, week from 2026-09-28 to 2026-10-04, this machine*");
  expect(lines[2]).toMatch(/^- cost: \$\d\.\d\d \(the week before: \$0\)$/);
  expect(out()).toContain("\n- cost by repository:\n  - a\\_b\\*c $");
  for (const line of lines.slice(2)) expect(line).toMatch(/^(?:- .+| {2}- .+|)$/);
});

test("a time without work costs nothing, and says so", async () => {
  expect((await json("month", new Date(2027, 3, 2).getTime())).figures).toMatchObject({ cost_usd: 0, sessions: 0 });
});

test("merged changes count in the period in which they were merged", async () => {
  const db = openDatabase(planted.replay.places.storePath);
  const session = sessionById(db, 1);
  setRepository(db, session.id, { name: "shop", url: "https://host/acme/shop" }, undefined);
  const landed = [new Date(2026, 9, 6).getTime(), new Date(2026, 9, 7).getTime(), new Date(2026, 8, 29).getTime()];
  for (const [at] of landed.entries()) {
    const fact = { commit: `${at}abcdef`, branch: `fix/${at}`, certainty: "observed", how: "printed" } as const;
    addEntries(db, session, [{ kind: "commit", key: `commit:${at}`, timeMs: session.lastMs, ...fact }]);
  }
  putOutcomes(
    db,
    landed.map((landedMs, at) => ({
      ...{ repository: 1, checkedMs: 1, attested: [], fate: "merged" },
      commit: `${at}abcdef`,
      id: `${at}abcdef`.padEnd(40, "0"),
      landedMs,
    })),
  );
  db.close();
  const { figures, before } = await json();
  expect([figures.merged_changes, before.merged_changes]).toEqual([2, 1]);
  expect(figures.cost_per_merged_change_usd).toBeCloseTo(figures.cost_usd / 2, 9);
});

describe("periods", () => {
  const dates = (unit: DigestUnit, now: Date, back = 1) =>
    Object.values(periodBefore(unit, now.getTime(), back)).map((ms) => new Date(ms).toLocaleDateString("sv"));
  test("a week is from Monday to Monday; on Monday it is the one that has just ended", () => {
    expect(dates("week", new Date(2026, 9, 14, 15))).toEqual(["2026-10-05", "2026-10-12"]);
    expect(dates("week", new Date(2026, 9, 12, 0, 0))).toEqual(["2026-10-05", "2026-10-12"]);
    expect(dates("week", new Date(2026, 9, 11, 23, 59))).toEqual(["2026-09-28", "2026-10-05"]);
    expect(dates("week", new Date(2026, 9, 14), 2)).toEqual(["2026-09-28", "2026-10-05"]);
  });
  test("a month is a calendar month", () => {
    expect(dates("month", new Date(2026, 0, 1))).toEqual(["2025-12-01", "2026-01-01"]);
    expect(dates("month", new Date(2026, 2, 31), 2)).toEqual(["2026-01-01", "2026-02-01"]);
  });
});

test("all parts but the first are summed up; an unknown cost stays unknown", () => {
  const parts = [{ name: "a" }, { name: "b", costNanoUsd: 1 }, { name: "c", costNanoUsd: 5 }, { name: "d" }];
  expect(firstParts(parts, 1)).toEqual([{ name: "c", costNanoUsd: 5 }, { costNanoUsd: 1 }]);
  expect(firstParts(parts, 2).at(-1)).toEqual({});
  expect(firstParts(parts, 4)).toHaveLength(4);
});

test("without a store, and with two formats, it says what is wrong", async () => {
  const { context, out } = contextAt(placesOf({ env: {}, home: `${planted.replay.home}/none`, platform: "linux" }));
  expect(await digest("week", { markdown: false, json: true }, context)).toBe(0);
  expect(out()).toBe("null\n");
  await expect(run("week", { json: true, markdown: true })).rejects.toThrow("choose one of --json and --markdown");
});
