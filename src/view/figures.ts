import { cardOf } from "../model/card-of.ts";
import { bucketsBetween, compareBuckets } from "../report/buckets.ts";
import type { UsageQuery } from "../report/query.ts";
import { usage, usageByGroupings } from "../report/usage.ts";
import type { UsageRow } from "../report/usage-row.ts";
import type { SessionSource } from "../sessions/read-session.ts";
import type { Database } from "../store/database.ts";
import type { FilterValues } from "./filter-values.ts";
import { STARTED } from "./list.ts";
import { toSums } from "./rows.ts";
import type { UsageFigures } from "./wire/figures.ts";
import type { ToolRow, ToolsDocument } from "./wire/tools.ts";
import type { Split, TimeUnit, UsageDocument, UsageGroup } from "./wire/usage.ts";

export interface FiguresQuery extends Pick<UsageQuery, "agent" | "model" | "repository" | "timeZone"> {
  /** @default start of the first session */
  readonly sinceMs?: number;
  /** @default now */
  readonly untilMs?: number;
  readonly nowMs: number;
}

type Deps = Pick<SessionSource, "agents"> & { readonly filterValues: (db: Database) => FilterValues };

/**
 * Tokens and cost over time, and by agent, model or repository.
 *
 * @throws RangeError for an unknown time zone, or for more buckets than a chart can show
 */
export function usageOver(
  db: Database,
  deps: Deps,
  { nowMs, ...query }: FiguresQuery & { readonly unit: TimeUnit; readonly split: Split },
): UsageDocument {
  const { unit, split } = query;
  const sinceMs = query.sinceMs ?? firstMs(db) ?? nowMs;
  const untilMs = query.untilMs ?? nowMs;
  if ((untilMs - sinceMs) / UNIT_MS[unit] > MAX_BUCKETS) {
    throw new RangeError(`more than ${MAX_BUCKETS} bars: choose a larger unit than ${unit}, or a shorter period`);
  }
  const groupings = [[unit], [], [unit, split], [split]] as const;
  const [byTime = [], [total] = [], parts = [], bySplit = []] = usageByGroupings(
    db,
    deps,
    { ...query, sinceMs },
    groupings,
  );
  const figures = new Map(byTime.flatMap((row) => (row.key[unit] == null ? [] : [[row.key[unit], figuresOf(row)]])));
  // The totals include sessions that a wrong clock dated into the future, so the buckets must too
  const names = new Set([...bucketsBetween(sinceMs, untilMs, unit, query.timeZone), ...figures.keys()]);
  const buckets = [...names].sort(compareBuckets);
  const groups = bySplit.map((row): UsageGroup => {
    const key = row.key[split] ?? null;
    const byBucket = new Map(
      parts.flatMap((part) => ((part.key[split] ?? null) === key ? [[part.key[unit], part]] : [])),
    );
    const perBucket = (pick: (calls: NonNullable<UsageRow["calls"]>) => number): readonly number[] =>
      buckets.map((bucket) => {
        const calls = byBucket.get(bucket)?.calls;
        return calls === undefined ? 0 : pick(calls);
      });
    return {
      name: nameOfKey(deps, split, key),
      figures: figuresOf(row),
      costNanoUsd: perBucket(({ costNanoUsd }) => costNanoUsd ?? 0),
      tokens: perBucket(({ input, output }) => (input ?? 0) + (output ?? 0)),
    };
  });
  return {
    kind: "usage",
    unit,
    split,
    sinceMs,
    buckets,
    bucketFigures: buckets.map((bucket) => figures.get(bucket) ?? null),
    total: total === undefined ? null : figuresOf(total),
    groups,
    choices: deps.filterValues(db).choices,
  };
}

/** Calls, outcomes and duration of each tool. */
export function toolsOver(db: Database, deps: Deps, { nowMs, ...query }: FiguresQuery): ToolsDocument {
  const sinceMs = query.sinceMs ?? firstMs(db) ?? nowMs;
  return {
    kind: "tools",
    sinceMs,
    rows: toolRows(db, deps, usage(db, deps, { ...query, sinceMs, by: ["agent", "tool"] })),
    choices: deps.filterValues(db).choices,
  };
}

/** Rows by agent and tool as the page shows them. */
export function toolRows(db: Database, deps: Pick<Deps, "agents">, rows: readonly UsageRow[]): readonly ToolRow[] {
  const servers = serversOf(db);
  return rows.flatMap(({ key, tools, sessions }) => {
    const tool = key.tool ?? null;
    if (tools === undefined || tool === null) return [];
    const server = servers.get(tool) ?? /^mcp__(.+?)__/.exec(tool)?.[1] ?? null;
    return [{ agent: nameOfKey(deps, "agent", key.agent ?? "") ?? "", tool, server, sessions, ...tools }];
  });
}

/** A group's display name; `null`: unknown. */
export const nameOfKey = (deps: Pick<Deps, "agents">, split: Split, key: string | null): string | null =>
  key === null || split !== "agent" ? key : (cardOf(deps, key)?.title ?? key);

/** A chart with more bars cannot be read. */
export const MAX_BUCKETS = 1000;
export const UNIT_MS = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_592_000_000,
} as const satisfies Record<TimeUnit, number>;

/** Start of the first session. */
export function firstMs(db: Database): number | undefined {
  const first = db
    .prepare(`SELECT min(${STARTED}) AS ms FROM sessions s WHERE s.pruned_ms IS NULL AND s.excluded = 0`)
    .get()?.["ms"];
  return typeof first === "number" ? first : undefined;
}

export const figuresOf = ({ sessions, calls, turns, tools, sessionsWithoutUsage }: UsageRow): UsageFigures => ({
  sessions,
  turns: turns?.turns ?? null,
  toolCalls: tools?.calls ?? null,
  failedTools: tools?.errors ?? null,
  sums: toSums(calls ?? NO_CALLS, sessionsWithoutUsage > 0),
  cacheReportedInput: calls?.cacheReportedInput ?? null,
  cacheReportedRead: calls?.cacheReportedRead ?? null,
  modelMs: modelMsOf(calls),
  toolMs: tools?.toolMs ?? null,
  sessionsWithoutUsage,
});

// --- internal ---

/** `null` if no call took any time: then the agents do not report when their calls began. */
function modelMsOf(calls: UsageRow["calls"]): number | null {
  if (calls === undefined) return null;
  return calls.modelMs === 0 && calls.modelCalls + calls.aggregateRecords > 0 ? null : calls.modelMs;
}

const NO_CALLS = { modelCalls: 0, aggregateRecords: 0, callsWithoutUsage: 0, incompleteCalls: 0, unpricedCalls: 0 };

/** MCP servers by tool name, for tools whose names do not contain the server. */
const serversOf = (db: Database): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare(
        `SELECT name, CASE count(DISTINCT mcp_server) WHEN 1 THEN min(mcp_server) ELSE 'several servers' END AS server
         FROM tool_usage WHERE mcp_server IS NOT NULL GROUP BY name`,
      )
      .all()
      .map((row) => [String(row["name"]), String(row["server"])]),
  );
