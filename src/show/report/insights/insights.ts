import type { CallSums } from "#core/model/model-call.ts";
import { cardOf } from "#core/rules/cards.ts";
import { sumKnown } from "#kit/numbers.ts";
import type { Database } from "#store/database.ts";
import { storedOutcomes } from "#store/outcomes.ts";
import { Attribution } from "../attribution.ts";
import { type MissSum, missSums } from "../cache-misses.ts";
import { type Comparison, compare } from "../compare/compare.ts";
import { subscribedAgents } from "../prices.ts";
import type { UsageQuery } from "../query.ts";
import { usageByGroupings } from "../usage.ts";
import { addFigures, NOTHING } from "../usage-facts.ts";
import { type CountedSession, countedSessions } from "../usage-sessions.ts";
import type { Insight, Material, Rule } from "./insight.ts";
import { callsBySession, type Deps, type Range, readDearest } from "./read-sessions.ts";
import { cacheRule } from "./rules/cache.ts";
import { contextRule } from "./rules/context.ts";
import { failedTurnsRule } from "./rules/failed-turns.ts";
import { failingToolsRule } from "./rules/failing-tools.ts";
import { failureStreaksRule } from "./rules/failure-streaks.ts";
import { revertedWorkRule } from "./rules/reverted-work.ts";
import { singleQuestionsRule } from "./rules/single-questions.ts";
import { subagentsRule } from "./rules/subagents.ts";
import { unusedServersRule } from "./rules/unused-servers.ts";
import { worseVersionRule } from "./rules/worse-version.ts";
import type { Trend } from "./words.ts";

/** An insight with its share of the cost, compared with the period before. */
export interface RatedInsight extends Insight {
  /** Of the cost of everything in the period. Absent: one of the two is unknown. */
  readonly share?: number;
  /** Its share in the period before; 0: it was not there. Absent: unknown, or there are too few sessions to compare with. */
  readonly shareBefore?: number;
  /** Absent as `shareBefore`. */
  readonly trend?: Trend;
}

export interface InsightReport {
  readonly range: Range;
  /** What it is compared with, as long as the period and directly before it. Absent: it has too few sessions. */
  readonly before?: Range;
  /** Over all sessions, read or not: the same as in `report`. */
  readonly total: CallSums;
  /** Sessions with model calls, and those of them that were read one by one, with their cost. Only these can have insights. */
  readonly sessions: number;
  readonly readSessions: number;
  readonly readNanoUsd?: number;
  /** What can be saved first, then what is only large; each by cost. */
  readonly insights: readonly RatedInsight[];
  /** Insights of the period before, with their figures of then, that are not worth a line any more. */
  readonly gone: readonly RatedInsight[];
  /** Agents with costs that are known to run on a subscription: these costs are not what the user pays. */
  readonly subscribed: readonly { readonly agent: string; readonly title: string }[];
  /** All cache misses by cause, also those against which nothing can be advised. */
  readonly misses: readonly MissSum[];
}

export type InsightQuery = Pick<UsageQuery, "agent" | "repository"> & Range;

/** What costs money again and again, over all sessions of a period. Only reads the store. */
export function insights(db: Database, deps: Deps, query: InsightQuery): InsightReport {
  const { sinceMs, untilMs } = query;
  const sources = { counted: countedSessions(db, deps, query), revertedAt: revertedFinder(db) };
  const now = periodOf(db, deps, query, sources);
  const range = { sinceMs: sinceMs - (untilMs - sinceMs), untilMs: sinceMs };
  const before = periodOf(db, deps, { ...query, ...range }, sources);
  const isComparable = before.sessions >= MIN_SESSIONS;
  const rated = now.found.map((one) => rate(one, now, isComparable ? before : undefined));
  const gone = before.found.flatMap((one): RatedInsight[] => {
    const [share, shareBefore] = [shareOf(now.found.find(isSame(one)), now), shareOf(one, before)];
    if (!isComparable || share === undefined || shareBefore === undefined) return [];
    return isLarge(one, shareBefore) && !isLarge(one, share) ? [{ ...one, share, shareBefore, trend: "gone" }] : [];
  });
  return {
    range: { sinceMs, untilMs },
    ...(isComparable && { before: range }),
    total: now.material.total,
    sessions: now.sessions,
    readSessions: now.sessions - now.unread,
    ...(now.readNanoUsd !== undefined && { readNanoUsd: now.readNanoUsd }),
    insights: rated.filter((one) => isLarge(one, one.share)).sort(byStrength),
    gone,
    subscribed: subscribedIn(deps, now, untilMs),
    misses: missSums(now.material.sessions.flatMap(({ misses }) => misses)),
  };
}

// --- internal ---

/** Every rule, and from which share of the cost on it is worth a line. */
const RULES: readonly (readonly [name: string, rule: Rule, minShare: number])[] = [
  ["cache", cacheRule, 0.01],
  ["context", contextRule, 0.05],
  ["failing_tool", failingToolsRule, 0.005],
  ["failure_streak", failureStreaksRule, 0.005],
  ["failed_turns", failedTurnsRule, 0.02],
  ["reverted_work", revertedWorkRule, 0.01],
  ["single_question", singleQuestionsRule, 0.01],
  ["subagents", subagentsRule, 0.25],
  ["unused_servers", unusedServersRule, 0],
  ["worse_version", worseVersionRule, 0.01],
];

/** With fewer sessions than this, a period says nothing about another one. */
const MIN_SESSIONS = 5;
/** An insight of which the cost is unknown is worth a line from so many calls on. */
const MIN_CALLS = 10;
/** Of smaller sums, no advice is worth reading: five cents. */
const MIN_NANO_USD = 50_000_000;
/** Smaller changes of a share are no change. */
const CHANGED = 1.25;

