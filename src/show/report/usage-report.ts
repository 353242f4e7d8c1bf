import type { Agent } from "#core/model/agent.ts";
import type { ConfiguredAt } from "#core/model/configured.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import { sessionCounts } from "#store/queries.ts";
import { bucketsBetween, compareBuckets, startOfBucket } from "./buckets.ts";
import { configuredKind, withConfigured } from "./configured.ts";
import { type Covered, coveredBy } from "./covered.ts";
import { subscribedAgents, type UnpricedModel, unpricedModels } from "./prices.ts";
import { type Dimension, isOfTools, TIME_UNITS } from "./query.ts";
import type { Question } from "./question.ts";
import { SessionReader } from "./read-facts.ts";
import { inReadingOrder } from "./text/usage-keys.ts";
import { type UnseenSearches, unseenSearches } from "./unseen-searches.ts";
import { usageByGroupings } from "./usage.ts";
import type { UsageRow } from "./usage-rows.ts";

/** The rows of a usage report. */
export interface UsageReport {
  readonly rows: readonly UsageRow[];
  /** Number of rows beyond the limit; the total includes them. */
  readonly leftOut: number;
  readonly agents?: readonly UsageRow[];
  readonly models?: readonly UsageRow[];
  /** Absent: no session in that time. */
  readonly total: UsageRow | undefined;
  /** Models with calls of unknown price, most calls first. */
  readonly unpriced: readonly UnpricedModel[];
  /** Searches that are in no record of calls, and so not in the cost. */
  readonly unseen?: readonly UnseenSearches[];
  /** What flat plans cover of it. */
  readonly covered?: readonly Covered[];
  /** Agents in the report that have costs and are known to run on a subscription. */
  readonly subscribed?: readonly string[];
  /** How many sessions were read one by one for what the store has no sums of, and how many there are. */
  readonly read?: { readonly sessions: number; readonly of: number };
}

/** What else a report is made of. */
interface ReadMore {
  /** How spans are made. Required for reports by MCP server, skill and subagent, for which sessions are read one by one. */
  readonly spans?: SpanSettings;
  /** What agents have in their settings, for reports by MCP server or skill. */
  readonly configured?: readonly ConfiguredAt[];
}

export const EMPTY_REPORT: UsageReport = { rows: [], leftOut: 0, total: undefined, unpriced: [] };

/**
 * @param isData for JSON and CSV: rows only where something happened; a table for people also has empty days
 * @returns `undefined` when the store has no session at all
 */
export function usageReport(
  db: Database,
  agents: readonly Agent[],
  { query, isOverview, limit }: Question,
  nowMs: number,
  isData: boolean,
  subscriptions: Subscriptions = new Map(),
  { spans, configured }: ReadMore = {},
): UsageReport | undefined {
  if (sessionCounts(db).sessions === 0) return undefined;
  const ofTools = isOfTools(query);
  const wanted = READ_FOR.filter((dimension) => query.by.includes(dimension));
  const reader =
    wanted.length === 0 || spans === undefined ? undefined : new SessionReader(db, { agents, settings: spans }, wanted);
  const ways: readonly (readonly Dimension[])[] = [
    [],
    query.by,
    ...(ofTools ? [] : [["model"] as const]),
    ...(isOverview || subscriptions.size > 0 || configured !== undefined ? [["agent"] as const] : []),
  ];
  const [[total] = [], found = [], ...summaries] = usageByGroupings(db, { agents }, query, ways, reader?.facts).map(
    (rows, i) => inReadingOrder(ways[i] ?? [], rows),
  );
  if (total === undefined) return EMPTY_REPORT;
  const models = ofTools ? [] : (summaries[0] ?? []);
  const byAgent = summaries[ofTools ? 0 : 1] ?? [];
  const withCosts = byAgent.flatMap(({ key, calls }) => (calls?.costNanoUsd === undefined ? [] : (key.agent ?? [])));
  const subscribed = ofTools ? [] : subscribedAgents(withCosts, subscriptions, query.untilMs);
  const isTimeFirst = TIME_UNITS.some((unit) => unit === query.by[0]);
  // Empty days do not count towards the limit
  const known = reader !== undefined && reader.sessions < reader.of ? found.map(withKnownAfter) : found;
  const shown = limit === undefined ? known : isTimeFirst ? known.slice(-limit) : known.slice(0, limit);
  const kind = configuredKind(query.by);
  const worked = new Set(byAgent.flatMap(({ key }) => key.agent ?? []));
  const names = configured?.filter(({ agent }) => query.agent === undefined || query.agent === agent) ?? [];
  const rows = isData || limit !== undefined ? shown : withEmptyBuckets(shown, query, nowMs);
  return {
    rows: kind === undefined || configured === undefined ? rows : withConfigured(rows, kind, { found, worked, names }),
    leftOut: found.length - shown.length,
    ...(isOverview && { agents: byAgent, models }),
    total: ofTools ? withoutCalls(total) : total,
    unpriced: unpricedModels(db, models, query),
    ...(!ofTools && { covered: coveredBy(db, { agents }, query) }),
    ...(!ofTools && { unseen: unseenSearches(db, { agents }, query) }),
    ...(subscribed.length > 0 && { subscribed }),
    ...(reader !== undefined && { read: { sessions: reader.sessions, of: reader.of } }),
  };
}

// --- internal ---

/** A dimension for which sessions are read. */
const READ_FOR = ["subagent", "mcp", "skill"] as const;

/** Longer calendars leave out days without sessions. */
const MAX_CALENDAR = 400;

/** If not all sessions were read, no calls after a server or skill were found, which does not mean that there were none. */
const withKnownAfter = ({ after, ...row }: UsageRow): UsageRow =>
  after === undefined || after.modelCalls === 0 ? row : { ...row, after };

/** Tools have neither tokens nor turns. */
const withoutCalls = ({ key, sessions, tools, after }: UsageRow): UsageRow => ({
  key,
  sessions,
  ...(tools !== undefined && { tools }),
  ...(after !== undefined && { after }),
  agentsWithoutUsage: [],
  sessionsWithoutUsage: 0,
});

/** Adds empty buckets between the first row and the end of the range, so that a calendar shows days without sessions. */
function withEmptyBuckets(
  rows: readonly UsageRow[],
  { by, untilMs }: Question["query"],
  nowMs: number,
): readonly UsageRow[] {
  const [only] = by;
  const unit = TIME_UNITS.find((one) => one === only);
  const first = rows[0]?.key[unit ?? "day"];
  if (unit === undefined || by.length !== 1 || typeof first !== "string") return rows;
  const fromMs = startOfBucket(first);
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  if ((toMs - fromMs) / SHORTEST_MS[unit] > MAX_CALENDAR) return rows;
  const byName = new Map(rows.map((row) => [row.key[unit] ?? "", row]));
  for (const name of bucketsBetween(fromMs, toMs, unit)) {
    if (!byName.has(name))
      byName.set(name, { key: { [unit]: name }, sessions: 0, agentsWithoutUsage: [], sessionsWithoutUsage: 0 });
  }
  return [...byName].sort(([a], [b]) => compareBuckets(a, b)).map(([, row]) => row);
}

const HOUR_MS = 3_600_000;
/** The shortest that a bucket can be (daylight saving time, February): bounds the number of buckets. */
const SHORTEST_MS = { hour: HOUR_MS, day: 23 * HOUR_MS, week: 167 * HOUR_MS, month: 28 * 23 * HOUR_MS } as const;
