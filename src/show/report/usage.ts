import { planOf, plansInUse } from "#core/rules/plans.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { Attribution } from "./attribution.ts";
import { bucketsOf, wholeQuarters } from "./buckets.ts";
import { configFolders } from "./config-folders.ts";
import type { UsageQuery } from "./query.ts";
import { type Dimension, TIME_UNITS, TOOL_DIMENSIONS, whyNotCombined } from "./query.ts";
import { type Fact, type FactsWanted, NOTHING, openFactsOf, settledFacts } from "./usage-facts.ts";
import type { UsageRow } from "./usage-rows.ts";
import { groupsBy, isChangeDimension, UsageTable } from "./usage-rows.ts";
import { type CountedSession, countedSessions } from "./usage-sessions.ts";

/**
 * Sums over the whole store: settled, open and imported parts, each once. Pruned sessions and sessions of excluded projects
 * are left out.
 *
 * @returns rows in order of their keys: times ascending, everything else by name, unknown last; none for an empty store
 * @throws RangeError for dimensions that cannot be combined, and for an unknown time zone
 */
export function usage(db: Database, deps: Pick<SessionSource, "agents">, query: UsageQuery): readonly UsageRow[] {
  const [rows = []] = usageByGroupings(db, deps, query, [query.by]);
  return rows;
}

/**
 * Several groupings in one pass over the store, because reading years of work takes seconds.
 *
 * @param read facts that the store has no sums of
 * @returns the rows of each grouping, as `usage` gives them
 * @throws RangeError as `usage` does
 */
export function usageByGroupings(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  query: Omit<UsageQuery, "by">,
  groupings: readonly UsageQuery["by"][],
  read?: ReadFacts,
): readonly (readonly UsageRow[])[] {
  const { ofSubagents = false } = query;
  const queries = groupings.map((by): UsageQuery => ({ ...query, by }));
  const refusal =
    queries.map(whyNotCombined).find((text) => text !== undefined) ??
    (groupings.some((by) => by.includes("subagent")) && !ofSubagents ? "no facts of subagents were read" : undefined);
  if (refusal !== undefined) throw new RangeError(refusal);
  const isGroupedBy = (dimension: Dimension): boolean => queries.some((one) => groupsBy(one, dimension));
  const plans = query.paidOnly === true ? plansInUse() : undefined;
  const needsFolders = plans !== undefined || isGroupedBy("config-folder");
  const folders = needsFolders ? configFolders(db, deps, query.home ?? plans?.home) : undefined;
  const sessions = countedSessions(db, deps, query, folders);
  const range = wholeQuarters(query);
  const nameOf = bucketsOf(query.timeZone);
  const byChange = query.ledTo !== undefined || queries.some(({ by }) => by.some(isChangeDimension));
  const attribution = byChange ? Attribution.of(db) : undefined;
  const tables = queries.map((one) => new UsageTable(one, nameOf, attribution));
  const add = (fact: Fact, isWithin = true): void => {
    const session = sessions.get(fact.session);
    if (session === undefined || !isWithin) return;
    if (plans !== undefined && fact.kind === "calls" && planOf(plans, { ...session, model: fact.model })) return;
    const roots = fact.sessions?.map((number) => sessions.get(number)?.root ?? number);
    for (const table of tables) table.add(fact, session, roots);
  };
  const isWithin = ({ timeMs }: Pick<Fact, "timeMs">): boolean => timeMs >= range.sinceMs && timeMs < range.untilMs;
  const needs = (kind: Fact["kind"]): boolean => tables.some(({ parts }) => parts[kind]);
  const unit = isGroupedBy("hour") ? "hour" : TIME_UNITS.some(isGroupedBy) ? "day" : undefined;
  const kinds: FactsWanted = {
    ...range,
    calls: needs("calls"),
    tools: needs("tools"),
    turns: needs("turns"),
    byModel: isGroupedBy("model") || query.model !== undefined || plans !== undefined,
    toolsBy: TOOL_DIMENSIONS.filter(isGroupedBy),
    costOnly: query.costOnly === true,
    byChange,
    ...(!byChange && !isGroupedBy("session") && { standIns: standInsOf(sessions, isGroupedBy("repository")) }),
    ...(unit !== undefined && { unit }),
    ...(query.timeZone !== undefined && { timeZone: query.timeZone }),
  };
  for (const fact of read?.(sessions, range) ?? []) add(fact, isWithin(fact));
  if (!ofSubagents) {
    for (const fact of settledFacts(db, [...sessions.keys()], kinds)) add(fact);
    for (const fact of openFactsOf(db, deps, sessions)) add(fact, isWithin(fact));
  }
  for (const [number, session] of sessions) {
    if (session.root !== number) continue;
    const fact: Fact = { kind: "calls", session: number, timeMs: session.firstMs, model: null, figures: NOTHING };
    if (!isWithin(fact)) continue;
    if (plans !== undefined && planOf(plans, { ...session, model: null })) continue;
    for (const table of tables) if (table.hasWithoutCalls(session)) table.add(fact, session);
  }
  return tables.map((table) => table.done());
}

/** Facts of the sessions that count, in a range or near it. */
export type ReadFacts = (
  sessions: ReadonlyMap<number, CountedSession>,
  range: Pick<FactsWanted, "sinceMs" | "untilMs">,
) => Iterable<Fact>;

// --- internal ---

/** For each session the first one that counts in the same rows. One with unknown usage stands only for itself. */
function standInsOf(sessions: ReadonlyMap<number, CountedSession>, byRepository: boolean): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  return new Map(
    [...sessions].map(([number, { agent, repository, configFolder, isUsageUnknown }]) => {
      if (isUsageUnknown) return [number, number];
      const rows = JSON.stringify([agent, byRepository ? repository : undefined, configFolder]);
      const standIn = first.get(rows) ?? number;
      first.set(rows, standIn);
      return [number, standIn];
    }),
  );
}
