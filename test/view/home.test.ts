import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "#config/load.ts";
import type { AgentLimit, Subscriptions } from "#core/model/rate-limit.ts";
import { figuresOf } from "#show/view/data/rows.ts";
import { traceLinkOf } from "#show/view/deps.ts";
import type { HomeDocument } from "#show/view/wire/documents.ts";
import { openDatabase } from "#store/database.ts";
import { ensureSession } from "#store/sessions.ts";
import { ensureBuilt } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { Served } from "./served.ts";

const DAY_MS = 86_400_000;

let replay: Replay;
let served: Served;
let nowMs = 0;
let subscriptions: Subscriptions = new Map();
let limits: readonly AgentLimit[] = [];
/** When the recorded session started, and the start of that day. */
let [startMs, dayMs] = [0, 0];
beforeAll(async () => {
  await ensureBuilt();
  replay = new Replay("claude-code", "nested-subagents");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  served = await Served.at(replay.places, () => nowMs, undefined, {
    subscriptions: () => subscriptions,
    limits: () => limits,
    budget: { month: 200, repositories: { other: 5 } },
  });
  const { rows } = (await served.json("api/sessions")) as { rows: readonly { start: string }[] };
  startMs = Date.parse(rows[0]?.start ?? "");
  dayMs = Math.floor(startMs / DAY_MS) * DAY_MS;
});
afterAll(async () => {
  await served.close();
  replay.remove();
});

const home = async (todayMs: number): Promise<HomeDocument> =>
  (await served.json(
    `api/home?todayMs=${todayMs}&yesterdayMs=${todayMs - DAY_MS}&sinceMs=${todayMs - 6 * DAY_MS}&beforeMs=${todayMs - 13 * DAY_MS}&timeZone=UTC`,
  )) as unknown as HomeDocument;

describe("home", () => {
  test("compares today with yesterday up to the same time, and a period with the one before", async () => {
    nowMs = dayMs + DAY_MS - 1;
    const own = await home(dayMs);
    expect(own.today.figures).toMatchObject({ sessions: 1, tool_calls: 5 });
    expect(own.today.figures?.cost_usd).toBe(own.period.figures?.cost_usd);
    expect([own.today.before, own.period.before]).toEqual([null, null]);
    expect(own.costUsd.filter((cost) => cost !== null)).toEqual([own.today.figures?.cost_usd]);

    // The next day: before the session's time of day, and after it
    nowMs = startMs + DAY_MS - 3_600_000;
    expect((await home(dayMs + DAY_MS)).today).toEqual({ figures: null, before: null });
    nowMs = startMs + DAY_MS + 3_600_000;
    expect((await home(dayMs + DAY_MS)).today).toEqual({ figures: null, before: own.today.figures });

    nowMs = startMs + 7 * DAY_MS + 3_600_000;
    expect((await home(dayMs + 7 * DAY_MS)).period).toEqual({ figures: null, before: own.period.figures });
  });

  test("sums of sessions of which one reported no usage are lower bounds, as in reports", () => {
    const calls = {
      modelCalls: 2,
      aggregateRecords: 0,
      callsWithoutUsage: 0,
      incompleteCalls: 0,
      unpricedCalls: 0,
      input: 10,
      output: 5,
      costNanoUsd: 3,
      modelMs: 1,
    };
    const row = { key: {}, sessions: 2, calls, agentsWithoutUsage: [] };
    const bounds = (sessionsWithoutUsage: number) => {
      const { inputIsLowerBound, outputIsLowerBound, costIsLowerBound } = figuresOf({
        ...row,
        sessionsWithoutUsage,
      });
      return [inputIsLowerBound, outputIsLowerBound, costIsLowerBound];
    };
    expect([bounds(0), bounds(1)]).toEqual([
      [false, false, false],
      [true, true, true],
    ]);
  });

  test("running: open sessions with recent activity only", async () => {
    const db = openDatabase(replay.places.storePath);
    ensureSession(db, "acme", "never-used", startMs);
    db.close();
    nowMs = startMs + 60_000;
    expect((await home(dayMs)).running).toEqual([]);
  });

  test("an agent that is known to run on a subscription: named on the page, marked on its sessions", async () => {
    nowMs = dayMs + DAY_MS - 1;
    const marked = async () => {
      const { subscribed, recent } = await home(dayMs);
      return {
        subscribed,
        onSubscription: recent.flatMap((row) => (row.source === "acme" ? [] : row.on_subscription)),
      };
    };
    const none = { subscribed: [], onSubscription: [null] };
    expect(await marked()).toEqual(none);
    subscriptions = new Map([["claude-code", startMs - 1]]);
    expect(await marked()).toEqual({ subscribed: ["Claude Code"], onSubscription: [true] });
    subscriptions = new Map([["claude-code", nowMs + 1]]);
    expect(await marked()).toEqual(none);
  });

  test("what is left of budgets, and where the month will end, as without a command and in `report month`", async () => {
    nowMs = dayMs + DAY_MS - 1;
    const { outlook, today } = await home(dayMs);
    const [whole, other] = outlook;
    const cost = whole?.cost_usd ?? 0;
    expect(cost).toBe(today.figures?.cost_usd);
    expect(whole).toMatchObject({ repository: null, budget_usd: 200, left_usd: 200 - cost, forecast: null });
    expect(whole?.parts).toHaveLength(3);
    expect(other).toMatchObject({ repository: "other", cost_usd: null, budget_usd: 5, left_usd: null });
  });

  test("windows of limits: what is used until the reset, then unknown, then nothing", async () => {
    nowMs = dayMs + DAY_MS - 1;
    const [five, week] = [nowMs + 3_600_000, nowMs + 3 * DAY_MS];
    limits = [
      { agent: "claude-code", window: "five_hour", percent: 23.5, resetsAtMs: five, reportedMs: nowMs - 60_000 },
      { agent: "codex", window: "seven_day", percent: 41, resetsAtMs: week },
    ];
    expect((await home(dayMs)).limits).toEqual([
      { agent: "Claude Code", name: "5h", percent: 23.5, resetsAtMs: five, reportedMs: nowMs - 60_000 },
      { agent: "Codex", name: "7d", percent: 41, resetsAtMs: week, reportedMs: null },
    ]);
    nowMs = five;
    expect((await home(dayMs)).limits.map(({ percent }) => percent)).toEqual([null, 41]);
    nowMs = five + 5 * 3_600_000;
    expect((await home(dayMs)).limits.map(({ name }) => name)).toEqual(["7d"]);
    limits = [];
  });

  test("a period with more bars than a chart can show is refused", async () => {
    expect(await served.ask(`api/home?unit=hour&sinceMs=0`)).toMatchObject({ status: 400 });
  });
});

