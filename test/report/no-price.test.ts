// Wherever a cost is missing: why, and what to do. The same in every view.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { blocksOf } from "#show/report/blocks/blocks.ts";
import { explain } from "#show/report/explain.ts";
import { unknownsOf } from "#show/report/findings.ts";
import { noPriceNotes, unpricedOf } from "#show/report/prices.ts";
import { questionOf } from "#show/report/question.ts";
import { viewOf } from "#show/report/session-view.ts";
import { overviewLines } from "#show/report/text/overview.ts";
import { sessionLines } from "#show/report/text/session.ts";
import { notesOf } from "#show/report/text/usage-notes.ts";
import { usageReport } from "#show/report/usage-report.ts";
import { cachedFilterValues } from "#show/view/data/filter-values.ts";
import { homeOver } from "#show/view/data/home.ts";
import { usageOver } from "#show/view/data/usage.ts";
import { recentSessions } from "#store/queries.ts";
import { readStore } from "#store/read-only.ts";
import { importInto } from "../import/run.ts";
import { Replay } from "../support/replay.ts";
import { firstOf } from "../support/whole.ts";

const agents = await allAgents();
let replay: Replay | undefined;
afterEach(() => replay?.remove());

/** What each view says of the only session. */
async function notes(of: Replay, way: string): Promise<Readonly<Record<string, readonly string[]>>> {
  if (way === "import") await importInto(of, of.source);
  else {
    for (const call of of.calls) of.put(call);
    await of.drain({ endIdle: true });
  }
  const found = readStore(of.places.storePath, (db) => {
    const [stored] = recentSessions(db, 1);
    if (stored === undefined) throw new Error("there is no session");
    const nowMs = stored.lastMs + 1;
    const settings = { semconv: "both", traceScope: "session" } as const;
    const idle = { nowMs, idleTimeoutMs: 1e9 };
    const view = viewOf(db, stored, { agents }, settings);
    const question = questionOf(["day"], { since: "2020-01-01", json: false, csv: false }, nowMs);
    const report = usageReport(db, agents, question, nowMs, false);
    if (report === undefined) throw new Error("there is no report");
    const { tables } = blocksOf(db, agents, new Map(), { sinceMs: 0, untilMs: nowMs });
    const deps = { agents, idle, filterValues: cachedFilterValues({ agents }) };
    const usage = { nowMs, timeZone: "UTC", unit: "day", split: "agent" } as const;
    const terminal = { columns: 1_000, colour: false };
    return {
      report: notesOf(report),
      explain: unknownsOf(explain(db, view, { agents })),
      show: [...sessionLines(db, view, { agents, idle, heading: "", transcript: "" }, terminal)],
      blocks: tables.flatMap((table) => notesOf({ ...table, rows: [] })),
      "the usage page": usageOver(db, deps, usage).missing,
      overview: overviewLines(db, agents, idle, terminal) ?? [],
      "the home page": homeOver(db, deps, {
        todayMs: nowMs,
        yesterdayMs: nowMs,
        monthMs: nowMs,
        lastMonthMs: nowMs,
        unit: "day",
        timeZone: "UTC",
      }).missing,
    };
  });
  return found ?? {};
}

const MODEL = [
  /claude-[a-z]+-4-\d(-\d{8})?/g,
  "acme-large-1",
  "acme-large-1",
  "the model is not in genai-prices/",
] as const;
const TIER = [
  /"service_tier":"standard"/g,
  '"service_tier":"priority"',
  "claude-",
  "the price of their service tier ",
] as const;

test.each(
  firstOf(
    [
      ["a model", "hooks", MODEL],
      ["a service tier", "import", TIER],
      ["a model", "import", MODEL],
      ["a service tier", "hooks", TIER],
    ] as const,
    2,
  ),
)(
  "%s without a price, from %s: the model, the reason and the remedy in every view",
  async (_, way, [from, to, model, why]) => {
    replay = new Replay("claude-code", "basic", { edit: (text) => text.replaceAll(from, to) });
    for (const [name, lines] of Object.entries(await notes(replay, way))) {
      const found = [...new Set(lines.filter((line) => line.startsWith("price unknown: ")))].join("\n");
      expect(found, name).toMatch(/^price unknown: \d calls, [\w-]+ \(\d\): [^\n]+$/);
      expect(found, name).toContain(`calls, ${model}`);
      expect(found, name).toContain(`: ${why}`);
      expect(found, name).toContain("; to add it: openhook-otel config set prices.file <file>");
    }
  },
);

test.each(
  firstOf(
    [
      ["claude-code", "web-search", "import", "1 web search by WebSearch of claude-code"],
      ["gemini-cli", "basic", "hooks", "web search(es)? by google_web_search of gemini-cli"],
      ["claude-code", "web-search", "hooks", "1 web search by WebSearch of claude-code"],
      ["gemini-cli", "basic", "import", "web search(es)? by google_web_search of gemini-cli"],
    ] as const,
    2,
  ),
)(
  "a search of %s, %s, whose request is in no record, by %s: every view says that it is not in the cost",
  async (source, name, way, what) => {
    const edit = (text: string): string => text.replaceAll("read_file", "google_web_search");
    replay = new Replay(source, name, { edit });
    for (const [view, lines] of Object.entries(await notes(replay, way))) {
      // Windows of rate limits count calls of models only
      if (view === "blocks") continue;
      expect(lines.join("\n"), view).toMatch(new RegExp(`not in the cost: .*${what}: it sends a request of its own`));
    }
  },
);

test("a tool of another agent with the same name is no such search", async () => {
  replay = new Replay("claude-code", "basic", { edit: (text) => text.replaceAll('"Bash"', '"google_web_search"') });
  for (const [view, lines] of Object.entries(await notes(replay, "hooks")))
    expect(lines.join("\n"), view).not.toContain("not in the cost");
});

test("with prices for all calls there is nothing to say", async () => {
  replay = new Replay("claude-code", "basic");
  for (const [name, lines] of Object.entries(await notes(replay, "hooks")))
    expect(lines.join("\n"), name).not.toMatch(/price unknown|to add it|lower bound|not in the cost/);
});

test("a call that reported no tokens is not said to lack a price, even if it has no reason", () => {
  const call = { key: "k", model: "acme-large-1", startMs: 1, endMs: 2, complete: true };
  expect(unpricedOf([{ call }, { call: { ...call, usage: { output: 1 } } }])).toEqual([]);
  expect(noPriceNotes(unpricedOf([{ call: { ...call, usage: { input: 1, output: 1 } } }]))[0]).toMatch(
    /^price unknown: 1 call, acme/,
  );
});
