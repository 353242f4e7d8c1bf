import { RATE_WINDOWS, WINDOW_MS } from "#core/model/rate-limit.ts";
import { cardOf } from "#core/rules/cards.ts";
import { usd } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import { idleSessions, sessionById } from "#store/sessions.ts";
import { chargeNotes } from "../../report/charges.ts";
import { coveredBy, coveredNotes } from "../../report/covered.ts";
import { FORECAST_METHOD } from "../../report/forecast.ts";
import { missingNotes } from "../../report/missing.ts";
import { monthOutlooks, NO_BUDGET, outlookJson, outlookParts } from "../../report/month.ts";
import { subscribedAgents, unpricedModels } from "../../report/prices.ts";
import type { TimeUnit } from "../../report/query.ts";
import { summarise } from "../../report/session-summary.ts";
import { toolTitle } from "../../report/titles.ts";
import { unseenSearches } from "../../report/unseen-searches.ts";
import { usageByGroupings } from "../../report/usage.ts";
import type { UsageRow } from "../../report/usage-rows.ts";
import type { ViewDeps } from "../deps.ts";
import type { Split } from "../wire/api.ts";
import { chartBuckets, checkBarCount, firstMs, nameOfKey } from "./figures.ts";
import { type FilterValues, SHOWN } from "./filter-values.ts";
import { figuresOf, type RowDeps, toRow } from "./rows.ts";
import { listSessions } from "./sessions.ts";
import { toolRows } from "./tools.ts";

interface HomeQuery {
  /** Start of the user's day, and of the day before. */
  readonly todayMs: number;
  readonly yesterdayMs: number;
  /** Start of the user's month, and of the month before. */
  readonly monthMs: number;
  readonly lastMonthMs: number;
  /** Start of the chosen period. @default start of the first session */
  readonly sinceMs?: number;
  /** End of the chosen period. @default now */
  readonly untilMs?: number;
  /** Start of the period before, which ends when this one starts. @default there is none */
  readonly beforeMs?: number;
  readonly unit: TimeUnit;
  readonly timeZone?: string;
}

type Deps = RowDeps & Pick<ViewDeps, "budget" | "limits"> & { readonly filterValues: (db: Database) => FilterValues };

/**
 * What the start page shows: today and the chosen period, each compared with the period before up to the same time, so that a day that
 * has just begun does not look cheap.
 *
 * @throws RangeError for an unknown time zone, or for more buckets than a chart can show
 */
export function homeOver(db: Database, deps: Deps, query: HomeQuery) {
  const { unit, timeZone } = query;
  const { nowMs } = deps.idle;
  const zone = timeZone === undefined ? {} : { timeZone };
  const sinceMs = query.sinceMs ?? firstMs(db) ?? nowMs;
  const untilMs = query.untilMs ?? nowMs;
  const period = { sinceMs, untilMs, unit, ...zone };
  checkBarCount(period);
  const [total = [], byTime = [], repositories = [], agents = [], models = [], tools = []] = usageByGroupings(
    db,
    deps,
    { sinceMs, ...(query.untilMs !== undefined && { untilMs: query.untilMs }), ...zone },
    [[], [unit], ["repository"], ["agent"], ["model"], ["agent", "tool"]],
  );
  const { buckets, rows } = chartBuckets(period, byTime);
  /** `null`: nothing happened. A period that is shorter than the one after it ends before that one starts. */
  const before = (fromMs: number, startMs: number, endMs: number) =>
    between(fromMs, Math.min(startMs, fromMs + (endMs - startMs)));
  const between = (fromMs: number, toMs?: number) => {
    const range = { sinceMs: fromMs, ...(toMs !== undefined && { untilMs: toMs }), ...zone };
    const [[row] = []] = usageByGroupings(db, deps, range, [[]]);
    return row === undefined ? null : figuresOf(row);
  };
  return {
    kind: "home" as const,
    nowMs,
    sinceMs,
    unit,
    /** Names of all buckets in order, also of empty ones. */
    buckets,
    /** One per bucket; `null`: no cost is known. */
    costUsd: buckets.map((bucket) => usd(rows.get(bucket)?.calls?.costNanoUsd)),
    today: {
      figures: between(query.todayMs),
      before: before(query.yesterdayMs, query.todayMs, nowMs),
    },
    month: {
      figures: between(query.monthMs),
      before: before(query.lastMonthMs, query.monthMs, nowMs),
    },
    /** Where the month will end and what its budget is; then the same of each repository with a budget. */
    outlook: monthOutlooks(db, deps, deps.budget ?? NO_BUDGET, { nowMs, ...zone }).map((one) => ({
      ...outlookJson(one),
      /** For people: cost so far, what is left of a budget, the forecast. */
      parts: outlookParts(one),
    })),
    forecastMethod: FORECAST_METHOD,
    /** The windows of rate limits that agents reported: of those that are running, and of those that ended last. */
    limits: limitsOf(deps, nowMs),
    /** The chosen period; `before` is `null` if nothing happened, or if there is no period before. */
    period: {
      figures: total[0] === undefined ? null : figuresOf(total[0]),
      before: query.beforeMs === undefined ? null : before(query.beforeMs, sinceMs, untilMs),
    },
    repositories: groupsOf(deps, "repository", repositories),
    agents: groupsOf(deps, "agent", agents),
    models: groupsOf(deps, "model", models),
    tools: toolRows(db, deps, tools),
    running: runningSessions(db, deps, deps.filterValues(db)),
    /** The sessions with the latest activity. */
    recent: listSessions(db, deps, { errors: false, sort: "recent", descending: true, limit: RECENT }).rows,
    /** What was charged besides tokens, and what flat plans cover in the period, in sentences. */
    charges: [
      ...(total[0] === undefined ? [] : chargeNotes(total[0])),
      ...coveredNotes(coveredBy(db, deps, { ...query, sinceMs, untilMs })),
    ],
    /** What is missing in the period's total, why, and what to do, in sentences. */
    missing: missingNotes({
      ...total[0],
      unpriced: unpricedModels(db, models, query),
      unseen: unseenSearches(db, deps, { ...query, sinceMs, untilMs }),
    }),
    /** Names of the agents with costs that are known to run on a subscription. */
    subscribed: subscribedOf(deps, agents, untilMs),
    /** All sessions in the store. */
    sessionCount: sessionCount(db),
  };
}

