import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { loadConfig } from "#config/load.ts";
import { QUARTER_MS } from "#core/model/packed.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import type { UsageQuery } from "#show/report/query.ts";
import { DIMENSIONS, type Dimension, isOfTools, whyNotCombined } from "#show/report/query.ts";
import { type SessionView, viewOf } from "#show/report/session-view.ts";
import { usage, usageByGroupings } from "#show/report/usage.ts";
import { NOTHING } from "#show/report/usage-facts.ts";
import type { UsageRow } from "#show/report/usage-rows.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { recentSessions } from "#store/queries.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import { clockAt } from "../support/clock.ts";
import fc from "../support/properties.ts";
import { Replay } from "../support/replay.ts";
import { runs } from "../support/whole.ts";
import { filledStore } from "./filled.ts";

const agents = await allAgents();
let of: Replay;
let db: Database;
let views: readonly SessionView[];

beforeAll(async () => {
  ({ of } = await filledStore());
  db = openDatabase(of.places.storePath);
  views = await viewsNow();
});
afterAll(() => {
  db.close();
  of.remove();
});

async function viewsNow(): Promise<readonly SessionView[]> {
  const settings = spanSettings({ loaded: await loadConfig({ env: {}, places: of.places }) });
  return recentSessions(db, 1000).map((stored) => viewOf(db, stored, { agents }, settings));
}

/** Reports by subagent read sessions: read-facts.test.ts. */
const IN_STORE = DIMENSIONS.filter((dimension) => dimension !== "subagent");

const query = (by: readonly Dimension[], query: Partial<UsageQuery> = {}): readonly UsageRow[] =>
  usage(db, { agents }, { ...query, by });

/** Sums of rows; parts that the rows do not contain are left out. */
function added(rows: readonly UsageRow[]) {
  const sums: Record<string, number> = {};
  for (const { calls, turns, tools } of rows) {
    for (const [part, figures] of Object.entries({ calls, turns, tools })) {
      for (const [name, value] of Object.entries(figures ?? {})) {
        if (typeof value === "number") sums[`${part}.${name}`] = (sums[`${part}.${name}`] ?? 0) + value;
      }
    }
  }
  return sums;
}

/** The same, computed from each session. */
function fromViews(of: readonly SessionView[]) {
  const calls = of.flatMap((view) => view.calls);
  const tools = of.flatMap((view) => view.toolCalls.map(({ tool }) => tool));
  const turns = of.flatMap((view) => view.turnList.filter((t) => t.origin === "human" || t.origin === "machine"));
  const is = (status: string): number => tools.filter((tool) => tool.status === status).length;
  return {
    ...Object.fromEntries(Object.entries(sumOfCalls(calls)).map(([name, value]) => [`calls.${name}`, value])),
    "turns.turns": turns.length,
    "turns.prompts": turns.filter((turn) => turn.origin === "human").length,
    "tools.calls": tools.length,
    "tools.errors": is("error"),
    "tools.denied": is("denied"),
    "tools.unfinished": is("unfinished"),
    "tools.open": is("open"),
  };
}

test.each([[["day"]], [["repository"]], [["session"]], [["model", "agent"]], [[]]] as const)(
  "only costs, by %j: the same as with everything else",
  (by) => {
    const rows = query(by);
    const costs = query(by, { costOnly: true });
    const costOf = ({ key, calls, sessionsWithoutUsage }: UsageRow) => {
      const { modelCalls, aggregateRecords, callsWithoutUsage, incompleteCalls, unpricedCalls, costNanoUsd } =
        calls ?? NOTHING;
      const counts = { modelCalls, aggregateRecords, callsWithoutUsage, incompleteCalls, unpricedCalls };
      return { key, ...counts, costNanoUsd, sessionsWithoutUsage };
    };
    // Rows of tools and turns alone are left out
    const nothing = JSON.stringify({ ...costOf({ ...EMPTY, key: {} }), key: undefined });
    const some = (all: readonly UsageRow[]) =>
      all.map(costOf).filter((one) => JSON.stringify({ ...one, key: undefined }) !== nothing);
    expect(some(costs)).toEqual(some(rows));
    expect(some(rows).length).toBeGreaterThan(0);
    for (const { turns, tools } of costs) expect([turns, tools]).toEqual([undefined, undefined]);
  },
);

const EMPTY: UsageRow = { key: {}, sessions: 0, agentsWithoutUsage: [], sessionsWithoutUsage: 0 };

