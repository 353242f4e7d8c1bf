// Fees and credits: the same in every view, whether a session came by hooks or by an import, packed or not
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { CallSums, ModelCall } from "#core/model/model-call.ts";
import { addSums, CHARGES, sumOfCalls } from "#core/rules/call-sums.ts";
import { pricesOfModel } from "#core/telemetry/cost.ts";
import { chargesOf, creditsText, feesText } from "#show/report/charges.ts";
import { explain } from "#show/report/explain.ts";
import { explainJson } from "#show/report/explain-json.ts";
import { questionOf } from "#show/report/question.ts";
import { jsonParts } from "#show/report/session-json.ts";
import { viewOf } from "#show/report/session-view.ts";
import { explanationLines } from "#show/report/text/explain.ts";
import { sessionLines } from "#show/report/text/session.ts";
import { notesOf } from "#show/report/text/usage-notes.ts";
import { csvLines, reportJson, rowJson } from "#show/report/usage-data.ts";
import { usageReport } from "#show/report/usage-report.ts";
import { cachedFilterValues } from "#show/view/data/filter-values.ts";
import { listSessions } from "#show/view/data/sessions.ts";
import { usageOver } from "#show/view/data/usage.ts";
import { isPacked } from "#store/packed.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { importInto, unpackAll } from "../import/run.ts";
import fc from "../support/properties.ts";
import { CASES, Replay } from "../support/replay.ts";
import { firstOf, runs } from "../support/whole.ts";

const agents = await allAgents();
const replays: Replay[] = [];
afterEach(() => {
  for (const replay of replays.splice(0)) replay.remove();
});

type Way = "hooks" | "import" | "unpacked";

/** What every view says of the sessions of one recording. */
async function said(source: string, name: string, way: Way, edit?: (text: string) => string) {
  const of = new Replay(source, name, edit === undefined ? {} : { edit });
  replays.push(of);
  if (way === "hooks") {
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
  } else await importInto(of, source);
  if (way === "unpacked") await unpackAll(of, source);
  const found = readStore(of.places.storePath, (db) => {
    const [stored] = recentSessions(db, 1);
    if (stored === undefined) throw new Error("there is no session");
    expect(isPacked(db, stored.id)).toBe(way === "import");
    const nowMs = stored.lastMs + 1;
    const view = viewOf(db, stored, { agents }, { semconv: "both", traceScope: "session" });
    const question = questionOf(["agent"], { since: "2020-01-01", json: true, csv: false }, nowMs);
    const report = usageReport(db, agents, question, nowMs, true);
    if (report === undefined) throw new Error("there is no report");
    const idle = { nowMs, idleTimeoutMs: 1e9 };
    const explanation = explain(db, view, { agents });
    const terminal = { columns: 1_000, colour: false };
    const deps = { agents, idle, filterValues: cachedFilterValues({ agents }) };
    const { rows } = listSessions(db, deps, { errors: false, sort: "recent", descending: true, limit: 9 });
    const json = {
      report: reportJson(question, report, "UTC").total,
      explain: explainJson(explanation).totals,
      show: JSON.parse([...jsonParts(db, view, {})].join("")).totals,
      "the page of the session": rows[0]?.totals,
    };
    return {
      json: Object.entries(json).map(([view, figures]) => [view, chargesIn(figures ?? {})] as const),
      texts: {
        report: notesOf(report),
        explain: [...explanationLines(explanation, { title: "the agent" }, terminal)],
        show: [...sessionLines(db, view, { agents, idle, heading: "", transcript: "" }, terminal)],
        "the usage page": usageOver(db, deps, { nowMs, timeZone: "UTC", unit: "day", split: "agent" }).charges,
        "the page of the session": rows[0]?.totals.charges ?? [],
      },
      csv: [...csvLines(question.query, report.rows)],
      cost: report.total?.calls?.costNanoUsd,
      unpriced: report.total?.calls?.unpricedCalls,
    };
  });
  if (found === undefined) throw new Error("there is no store");
  return found;
}

