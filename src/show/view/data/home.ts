import { cardOf } from "#core/rules/cards.ts";
import type { Database } from "#store/database.ts";
import { subscribedAgents } from "../../report/list-price.ts";
import { noPriceNotes, unpricedModels } from "../../report/no-price.ts";
import { usageByGroupings } from "../../report/usage.ts";
import type { UsageRow } from "../../report/usage-row.ts";
import type { UsageFigures } from "../wire/figures.ts";
import type { HomeDocument, HomeGroup } from "../wire/home.ts";
import type { Split, TimeUnit } from "../wire/usage.ts";
import { chartBuckets, checkBarCount } from "./chart-buckets.ts";
import { figuresOf, firstMs, nameOfKey } from "./figures.ts";
import type { FilterValues } from "./filter-values.ts";
import type { RowDeps } from "./rows.ts";
import { runningSessions } from "./running.ts";
import { listSessions } from "./sessions.ts";
import { toolRows } from "./tools.ts";

export interface HomeQuery {
  /** Start of the user's day, and of the day before. */
  readonly todayMs: number;
  readonly yesterdayMs: number;
  /** Start of the chosen period. @default start of the first session */
  readonly sinceMs?: number;
  /** End of the chosen period. @default now */
  readonly untilMs?: number;
  /** Start of the period before, which ends when this one starts. @default there is none */
  readonly beforeMs?: number;
  readonly unit: TimeUnit;
  readonly timeZone?: string;
}

type Deps = RowDeps & { readonly filterValues: (db: Database) => FilterValues };

/**
 * What the start page shows: today and the chosen period, each compared with the period before up to the same time, so that a day that
 * has just begun does not look cheap.
 *
 * @throws RangeError for an unknown time zone, or for more buckets than a chart can show
 */
export function homeOver(db: Database, deps: Deps, query: HomeQuery): HomeDocument {
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
  const between = (fromMs: number, toMs?: number): UsageFigures | null => {
    const range = { sinceMs: fromMs, ...(toMs !== undefined && { untilMs: toMs }), ...zone };
    const [[row] = []] = usageByGroupings(db, deps, range, [[]]);
    return row === undefined ? null : figuresOf(row);
  };
  return {
    kind: "home",
    nowMs,
    sinceMs,
    unit,
    buckets,
    costNanoUsd: buckets.map((bucket) => rows.get(bucket)?.calls?.costNanoUsd ?? null),
    today: {
      figures: between(query.todayMs),
      before: between(query.yesterdayMs, query.yesterdayMs + (nowMs - query.todayMs)),
    },
    period: {
      figures: total[0] === undefined ? null : figuresOf(total[0]),
      before: query.beforeMs === undefined ? null : between(query.beforeMs, query.beforeMs + (untilMs - sinceMs)),
    },
    repositories: groupsOf(deps, "repository", repositories),
    agents: groupsOf(deps, "agent", agents),
    models: groupsOf(deps, "model", models),
    tools: toolRows(db, deps, tools),
    running: runningSessions(db, deps, deps.filterValues(db)),
    recent: listSessions(db, deps, { errors: false, sort: "recent", descending: true, limit: RECENT }).rows,
    noPrice: noPriceNotes(unpricedModels(db, models, query)),
    subscribed: subscribedOf(deps, agents, untilMs),
    sessionCount: sessionCount(db),
  };
}

// --- internal ---

/** Sessions in the list at the end of the page. */
const RECENT = 6;

const groupsOf = (deps: Deps, split: Split, rows: readonly UsageRow[]): readonly HomeGroup[] =>
  rows.map((row) => ({
    name: nameOfKey(deps, split, row.key[split] ?? null),
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

const sessionCount = (db: Database): number =>
  Number(
    db.prepare("SELECT count(*) AS n FROM sessions s WHERE s.pruned_ms IS NULL AND s.excluded = 0").get()?.["n"] ?? 0,
  );
