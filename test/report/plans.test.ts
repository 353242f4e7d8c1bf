// Flat plans: what they cover keeps its list price in every view, and is in no budget and forecast
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { explain } from "#commands/explain.ts";
import { report } from "#commands/report.ts";
import { show } from "#commands/show.ts";
import type { Context } from "#config/context.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { planOf, plansInUse, setPlans } from "#core/rules/plans.ts";
import { coveredBy } from "#show/report/covered.ts";
import { monthOutlooks, outlookJson, outlookParts } from "#show/report/month.ts";
import { usage } from "#show/report/usage.ts";
import { figuresOf } from "#show/statusline/figures.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";

const agents = await allAgents();
const of = new Replay("claude-code", "subagent");
const endMs = Math.max(...of.calls.map((call) => Date.parse(call.received_at)));
let costs: ReadonlyMap<string, number>;
let cost = 0;

beforeAll(async () => {
  for (const call of of.calls) of.put(call);
  await of.drain({ endIdle: true });
  const rows = stored((db) => usage(db, { agents }, { by: ["model"] }));
  costs = new Map(rows.map(({ key, calls }) => [key.model ?? "", calls?.costNanoUsd ?? 0]));
  cost = [...costs.values()].reduce((a, b) => a + b, 0);
  expect(cost).toBeGreaterThan(0);
});
afterEach(() => setPlans({}, undefined));
afterAll(() => of.remove());

type Read<T> = Parameters<typeof readStore<T>>[1];
function stored<T>(read: Read<T>): T {
  const found = readStore(of.places.storePath, read);
  if (found === undefined) throw new Error("there is no store");
  return found as T;
}

const outlook = () =>
  stored((db) => monthOutlooks(db, { agents }, { month: 20, repositories: {} }, { nowMs: endMs + 1 }))[0];
const left = () => stored((db) => figuresOf(db, agents, endMs + 1, 20)).budget;

describe("which plan covers a call", () => {
  const call = { agent: "claude-code", model: "glm-4.7", configFolder: "~/.claude-work" };
  const found = (names: Readonly<Record<string, string>>, of: Parameters<typeof planOf>[1] = call) => {
    setPlans(names, "/home/dev");
    const plans = plansInUse();
    return plans && planOf(plans, of);
  };

  test("that of its folder, else of its model, else of its agent", () => {
    const all = { "claude-code": "Max", "glm-*": "GLM", "~/.claude-work": "Team" };
    expect(found(all)).toBe("Team");
    expect(found(all, { ...call, configFolder: "~/.claude" })).toBe("GLM");
    expect(found(all, { ...call, configFolder: null, model: null })).toBe("Max");
    expect(found({ "glm-*": "GLM", "glm-4.7": "one" })).toBe("one");
    expect(found(all, { agent: "codex", model: "gpt-5.5" })).toBeUndefined();
  });

  test("a folder can be named by its whole path", () => {
    expect(found({ "/home/dev/.claude-work": "Team" })).toBe("Team");
    expect(found({ "/home/developer/.claude-work": "Team" })).toBeUndefined();
  });

  test("none if none are set", () => {
    setPlans({}, "/home/dev");
    expect(plansInUse()).toBeUndefined();
  });
});

describe("budget, forecast and status line", () => {
  test("are without what a plan covers, which is said", () => {
    const before = outlook();
    expect(before).toMatchObject({ costNanoUsd: cost });
    expect(outlookJson(before as never)).toMatchObject({ covered_usd: null });
    setPlans({ "claude-code": "Max" }, of.home);
    const now = outlook();
    expect(now).toMatchObject({ costNanoUsd: 0, coveredNanoUsd: cost, isLowerBound: false });
    expect(outlookParts(now as never).at(-1)).toMatch(/^\$0\.\d\d more at list price, covered by plans$/);
    expect(outlookJson(now as never)).toMatchObject({ cost_usd: 0, left_usd: 20, covered_usd: cost / 1e9 });
    expect(left()).toBe("$20.00 left");
  });

  test("a plan for one model leaves the others", () => {
    const [[model = "", covered = 0] = []] = [...costs].toSorted(([, a], [, b]) => b - a);
    expect(covered).toBeGreaterThan(0);
    setPlans({ [model]: "one model" }, of.home);
    const now = outlook();
    // The price of the other model is not known
    expect(now).toMatchObject({ coveredNanoUsd: covered, isLowerBound: true });
    expect(now?.costNanoUsd ?? 0).toBe(cost - covered);
  });

  test("a plan for a folder", () => {
    setPlans({ "~/.claude": "Team" }, of.home);
    expect(outlook()).toMatchObject({ costNanoUsd: 0, coveredNanoUsd: cost });
    setPlans({ "~/.claude-other": "Team" }, of.home);
    expect(outlook()).toEqual(before());
  });
});

const before = () => {
  const plans = plansInUse();
  setPlans({}, undefined);
  const found = outlook();
  setPlans(Object.fromEntries(plans?.of ?? []), plans?.home);
  return found;
};

describe("every view", () => {
  const printed = async (run: (context: Context) => Promise<number>) => {
    mkdirSync(dirname(of.places.configPath), { recursive: true });
    writeFileSync(of.places.configPath, JSON.stringify({ prices: { plans: { "claude-code": "Max 20x" } } }));
    const { context, out } = contextAt(of.places, { env: { NO_COLOR: "1" }, columns: 200, now: () => endMs + 1 });
    expect(await run(context)).toBe(0);
    return out();
  };

  test("keeps the cost at list price, and names the plan", async () => {
    const options = { json: false, csv: false, refresh: false };
    for (const run of [
      (context: Context) => report(["agent"], { ...options, since: "2020-01-01" }, context),
      (context: Context) => explain(undefined, options, context),
      (context: Context) => show(undefined, { ...options, content: false } as never, context),
    ]) {
      const text = await printed(run);
      expect(text).toMatch(/^worth ≥?\$0\.\d\d at list price, covered by plan Max 20x: not in budgets and forecasts$/m);
    }
    const json = JSON.parse(
      await printed((context) => report(["agent"], { ...options, json: true, since: "2020-01-01" }, context)),
    );
    expect(json.total.cost_usd).toBe(cost / 1e9);
    expect(json.plans).toMatchObject([{ plan: "Max 20x", list_price_usd: cost / 1e9 }]);
  });

  test("without a plan, says nothing", () => {
    expect(stored((db) => coveredBy(db, { agents }, {}))).toEqual([]);
  });
});

test("the setting is read with the others", async () => {
  mkdirSync(dirname(of.places.configPath), { recursive: true });
  writeFileSync(of.places.configPath, JSON.stringify({ prices: { plans: { "~/.claude": "Team" } } }));
  const { errors } = await loadConfigAndPrices({ env: {}, places: of.places });
  expect(errors).toEqual([]);
  expect(plansInUse()).toEqual({ of: new Map([["~/.claude", "Team"]]), home: of.home });
});