const NAMES = ["web_searches", "web_searches_without_fee", "fees_usd", "credits"] as const;
const chargesIn = (figures: object): readonly unknown[] =>
  NAMES.map((name) => (figures as Readonly<Record<string, unknown>>)[name]);

const WAYS = ["hooks", "import", "unpacked"] as const;

describe.each(firstOf(WAYS, 2))("searches in a recording of Claude Code, by %s", (way) => {
  const searching = (text: string): string =>
    text.replaceAll('"web_search_requests":0', '"web_search_requests":2').replaceAll(/claude-haiku-\d[\w-]*/g, "m");

  test("are a part of the cost, with their number and their fee in every view", async () => {
    const [without, found] = [
      await said("claude-code", "basic", way),
      await said("claude-code", "basic", way, searching),
    ];
    const [, [searches = 0] = []] = found.json[0] ?? [];
    expect(searches).toBeGreaterThanOrEqual(4);
    const fee = Number(searches) / 100;
    expect((found.cost ?? 0) - (without.cost ?? 0)).toBe(fee * 1e9);
    for (const [view, charges] of found.json) expect(charges, view).toEqual([searches, 0, fee, null]);
    for (const [view, lines] of Object.entries(found.texts))
      expect(lines.join("\n"), view).toContain(`fees $${fee.toFixed(2)} (${searches} web searches)`);
    const [titles = "", row = ""] = found.csv.map((line) => line.split(","));
    expect(NAMES.map((name) => row[titles.indexOf(name)])).toEqual([String(searches), "0", String(fee), ""]);
    for (const [view, charges] of without.json) expect(charges, view).toEqual([null, null, null, null]);
  });

  test("have an unknown fee where the calls have no price", async () => {
    const other = (text: string): string => searching(text).replaceAll(/claude-[a-z]+-4-\d(-\d{8})?/g, "gpt-4.1");
    const found = await said("claude-code", "basic", way, other);
    for (const [view, [searches, unpriced, fee]] of found.json) {
      expect([fee, unpriced], view).toEqual([null, searches]);
      expect(searches, view).toBeGreaterThanOrEqual(4);
    }
    for (const [view, lines] of Object.entries(found.texts))
      expect(lines.join("\n"), view).toMatch(/fees \? \(\d+ web/);
  });
});

test.each(firstOf(WAYS, 1))(
  "a recorded search that only the agent's own sums have is shown with them, by %s",
  async (way) => {
    const { json, texts } = await said("claude-code", "web-search", way);
    for (const [view, charges] of json) expect(charges, view).toEqual([null, null, null, null]);
    expect(texts.show.join("\n")).toMatch(/^the agent's own figures, .* · \$0\.05 · 1 web search$/m);
  },
);

/** Each of Copilot's records with what GitHub charged, as its event schema has it. */
const credited = (text: string): string =>
  text.replaceAll(
    '"aiCreditsStatus":"unavailable","reasoningEffort"',
    '"copilotUsage":{"totalNanoAiu":1250000000},"reasoningEffort"',
  );

describe.each(firstOf(WAYS, 2))("credits, by %s", (way) => {
  test("of Copilot are those of its calls, in no cost", async () => {
    const [without, found] = [await said("copilot", "basic", way), await said("copilot", "basic", way, credited)];
    expect(found.cost).toBe(without.cost);
    for (const [view, charges] of found.json) expect(charges, view).toEqual([null, null, null, 3.75]);
    for (const [view, lines] of Object.entries(found.texts)) expect(lines.join("\n"), view).toContain("3.75 credits");
    for (const [view, charges] of without.json) expect(charges, view).toEqual([null, null, null, null]);
    for (const lines of Object.values(without.texts)) expect(lines.join("\n")).not.toContain("credit");
  });

  test.each([
    ["auggie", "basic", 10.5],
    ["amp", "ledger", 2.8],
  ])("of %s are read", async (source, name, credits) => {
    const found = await said(source, name, way);
    for (const [view, charges] of found.json) expect(charges.at(-1), view).toBe(credits);
  });
});

test("credits of several agents are different units: a row of both has none, and the text has each", async () => {
  const of = new Replay("auggie", "basic");
  replays.push(of);
  cpSync(join(CASES, "amp", "ledger", "transcripts"), of.home, { recursive: true });
  for (const source of ["auggie", "amp"]) await importInto(of, source);
  const found = readStore(of.places.storePath, (db) => {
    const question = questionOf(["agent"], { since: "2020-01-01", json: true, csv: false }, Date.now());
    return usageReport(db, agents, question, Date.now(), true);
  });
  if (found?.total === undefined) throw new Error("there is no report");
  expect(found.rows.map(rowJson)).toMatchObject([{ credits: 10.5 }, { credits: 2.8 }]);
  expect(rowJson(found.total)).toMatchObject({ credits: null });
  expect(notesOf(found).join("\n")).toMatch(
    /each in its own unit: (auggie 10.5 credits, amp 2.8|amp 2.8 credits, auggie 10.5) credits/,
  );
});

describe("the part of a price that is a fee", () => {
  const price = pricesOfModel("claude-opus-4-8", "anthropic");
  const tokens = { input: 1_000, output: 100 };

  test("is that of the searches, and absent without any", () => {
    expect(price(tokens, 0).feeNanoUsd).toBeUndefined();
    const plain = price(tokens, 0).costNanoUsd ?? 0;
    expect(price({ ...tokens, webSearches: 13 }, 0)).toEqual({
      costNanoUsd: plain + 130_000_000,
      feeNanoUsd: 130_000_000,
    });
  });

  test("is unknown where searches have no price", () => {
    const found = pricesOfModel("gemini-2.5-pro", "google")({ ...tokens, webSearches: 1 }, 0);
    expect(found).toMatchObject({ noPrice: "fees" });
    expect(found.feeNanoUsd).toBeUndefined();
  });
});

test("texts: unknown is ?, a part of it is a lower bound, and nothing is said of nothing", () => {
  expect(feesText({})).toBeUndefined();
  expect(feesText({ webSearches: 1, unpricedSearches: 0, feeNanoUsd: 10_000_000 })).toBe("fees $0.01 (1 web search)");
  expect(feesText({ webSearches: 3, unpricedSearches: 3 })).toBe("fees ? (3 web searches)");
  expect(feesText({ webSearches: 12, unpricedSearches: 2, feeNanoUsd: 100_000_000 })).toBe(
    "fees ≥$0.10 (12 web searches, the fee of 2 is not known)",
  );
  expect(feesText({ feeNanoUsd: 50_000_000 })).toBe("fees $0.05");
  expect([0, 1e9, 2_500_000_000, 12_345, 1_234_567_000_000].map(creditsText)).toEqual([
    "0 credits",
    "1 credit",
    "2.5 credits",
    "<0.001 credits",
    "1,235 credits",
  ]);
});

test("sums of charges are the same in any grouping, and absent only if every part is", () => {
  const amount = fc.option(fc.nat(50), { nil: undefined });
  const call = fc
    .record({ webSearches: amount, nanoCredits: amount, feeNanoUsd: amount })
    .map(({ feeNanoUsd, ...charged }) => ({
      call: { key: "k", startMs: 0, endMs: 1, complete: true, ...charged } as ModelCall,
      ...(feeNanoUsd !== undefined && { feeNanoUsd }),
    }));
  fc.assert(
    fc.property(fc.array(call), fc.nat(), (calls, at) => {
      const cut = calls.length === 0 ? 0 : at % calls.length;
      const whole = sumOfCalls(calls);
      const parts = addSums(sumOfCalls(calls.slice(0, cut)), sumOfCalls(calls.slice(cut)));
      const of = (sums: CallSums) => CHARGES.map((name) => sums[name]);
      expect(of(parts)).toEqual(of(whole));
      expect(whole.webSearches === undefined).toBe(calls.every((one) => one.call.webSearches === undefined));
      expect(whole.unpricedSearches ?? 0).toBeLessThanOrEqual(whole.webSearches ?? 0);
      expect(chargesOf(whole).join()).not.toMatch(/undefined|NaN/);
    }),
    { numRuns: runs(200) },
  );
});
