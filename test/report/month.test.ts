import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { overview } from "#commands/overview.ts";
import { report } from "#commands/report.ts";
import { loadConfig } from "#config/load.ts";
import { NO_CALLS } from "#core/rules/call-sums.ts";
import { type MonthOutlook, monthOutlooks, outlookJson, outlookParts } from "#show/report/month.ts";
import { usage } from "#show/report/usage.ts";
import { leftOf, parseSummary, summaryPath } from "#show/statusline/summary.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const agents = await allAgents();
const of = new Replay("claude-code", "multi-turn");
const endMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at)));
const REPOSITORY = "api";
const set = (settings: object): void => {
  mkdirSync(dirname(of.places.configPath), { recursive: true });
  writeFileSync(of.places.configPath, JSON.stringify(settings));
};
const outlooksAt = (
  nowMs: number,
  budget: Parameters<typeof monthOutlooks>[2] = { repositories: {} },
  timeZone = "UTC",
) => readStore(of.places.storePath, (db) => monthOutlooks(db, { agents }, budget, { nowMs, timeZone })) ?? [];

let cost = 0;
let repository = REPOSITORY;
beforeAll(async () => {
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true });
  readStore(of.places.storePath, (db) => {
    cost = usage(db, { agents }, { by: ["month"] })[0]?.calls?.costNanoUsd ?? 0;
    repository = usage(db, { agents }, { by: ["repository"] })[0]?.key.repository ?? "";
  });
  expect(cost).toBeGreaterThan(0);
});
afterAll(() => of.remove());

describe("the month", () => {
  test("cost so far as in `report month`; no forecast before there are two weeks of days", () => {
    const [now] = outlooksAt(endMs + 1);
    expect(now).toMatchObject({ month: "2026-11", costNanoUsd: cost, isLowerBound: false });
    expect(now?.forecast).toBeUndefined();
    expect(outlookJson(now as MonthOutlook)).toMatchObject({ cost_usd: cost / 1e9, forecast: null, budget_usd: null });
    expect(outlookParts(now as MonthOutlook).at(-1)).toBe("no forecast yet: needs 14 days");
  });

  test("with two weeks, it is forecast; the first of a month begins with nothing", () => {
    const [last, next] = [Date.parse("2026-12-05T12:00Z"), Date.parse("2026-12-31T12:00Z")].map(
      (ms) => outlooksAt(ms)[0],
    );
    expect(last).toMatchObject({ month: "2026-12", costNanoUsd: 0, forecast: { low: 0 } });
    // 2026-11-21 and 2026-12-26 are Saturdays; four are left, one of two known ones had this cost
    expect(last?.forecast?.high).toBeGreaterThan(cost);
    expect(next?.forecast).toEqual({ low: 0, median: 0, high: 0 });
  });

  test("is the month of the time zone", () => {
    const ms = Date.parse("2026-11-30T20:00Z");
    expect(outlooksAt(ms, undefined, "Asia/Tokyo")[0]).toMatchObject({ month: "2026-12", costNanoUsd: 0 });
    expect(outlooksAt(ms, undefined, "America/New_York")[0]).toMatchObject({ month: "2026-11", costNanoUsd: cost });
    expect(() => outlooksAt(ms, undefined, "Mars/Olympus")).toThrow(RangeError);
  });

  test("budgets of the month and of repositories, and what is left of them", () => {
    const found = outlooksAt(endMs, { month: 1, repositories: { [repository]: 2, other: 3 } });
    expect(found.map(({ repository, costNanoUsd, budgetUsd }) => [repository, costNanoUsd, budgetUsd])).toEqual([
      [undefined, cost, 1],
      [repository, cost, 2],
      ["other", undefined, 3],
    ]);
    expect(found.map((one) => outlookJson(one).left_usd)).toEqual([1 - cost / 1e9, 2 - cost / 1e9, null]);
    expect(found.map((one) => outlookParts(one)[1])).toEqual(["$0.97 of $1 left", "$1.97 of $2 left", undefined]);
  });

  test("a repository without any session is unknown, because its name may be wrong", () => {
    const [, other] = outlooksAt(endMs, { repositories: { other: 3 } });
    expect(outlookParts(other as MonthOutlook)).toEqual(["no session of a repository with this name"]);
    expect(outlookJson(other as MonthOutlook)).toMatchObject({ cost_usd: null, left_usd: null, budget_usd: 3 });
  });

  test("unknown is not 0: costs that are partly or wholly unknown", () => {
    const base = { month: "2026-11", hasSessions: true, isLowerBound: true, isForecastLowerBound: true, budgetUsd: 20 };
    const forecast = { low: 30e9, median: 31e9, high: 40e9 };
    expect(outlookParts({ ...base, costNanoUsd: 12e9, forecast })).toEqual([
      "≥$12.00 so far",
      "at most $8.00 of $20 left",
      "ends at ≥$30.00 to ≥$40.00",
    ]);
    expect(outlookParts({ ...base, costNanoUsd: 32e9, forecast })[1]).toBe("≥$12.00 over $20");
    expect(outlookParts(base)).toEqual(["? so far", "? of $20 left", "no forecast: no cost is known"]);
    expect(outlookJson(base)).toMatchObject({ cost_usd: null, left_usd: null, forecast: null });
  });
});

