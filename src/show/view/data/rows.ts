import type { CallSums } from "#core/model/model-call.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import { cardOf } from "#core/rules/cards.ts";
import { pricelessOf } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { lowerBounds } from "../../report/call-totals.ts";
import { chargesOf } from "../../report/charges.ts";
import { subscriptionMark } from "../../report/prices.ts";
import type { RepositoryNames } from "../../report/repositories.ts";
import { endOfSession, type Idle } from "../../report/session-end.ts";
import { summaryJson } from "../../report/session-json.ts";
import type { SessionSummary } from "../../report/session-summary.ts";
import { titleOf, titleText } from "../../report/titles.ts";
import { callsJson, rowJson } from "../../report/usage-data.ts";
import { NOTHING } from "../../report/usage-facts.ts";
import type { UsageRow } from "../../report/usage-rows.ts";

export interface RowDeps extends Pick<SessionSource, "agents"> {
  readonly idle: Idle;
  /** Agents that are known to run on a subscription. @default none */
  readonly subscriptions?: () => Subscriptions;
}

export type SessionRow = ReturnType<typeof toRow>;
export type UsageFigures = ReturnType<typeof figuresOf>;

/**
 * A session as the list and the head of its page show it: as in `sessions --json`, and what only the page shows.
 *
 * @param names display names of repositories. @default their own names
 */
export function toRow(
  db: Database,
  { agents, idle, subscriptions }: RowDeps,
  summary: SessionSummary,
  names: Pick<RepositoryNames, "nameOf"> = { nameOf: ({ name }) => name },
) {
  const { stored, facts, sums } = summary;
  const end = endOfSession(summary, idle);
  const { branch: _, ...title } = titleOf(db, summary);
  const json = summaryJson({ ...summary, ...subscriptionMark(stored, subscriptions?.()) });
  return {
    ...json,
    totals: {
      ...json.totals,
      ...limitsOf(sums, facts.usageUnknown === true),
      /** What was charged besides tokens, for people. */
      charges: chargesOf(sums),
    },
    /** The agent's name. */
    agent: cardOf({ agents }, stored.source)?.title ?? stored.source,
    repositoryName: facts.repository === undefined ? null : names.nameOf(facts.repository),
    /** Path of the working directory. */
    folder: stored.cwd ?? null,
    /** How it ended, for people; `unreported`: there is no record of its end. */
    ending: { state: end.state, text: end.text },
    /** Changed files and the tools it used most; empty: unknown. */
    title: titleText(title),
    /** First line of the first prompt. Read from the agent's own file for this response, so an exported page has none. */
    prompt: null as string | null,
    /** The most used first. */
    models: modelsOf(db, agents, stored),
  };
}

/** Figures of a time bucket, or of one agent, model or repository: as in `report --json`, and what only the page shows. */
export function figuresOf(row: UsageRow) {
  const calls = row.calls ?? NOTHING;
  return {
    ...rowJson(row),
    ...callsJson(calls, row),
    ...limitsOf(calls, row.sessionsWithoutUsage > 0),
    /** Input of the calls that report cache reads; the cache share refers to it. */
    cacheReportedInput: calls.cacheReportedInput ?? null,
    /** Sum over calls, parallel ones too. `null`: the agents do not report how long their calls took, or it does not apply. */
    modelMs: row.calls === undefined ? null : modelMsOf(row.calls),
  };
}

// --- internal ---

/** Which sums are lower bounds, and how many calls have no exact price. @param isUsageUnknown some sessions report no usage */
const limitsOf = (sums: CallSums, isUsageUnknown: boolean) => ({
  modelCallsIsLowerBound: isUsageUnknown || sums.aggregateRecords > 0,
  ...lowerBounds(sums, isUsageUnknown),
  /** Calls whose tokens were reported and whose cost is unknown or a lower bound, as in reports. */
  unpriced: pricelessOf(sums),
});

/** `null` if no call took any time: then the agents do not report when their calls began. */
const modelMsOf = ({ modelMs, modelCalls, aggregateRecords }: NonNullable<UsageRow["calls"]>): number | null =>
  modelMs === 0 && modelCalls + aggregateRecords > 0 ? null : modelMs;

/** Models of settled calls, or of unsettled ones if nothing is settled yet. */
function modelsOf(db: Database, agents: SessionSource["agents"], stored: StoredSession): readonly string[] {
  const settled = db
    .prepare(
      `SELECT model FROM usage WHERE session = ? AND model IS NOT NULL
       GROUP BY model ORDER BY sum(coalesce(input, 0) + coalesce(output, 0)) DESC, model`,
    )
    .all(stored.id)
    .map((row) => String(row["model"]));
  if (settled.length > 0) return settled;
  const { turns, subagents } = unsettledSession({ db, agents }, stored);
  return [...new Set([...turns, ...subagents].flatMap((run) => run.modelCalls.flatMap(({ model }) => model ?? [])))];
}