interface Period {
  readonly material: Material;
  readonly found: readonly Insight[];
  /** With model calls; subagents' sessions count as their root. */
  readonly sessions: number;
  /** Those of which not all calls were read. */
  readonly unread: number;
  /** Cost of the sessions that were read. Absent: unknown. */
  readonly readNanoUsd?: number;
}

interface Sources {
  readonly counted: ReadonlyMap<number, CountedSession>;
  readonly revertedAt: Material["revertedAt"];
}

function periodOf(db: Database, deps: Deps, query: InsightQuery, { counted, revertedAt }: Sources): Period {
  const figures = callsBySession(db, deps, counted, query);
  const sessions = readDearest(db, deps, counted, figures, query);
  const [tools = [], models = [], mcp = []] = usageByGroupings(db, deps, query, [
    ["agent", "tool"],
    ["agent", "model"],
    ["agent", "mcp"],
  ]);
  const material: Material = {
    sessions,
    total: [...figures.values()].reduce(addFigures, NOTHING),
    tools,
    models,
    mcp,
    servers: deps.servers ?? [],
    updates: updatesOf(db, deps, query),
    revertedAt,
    titleOf: (agent) => cardOf(deps, agent)?.title ?? agent,
  };
  const read = new Set(sessions.map(({ view }) => view.stored.id));
  const unread = [...figures].flatMap(([session, { modelCalls, aggregateRecords }]) =>
    modelCalls + aggregateRecords > 0 && !read.has(session) ? [session] : [],
  );
  const rootsOf = (numbers: readonly number[]) => new Set(numbers.map((session) => counted.get(session)?.root));
  const readNanoUsd = sumKnown(sessions.map(({ view }) => figures.get(view.stored.id)?.costNanoUsd));
  return {
    material,
    found: RULES.flatMap(([rule, find]) => find(material).map((one) => ({ rule, ...one }))),
    sessions: rootsOf([...figures.keys()]).size,
    unread: rootsOf(unread).size,
    ...(readNanoUsd !== undefined && { readNanoUsd }),
  };
}

function subscribedIn({ subscriptions = new Map() }: Deps, { material }: Period, untilMs: number) {
  const withCosts = material.models.flatMap(({ key, calls }) =>
    calls?.costNanoUsd === undefined ? [] : (key.agent ?? []),
  );
  return subscribedAgents([...new Set(withCosts)], subscriptions, untilMs).map((agent) => ({
    agent,
    title: material.titleOf(agent),
  }));
}

/** Agents of which several versions began sessions in a period. */
function updatesOf(db: Database, { agents }: Deps, query: InsightQuery): readonly Comparison[] {
  const updated = db
    .prepare(
      `SELECT source FROM sessions WHERE first_ms >= ? AND first_ms < ? AND agent_version IS NOT NULL
       GROUP BY source HAVING count(DISTINCT agent_version) > 1`,
    )
    .all(query.sinceMs, query.untilMs)
    .map((row) => String(row["source"]));
  return updated
    .filter((source) => query.agent === undefined || query.agent === source)
    .flatMap((agent) => {
      const found = compare(db, agents, { ...query, by: "version", agent });
      return "measures" in found ? [found] : [];
    });
}

function revertedFinder(db: Database): Material["revertedAt"] {
  const reverted = new Set(storedOutcomes(db).flatMap(({ fate, commit }) => (fate === "reverted" ? [commit] : [])));
  if (reverted.size === 0) return () => undefined;
  const attribution = Attribution.of(db);
  return (session, timeMs) => {
    const commit = attribution.at(session, timeMs).commit?.commit;
    return commit !== undefined && reverted.has(commit) ? commit : undefined;
  };
}

function rate(insight: Insight, now: Period, before: Period | undefined): RatedInsight {
  const share = shareOf(insight, now);
  const shareBefore = before && shareOf(before.found.find(isSame(insight)), before);
  if (share === undefined) return insight;
  return shareBefore === undefined
    ? { ...insight, share }
    : { ...insight, share, shareBefore, trend: trendOf(share, shareBefore) };
}

/** Its part of the cost of everything; 0: it is not there. `undefined`: unknown. */
function shareOf(insight: Insight | undefined, { material: { total } }: Period): number | undefined {
  if (insight === undefined) return 0;
  const { costNanoUsd } = insight.tally;
  return costNanoUsd === undefined || !total.costNanoUsd ? undefined : costNanoUsd / total.costNanoUsd;
}

function trendOf(share: number, before: number): Trend {
  if (before === 0) return "new";
  if (share >= before * CHANGED) return "worse";
  return share * CHANGED <= before ? "better" : "same";
}

const isSame =
  ({ rule, subject }: Insight) =>
  (other: Insight): boolean =>
    other.rule === rule && other.subject === subject;

function isLarge({ rule, tally }: Insight, share: number | undefined): boolean {
  if (share === undefined) return tally.calls >= MIN_CALLS;
  const [, , minShare = 0] = RULES.find(([name]) => name === rule) ?? [];
  return share >= minShare && (tally.costNanoUsd ?? 0) >= MIN_NANO_USD;
}

const byStrength = (a: Insight, b: Insight): number =>
  Number(a.measure === "spent") - Number(b.measure === "spent") ||
  (b.tally.costNanoUsd ?? -1) - (a.tally.costNanoUsd ?? -1) ||
  b.tally.calls - a.tally.calls;
