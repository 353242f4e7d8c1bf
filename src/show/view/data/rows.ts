import type { Subscriptions } from "#core/model/rate-limit.ts";
import { cardOf } from "#core/rules/cards.ts";
import { pricelessOf } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { knownAmounts, lowerBounds } from "../../report/call-totals.ts";
import { subscriptionMark } from "../../report/list-price.ts";
import type { RepositoryNames } from "../../report/repositories.ts";
import { endOfSession, type Idle } from "../../report/session-end.ts";
import { activeMs, type SessionSummary } from "../../report/session-summary.ts";
import { titleOf, titleText } from "../../report/session-title.ts";
import type { Sums } from "../wire/figures.ts";
import type { SessionRow } from "../wire/sessions.ts";

export interface RowDeps extends Pick<SessionSource, "agents"> {
  readonly idle: Idle;
  /** Agents that are known to run on a subscription. @default none */
  readonly subscriptions?: () => Subscriptions;
}

/**
 * A session as the list and the head of its page show it.
 *
 * @param names display names of repositories. @default their own names
 */
export function toRow(
  db: Database,
  { agents, idle, subscriptions }: RowDeps,
  summary: SessionSummary,
  names: Pick<RepositoryNames, "nameOf"> = { nameOf: ({ name }) => name },
): SessionRow {
  const { stored, facts, segments, tools, sums } = summary;
  const end = endOfSession(summary, idle);
  const { branch: _, ...title } = titleOf(db, summary);
  const repository = facts.repository;
  return {
    source: stored.source,
    sessionId: stored.sessionId,
    agent: cardOf({ agents }, stored.source)?.title ?? stored.source,
    onSubscription: subscriptionMark(stored, subscriptions?.()).onSubscription === true,
    agentVersion: stored.agentVersion ?? null,
    repository: repository === undefined ? null : names.nameOf(repository),
    branch: repository?.branch ?? null,
    folder: stored.cwd ?? null,
    startMs: segments[0]?.startMs ?? stored.firstMs,
    lastMs: stored.lastMs,
    openMs: activeMs(segments),
    workMs: summary.workMs,
    end: { state: end.state, text: end.text },
    title: titleText(title),
    prompt: null,
    turns: summary.turns,
    subagents: summary.subagents,
    toolCalls: [...tools.values()].reduce((a, b) => a + b, 0),
    failedTools: tools.get("error") ?? 0,
    deniedTools: tools.get("denied") ?? 0,
    unfinishedTools: tools.get("unfinished") ?? 0,
    models: modelsOf(db, agents, stored),
    sums: toSums(sums, facts.usageUnknown === true),
  };
}

/** @param isUsageUnknown some sessions report no usage: a sum of 0 is then unknown, and any other one a lower bound */
export function toSums(sums: SessionSummary["sums"], isUsageUnknown: boolean): Sums {
  const { modelCalls, input, output, cacheRead, cacheWrite, reasoning, costNanoUsd } = knownAmounts(
    sums,
    isUsageUnknown,
  );
  return {
    modelCalls,
    input,
    output,
    cacheRead,
    cacheWrite,
    reasoning,
    costNanoUsd,
    modelCallsIsLowerBound: isUsageUnknown || sums.aggregateRecords > 0,
    ...lowerBounds(sums, isUsageUnknown),
    unpriced: pricelessOf(sums),
  };
}

// --- internal ---

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