// --- internal ---

/** Sessions in the list at the end of the page. */
const RECENT = 6;

/** The agents, models or repositories. */
const groupsOf = (deps: Deps, split: Split, rows: readonly UsageRow[]) =>
  rows.map((row) => ({
    /** `null`: unknown. */
    name: nameOfKey(deps, split, row.key[split] ?? null),
    /** The value of its filter. */
    key: row.key[split] ?? null,
    figures: figuresOf(row),
  }));

/** Titles of the agents that have costs and run on a subscription. */
function subscribedOf(deps: Deps, agents: readonly UsageRow[], untilMs: number): readonly string[] {
  const withCosts = agents.flatMap(({ key, calls }) => (calls?.costNanoUsd === undefined ? [] : (key.agent ?? [])));
  return subscribedAgents(withCosts, deps.subscriptions?.() ?? new Map(), untilMs).map(
    (agent) => cardOf(deps, agent)?.title ?? agent,
  );
}

/** `percent` is `null` after the reset: unknown. Windows that ended longer ago than they last are left out. */
const limitsOf = (deps: Deps, nowMs: number) =>
  (deps.limits?.() ?? [])
    .filter(({ window, resetsAtMs }) => resetsAtMs + WINDOW_MS[window] > nowMs)
    .map(({ agent, window, percent, resetsAtMs, reportedMs }) => ({
      agent: cardOf(deps, agent)?.title ?? agent,
      name: RATE_WINDOWS[window],
      percent: resetsAtMs > nowMs ? percent : null,
      resetsAtMs,
      reportedMs: reportedMs ?? null,
    }));

const sessionCount = (db: Database): number =>
  Number(
    db.prepare("SELECT count(*) AS n FROM sessions s WHERE s.pruned_ms IS NULL AND s.excluded = 0").get()?.["n"] ?? 0,
  );

/** The open sessions with recent activity, the latest first. */
function runningSessions(db: Database, deps: RowDeps, { names }: Pick<FilterValues, "names">) {
  const { agents, idle } = deps;
  const ids = db
    .prepare(
      `SELECT s.id AS id FROM sessions s WHERE ${SHOWN} AND s.last_ms >= ? AND s.id IN (SELECT value FROM json_each(?))
       ORDER BY s.last_ms DESC, s.id DESC LIMIT ?`,
    )
    .all(idle.nowMs - idle.idleTimeoutMs, JSON.stringify(idleSessions(db, Number.MAX_SAFE_INTEGER)), MAX_RUNNING)
    .map((row) => Number(row["id"]));
  return ids.flatMap((id) => {
    const stored = sessionById(db, id);
    const row = toRow(db, deps, summarise(db, stored, { agents }), names);
    if (row.ending.state !== "open") return [];
    const { turns, subagents } = unsettledSession({ db, agents }, stored);
    const turn = turns.findLast(({ state, origin }) => state === "open" && origin !== "none");
    const tools = [...turns, ...subagents]
      .flatMap(({ toolCalls }) => toolCalls)
      .filter(({ status }) => status === "open")
      .map(({ name, mcpServer, startMs }) => ({ name: toolTitle(name, mcpServer), startMs }));
    return [
      {
        row,
        /** `null`: the agent waits for the user. */
        turnStartMs: turn?.startMs ?? null,
        /** Tool calls that run now. */
        tools,
      },
    ];
  });
}

/** More do not fit on a screen. */
const MAX_RUNNING = 30;
