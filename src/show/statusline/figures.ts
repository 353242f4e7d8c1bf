import type { Agent } from "#core/model/agent.ts";
import type { CallSums } from "#core/model/model-call.ts";
import { addSums, NO_CALLS } from "#core/rules/call-sums.ts";
import { planOf, plansInUse } from "#core/rules/plans.ts";
import type { Database } from "#store/database.ts";
import { bucketsOf, startOfBucket, startOfDay } from "../report/buckets.ts";
import { configFolders } from "../report/config-folders.ts";
import { type Fact, openFactsOf, settledFacts } from "../report/usage-facts.ts";
import { countedSessions } from "../report/usage-sessions.ts";
import { costOf, leftOf, type SessionCost, type Summary } from "./summary.ts";

/** The cost of today and of the latest sessions, and what is left of the month's budget: the same as in `report`. */
export function figuresOf(
  db: Database,
  agents: readonly Agent[],
  nowMs: number,
  budgetUsd?: number,
): Pick<Summary, "untilMs" | "today" | "budget" | "sessions"> {
  const plans = plansInUse();
  const folders = plans === undefined ? undefined : configFolders(db, { agents }, plans.home);
  const sessions = countedSessions(db, { agents }, {}, folders);
  const isPaid = (session: number, model: string | null): boolean => {
    const of = sessions.get(session);
    return plans === undefined || of === undefined || planOf(plans, { ...of, model }) === undefined;
  };
  const sinceMs = startOfDay(nowMs);
  const untilMs = startOfDay(nowMs, 1);
  const monthMs = startOfBucket(bucketsOf()(nowMs, "month"));
  const active = activeSince(db, nowMs - DAY_MS);
  const recent = active.flatMap(({ id }) => (sessions.get(id)?.root === id ? [id] : [])).slice(0, MAX_SESSIONS);
  const shown = [...sessions].filter(([, { root }]) => recent.includes(root)).map(([number]) => number);
  const open = [...openFactsOf(db, { agents }, sessions)];
  const sumsBetween = (fromMs: number, toMs: number): CallSums =>
    sumsOf([
      ...settledFacts(db, [...sessions.keys()], wanted(fromMs, toMs)),
      ...open.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs),
    ]);
  /** Without what flat plans cover. */
  const paidSince = (fromMs: number): CallSums =>
    sumsOf(
      [
        ...settledFacts(db, [...sessions.keys()], { ...wanted(fromMs, Number.POSITIVE_INFINITY), byModel: true }),
        ...open.filter(({ timeMs }) => timeMs >= fromMs),
      ].filter((fact) => fact.kind === "calls" && isPaid(fact.session, fact.model)),
    );
  const isUnknownSince = (fromMs: number): boolean =>
    activeSince(db, fromMs).some(({ id }) => sessions.get(id)?.isUsageUnknown === true);
  const isPaidUnknownSince = (fromMs: number): boolean =>
    activeSince(db, fromMs).some(({ id }) => sessions.get(id)?.isUsageUnknown === true && isPaid(id, null));
  const facts = [...settledFacts(db, shown, wanted(0, Number.POSITIVE_INFINITY)), ...open];
  return {
    untilMs,
    today: costOf(sumsBetween(sinceMs, untilMs), isUnknownSince(sinceMs)),
    ...(budgetUsd !== undefined && {
      budget: leftOf(budgetUsd, paidSince(monthMs), isPaidUnknownSince(monthMs)),
    }),
    sessions: recent.flatMap((root): SessionCost[] => {
      const session = sessions.get(root);
      if (session === undefined) return [];
      const own = facts.filter((fact) => sessions.get(fact.session)?.root === root);
      const id = session.name.slice(session.agent.length + 1);
      return [{ agent: session.agent, id, cost: costOf(sumsOf(own), session.isUsageUnknown) }];
    }),
  };
}

// --- internal ---

const DAY_MS = 86_400_000;
const MAX_SESSIONS = 20;

/** Sessions with activity since a time, newest first. */
const activeSince = (db: Database, sinceMs: number): readonly { readonly id: number; readonly lastMs: number }[] =>
  db
    .prepare("SELECT id, last_ms FROM sessions WHERE last_ms >= ? ORDER BY last_ms DESC")
    .all(sinceMs)
    .map((row) => ({ id: Number(row["id"]), lastMs: Number(row["last_ms"]) }));

const wanted = (sinceMs: number, untilMs: number) =>
  ({
    sinceMs,
    untilMs,
    calls: true,
    tools: false,
    turns: false,
    byModel: false,
    toolsBy: [],
    costOnly: true,
  }) as const;

const sumsOf = (facts: Iterable<Fact>): CallSums => {
  let sums = NO_CALLS;
  for (const fact of facts) if (fact.kind === "calls") sums = addSums(sums, fact.figures);
  return sums;
};