test("files with figures: the columns of the report, and only known groupings", async () => {
  const csv = await served.ask("api/report.csv?by=agent,tool&timeZone=UTC");
  expect(csv.headers["content-disposition"]).toBe('attachment; filename="openhook-usage-agent-tool.csv"');
  const [head, ...rows] = csv.text.split("\r\n");
  expect(head).toMatch(/^agent,tool,sessions,.*tool_calls,tool_errors/);
  expect(rows).toContainEqual(expect.stringMatching(/^claude-code,Bash,1,/));
  const json = (await served.json("api/report.json?by=model")) as { rows: readonly Record<string, unknown>[] };
  expect(json.rows[0]).toMatchObject({ model: "claude-sonnet-4-5-20250929", sessions: 1 });
  for (const by of ["place", "model,tool"]) {
    expect((await served.ask(`api/report.csv?by=${by}`)).status).toBe(400);
  }
});

test("the link to a trace: the setting, otherwise the Jaeger that reconcile queries, otherwise none", async () => {
  const { config } = await loadConfig({ env: {}, places: replay.places });
  expect(traceLinkOf(config)).toEqual({});
  const withJaeger = { ...config, reconcile: { ...config.reconcile, jaeger: "http://127.0.0.1:16686/" } };
  expect(traceLinkOf(withJaeger).traceLink).toBe("http://127.0.0.1:16686/trace/{trace_id}");
  const traceLink = "https://grafana.example/explore?id={trace_id}&span={span_id}";
  const linked = await Served.at(replay.places, Date.now, async () => {}, { traceLink });
  const { traceUrl, spans } = (await linked.json(
    "api/session?source=claude-code&id=a79b3a9f-1c1f-4101-b0e2-6f245ecf26b3",
  )) as { traceUrl: string; spans: { ids: string } };
  await linked.close();
  expect(traceUrl).toMatch(/^https:\/\/grafana\.example\/explore\?id=[0-9a-f]{32}&span=[0-9a-f]{16}$/);
  expect(spans.ids).toContain(traceUrl.slice(-16));
});