describe("recorded sessions, ended and running", () => {
  test("the store contains every kind of data", () => {
    const [total] = query([]);
    expect(total?.sessions).toBe(views.length);
    expect(total).toMatchObject({ agentsWithoutUsage: ["claude-code"], sessionsWithoutUsage: 1 });
    const sums = added(query([]));
    for (const name of [
      "calls.input",
      "calls.cacheRead",
      "calls.unpricedCalls",
      "calls.incompleteCalls",
      "calls.costNanoUsd",
    ])
      expect(sums[name], name).toBeGreaterThan(0);
    for (const name of ["tools.errors", "tools.denied", "tools.unfinished"])
      expect(sums[name], name).toBeGreaterThan(0);
    expect(views.some((view) => view.calls.some((call) => call.open))).toBe(true);
  });

  test("all together: the sums of all sessions, to the token", () => {
    expect(added(query([]))).toMatchObject(fromViews(views));
  });

  test("any dimension adds up to the same", () => {
    const total = added(query([]));
    const dimensions = fc.uniqueArray(fc.constantFrom(...IN_STORE), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        dimensions.filter((by) => whyNotCombined({ by }) === undefined),
        fc.constantFrom("UTC", "Asia/Kathmandu", "America/Los_Angeles"),
        (by, timeZone) => {
          const rows = query(by, { timeZone });
          const sums = added(rows);
          const parts = isOfTools({ by }) ? ["tools"] : by.includes("model") ? ["calls"] : ["calls", "turns", "tools"];
          const expected = Object.entries(total).filter(([name]) => parts.some((part) => name.startsWith(`${part}.`)));
          expect(sums).toEqual(Object.fromEntries(expected));
          const keys = rows.map(({ key }) => JSON.stringify(by.map((dimension) => key[dimension])));
          expect(new Set(keys).size).toBe(keys.length);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  test("several dimensions together give each the same rows as alone", () => {
    const way = fc.uniqueArray(fc.constantFrom(...IN_STORE), { maxLength: 3 });
    const ways = fc.array(
      way.filter((by) => whyNotCombined({ by }) === undefined),
      { minLength: 2, maxLength: 4 },
    );
    fc.assert(
      fc.property(ways, fc.constantFrom("UTC", "Asia/Kathmandu"), (several, timeZone) => {
        const together = usageByGroupings(db, { agents }, { timeZone }, several);
        expect(together).toEqual(several.map((by) => query(by, { timeZone })));
      }),
      { numRuns: runs(40) },
    );
  });

  test("a range split in two adds up to the whole, wherever it is split", () => {
    const total = added(query([]));
    const times = views.flatMap((view) => [view.stored.firstMs, view.stored.lastMs]);
    fc.assert(
      fc.property(fc.integer({ min: Math.min(...times), max: Math.max(...times) }), (ms) => {
        const cutMs = Math.floor(ms / QUARTER_MS) * QUARTER_MS;
        expect(added([...query([], { untilMs: cutMs }), ...query(["day"], { sinceMs: cutMs })])).toEqual(total);
      }),
      { numRuns: 20 },
    );
  });

  test("each session alone, and each agent", () => {
    for (const view of views) {
      const expected = fromViews([view]);
      expect(added(query([], { session: view.stored.id }))).toMatchObject(expected);
      const name = `${view.stored.source}/${view.stored.sessionId}`;
      const rows = query(["session"]).filter(({ key }) => key.session === name);
      expect(added(rows)).toMatchObject(expected);
      expect(rows[0]?.sessions).toBe(1);
    }
    for (const source of new Set(views.map((view) => view.stored.source))) {
      const own = views.filter((view) => view.stored.source === source);
      expect(added(query([], { agent: source }))).toMatchObject(fromViews(own));
      expect(query(["agent"]).find(({ key }) => key.agent === source)?.sessions).toBe(own.length);
    }
  });

  test("one model: only its calls; turns and tools belong to no model", () => {
    const [model] = query(["model"]);
    const name = model?.key.model ?? "";
    const [only] = query([], { model: name });
    expect(only?.calls).toEqual(model?.calls);
    expect(only).not.toHaveProperty("turns");
    expect(only).not.toHaveProperty("tools");
    expect(() => query(["model", "tool"])).toThrow(RangeError);
  });

  test("exact results: Claude Code's denied calls, Codex's subagents, OpenCode's missing price", () => {
    const row = (by: Dimension, value: string) => query([by]).find(({ key }) => key[by] === value);
    expect(row("agent", "opencode")).toMatchObject({
      sessions: 1,
      calls: { modelCalls: 5, input: 21_000, output: 86, unpricedCalls: 5 },
      turns: { turns: 3, prompts: 3 },
    });
    expect(row("agent", "opencode")?.calls).not.toHaveProperty("costNanoUsd");
    const denied = views.find((view) => view.stored.sessionId.startsWith("64edee75"));
    expect(query(["tool"], { session: denied?.stored.id ?? 0 })).toMatchObject([
      { key: { tool: "Bash" }, tools: { calls: 3, denied: 2, errors: 0 } },
      { key: { tool: "Write" }, tools: { calls: 1, denied: 1, errors: 0 } },
    ]);
  });

  test("unknown tokens are listed, and are not 0", () => {
    const unreported = views.find((view) => view.facts.usageUnknown === true);
    const [row] = query(["model"], { session: unreported?.stored.id ?? 0 });
    expect(row).toMatchObject({
      key: { model: null },
      sessions: 1,
      agentsWithoutUsage: ["claude-code"],
      sessionsWithoutUsage: 1,
    });
    expect(row?.calls).toMatchObject({ modelCalls: 0 });
    expect(row?.calls).not.toHaveProperty("input");
  });

  test("no matches: no rows", () => {
    expect(query(["day"], { agent: "nobody" })).toEqual([]);
    expect(query(["day"], { untilMs: 1_000_000 })).toEqual([]);
    expect(query([], { model: "no-such-model" })).toEqual([]);
  });
});

test("unsettled activity without a prompt: tools, and no turn", async () => {
  const at = new Replay("claude-code", "basic", { withTranscripts: false });
  const begun = at.calls.filter(({ event }) => event === "PreToolUse");
  for (const call of begun) at.put({ ...call, stdin: { ...call.stdin, prompt_id: undefined } });
  await at.drain({}, clockAt(Math.max(...begun.map((call) => Date.parse(call.received_at)))));
  const store = openDatabase(at.places.storePath);
  const [total] = usage(store, { agents }, { by: [] });
  store.close();
  at.remove();
  expect(total).toMatchObject({
    sessions: 1,
    turns: { turns: 0, prompts: 0 },
    tools: { calls: begun.length, open: begun.length },
  });
});

describe("other ways of storing count the same", () => {
  const everything = () =>
    [["hour"], ["day", "agent"], ["model"], ["tool"], ["session"], ["repository"]].map((by) =>
      query(by as Dimension[]),
    );

  test("packed sessions, with sums per quarter of an hour", () => {
    const before = everything();
    db.transaction(() => {
      for (const { stored, calls } of views) {
        if (calls.some((call) => call.open)) continue;
        pack(stored.id);
      }
    });
    expect(db.prepare("SELECT count(*) AS n FROM packed_usage").get()?.["n"]).toBeGreaterThan(5);
    expect(everything()).toEqual(before);
  });

  test("a subagent's session counts for its root; pruned and excluded ones do not count", () => {
    const [child, root, pruned, excluded] = views
      .filter(({ stored }) => stored.source === "claude-code")
      .map(({ stored }) => stored.id);
    const rowsOf = (session = 0) => added(query([], { session }));
    const [ofChild, ofRoot] = [rowsOf(child), rowsOf(root)];
    const sessions = query([])[0]?.sessions ?? 0;
    db.prepare("UPDATE sessions SET parent = ? WHERE id = ?").run(root ?? 0, child ?? 0);
    expect(rowsOf(child)).toEqual({});
    expect(rowsOf(root)["calls.modelCalls"]).toBe(
      (ofChild["calls.modelCalls"] ?? 0) + (ofRoot["calls.modelCalls"] ?? 0),
    );
    expect(query([])[0]?.sessions).toBe(sessions - 1);
    db.prepare("UPDATE sessions SET pruned_ms = 1 WHERE id = ?").run(pruned ?? 0);
    db.prepare("UPDATE sessions SET excluded = 1 WHERE id = ?").run(excluded ?? 0);
    expect([rowsOf(pruned), rowsOf(excluded)]).toEqual([{}, {}]);
    expect(query([])[0]?.sessions).toBe(sessions - 3);
    db.prepare("UPDATE sessions SET pruned_ms = 1 WHERE id = ?").run(root ?? 0);
    const left = views.filter(({ stored }) => ![child, root, pruned, excluded].includes(stored.id));
    expect(added(query([]))).toMatchObject(fromViews(left));
    db.prepare("UPDATE sessions SET pruned_ms = NULL WHERE id = ?").run(root ?? 0);
    // A damaged store may contain a cycle of parents
    db.prepare("UPDATE sessions SET parent = ? WHERE id = ?").run(child ?? 0, root ?? 0);
    expect(query([]).length).toBe(1);
  });

  function pack(session: number): void {
    const quarter = `CAST(time_ms / ${QUARTER_MS} AS INTEGER) * ${QUARTER_MS}`;
    const into = (table: string, view: string, same: string, sums: readonly string[]) =>
      db
        .prepare(
          `INSERT INTO ${table} (session, time_ms, ${same}, ${sums.join(", ")})
           SELECT session, ${quarter} AS at, ${same}, ${sums.map((name) => `sum(${name})`).join(", ")}
           FROM ${view} WHERE session = ? GROUP BY at, ${same}`,
        )
        .run(session);
    db.prepare("INSERT INTO packed (session, body) VALUES (?, '')").run(session);
    const tokens = ["input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h", "reasoning"];
    into("packed_usage", "usage", "model, subagent", [
      ...["calls", "sums_told", "without_usage", "unpriced", "incomplete"],
      ...[...tokens, "cost_nano_usd", "duration_ms"],
    ]);
    into("packed_tools", "tool_usage", "name, mcp_server, skill, subagent", [
      ...["calls", "errors", "denied", "unfinished", "duration_ms"],
    ]);
    into("packed_turns", "turn_usage", "origin", ["turns", "failed", "interrupted"]);
    for (const table of ["model_calls", "tool_calls", "turns", "spans"]) {
      if (table === "spans")
        db.prepare("DELETE FROM outbox WHERE seq IN (SELECT seq FROM spans WHERE session = ?)").run(session);
      db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(session);
    }
  }
});