describe("is shown", () => {
  const printed = async (run: (context: ReturnType<typeof contextAt>["context"]) => Promise<number>, nowMs = endMs) => {
    const { context, out } = contextAt(of.places, { now: () => nowMs, env: { NO_COLOR: "1" }, columns: 120 });
    expect(await run(context)).toBe(0);
    return out();
  };
  const monthly =
    (json: boolean, options: object = {}) =>
    (context: ReturnType<typeof contextAt>["context"]) =>
      report(["month"], { json, csv: false, ...options }, context);

  test("without a command only if there is a budget", async () => {
    set({});
    expect(await printed(overview)).not.toContain("This month");
    set({ budget: { month: 200, repositories: { [repository]: 50 } } });
    const text = await printed(overview);
    expect(text).toMatch(/^This month +\$0\.03 so far · \$199\.97 of \$200 left · no forecast yet/m);
    expect(text).toMatch(new RegExp(`^ {10,}${repository} · \\$0\\.03 so far · \\$49\\.97 of \\$50 left`, "m"));
  });

  test("below `report month` without filters, with the method, and in its JSON", async () => {
    set({ budget: { month: 200 } });
    const nowMs = Date.parse("2026-12-05T12:00Z");
    const text = await printed(monthly(false), nowMs);
    expect(text).toMatch(/^2026-12: \$0 so far; \$200\.00 of \$200 left; ends at \$0 to \$0\.\d\d$/m);
    expect(text.replaceAll("\n", " ")).toContain("a random day of the last 8 weeks with the same weekday");
    const { outlook } = JSON.parse(await printed(monthly(true), nowMs));
    expect(outlook).toMatchObject([
      { month: "2026-12", cost_usd: 0, budget_usd: 200, left_usd: 200, forecast: { low_usd: 0 } },
    ]);
    expect(JSON.parse(await printed(monthly(true, { agent: "claude-code" }), nowMs))).not.toHaveProperty("outlook");
  });

  test("in the status line, only if there is a budget", async () => {
    const path = summaryPath(of.places.stateDir);
    const budgetAt = async (settings: object) => {
      set(settings);
      writeFileSync(path, "");
      const loaded = await loadConfig({ env: {}, places: of.places });
      await of.drain({}, { now: () => endMs + 5_000, loaded });
      return parseSummary(readFileSync(path, "utf8"))?.budget;
    };
    expect(await budgetAt({})).toBeUndefined();
    expect(await budgetAt({ budget: { month: 200 } })).toBe("$199.97 left");
    const sums = { ...NO_CALLS, modelCalls: 2, costNanoUsd: 12e9 };
    expect([
      leftOf(20, sums),
      leftOf(10, sums),
      leftOf(20, { ...sums, unpricedCalls: 1 }),
      leftOf(20, sums, true),
    ]).toEqual(["$8.00 left", "$2.00 over budget", "<=$8.00 left", "<=$8.00 left"]);
    expect([leftOf(20), leftOf(20, undefined, true)]).toEqual(["$20.00 left", "? left"]);
  });

  test("a variable, which a repository can set, changes no budget", async () => {
    set({ budget: { month: 200 } });
    const env = { OPENHOOK_OTEL_BUDGET_MONTH: "999999", OPENHOOK_OTEL_BUDGET_REPOSITORIES: "api=1" };
    const { config, warnings } = await loadConfig({ env, places: of.places });
    expect(config.budget).toEqual({ month: 200, repositories: {} });
    expect(warnings.filter((text) => text.includes("is ignored: a repository can set variables"))).toHaveLength(2);
  });

  test("an amount that is none is refused, with what to write", async () => {
    set({ budget: { month: "much", repositories: { api: "50" } } });
    const { config, errors } = await loadConfig({ env: {}, places: of.places });
    expect(config.budget).toEqual({ repositories: {} });
    expect(errors.join("\n")).toContain('budget.month must be a whole number from 1 to 10000000 (USD), not "much"');
    expect(errors.join("\n")).toContain(
      'budget.repositories.api must be a whole number from 1 to 10000000 (USD), not "50"',
    );
  });
});
