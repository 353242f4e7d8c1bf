import type { Agent } from "#core/model/agent.ts";
import type { HookRun } from "#core/model/hook-run.ts";
import { cardOf } from "#core/rules/cards.ts";
import { sumKnown } from "#kit/numbers.ts";
import { grouped } from "#kit/objects.ts";
import type { Database } from "#store/database.ts";
import { type StoredSession, sessionById } from "#store/sessions.ts";
import { wholeQuarters } from "../buckets.ts";
import type { Question } from "../question.ts";
import { countedSessions } from "../usage-sessions.ts";

/** Runs of hooks that are one row, or a sum of rows. */
export interface HookFigures {
  readonly runs: number;
  /** The agent writes down only some runs. */
  readonly isLowerBound: boolean;
  readonly failed: number;
  readonly blocked: number;
  /** Runs of which the agent does not say how they ended. */
  readonly withoutOutcome: number;
  /** Of the runs whose time is known; absent: of none. Hooks of one event can run at the same time. */
  readonly timeMs?: number;
  readonly longestMs?: number;
  readonly withoutTime: number;
}

export interface HookRow extends HookFigures {
  readonly agent: string;
  readonly event: string;
  /** Absent: the agent does not say which hooks these were; ours can be among them. */
  readonly hook?: string;
}

export interface HookReport {
  /** The user's own hooks, those with most time first. */
  readonly rows: readonly HookRow[];
  /** Of all rows, also those beyond the limit. Absent: no runs. */
  readonly total?: HookFigures;
  readonly leftOut: number;
  /** Runs of our own hook, as far as the agent names its hooks. */
  readonly ours?: HookFigures;
  /** Agents that worked in that time and whose files do not say which hooks ran. */
  readonly notRecorded: readonly string[];
  readonly sessions: SessionsRead;
}

/** How many sessions of agents that write runs down were read. */
export interface SessionsRead {
  readonly read: number;
  readonly of: number;
  /** There was no time for the older ones. */
  readonly isEnded: boolean;
}

/** A run, and what is known of all runs of its kind. */
export interface FoundRun extends HookRun {
  readonly agent: string;
  readonly isOneOfMore: boolean;
}

/** The sessions that can have runs, newest first, and the agents whose sessions say nothing. */
export interface HookSessions extends Pick<HookReport, "notRecorded"> {
  readonly sessions: readonly StoredSession[];
}

/** The sessions of a question. */
export function hookSessions(db: Database, agents: readonly Agent[], { query }: Pick<Question, "query">): HookSessions {
  const { sinceMs, untilMs } = wholeQuarters(query);
  const worked = [...countedSessions(db, { agents }, query).keys()]
    .map((id) => sessionById(db, id))
    .filter(({ firstMs, lastMs }) => lastMs >= sinceMs && firstMs < untilMs)
    .sort((a, b) => b.lastMs - a.lastMs || b.id - a.id);
  const isRecorded = ({ source }: StoredSession): boolean => cardOf({ agents }, source)?.hookRuns !== undefined;
  const silent = worked.filter((session) => !isRecorded(session)).map(({ source }) => source);
  return { sessions: worked.filter(isRecorded), notRecorded: [...new Set(silent)].sort() };
}

/**
 * Sums of runs by agent, event and hook.
 *
 * @param runs of the sessions that were read, each once
 */
export function hookReport(
  runs: readonly FoundRun[],
  { query, limit = Number.MAX_SAFE_INTEGER }: Pick<Question, "query" | "limit">,
  about: Pick<HookReport, "notRecorded" | "sessions">,
): HookReport {
  const { sinceMs, untilMs } = wholeQuarters(query);
  const wanted = runs.filter(({ timeMs }) => timeMs >= sinceMs && timeMs < untilMs);
  const ours = wanted.filter(({ isOurs }) => isOurs === true);
  const others = wanted.filter(({ isOurs }) => isOurs !== true);
  const groups = grouped(others, ({ agent, event, hook }) => JSON.stringify([agent, event, hook]));
  const rows = [...groups.values()].flatMap((all): readonly HookRow[] => {
    const [one] = all;
    if (one === undefined) return [];
    const { agent, event, hook } = one;
    return [{ agent, event, ...(hook !== undefined && { hook }), ...figuresOf(all) }];
  });
  rows.sort((a, b) => (b.timeMs ?? -1) - (a.timeMs ?? -1) || b.runs - a.runs || (keyOf(a) < keyOf(b) ? -1 : 1));
  return {
    rows: rows.slice(0, limit),
    ...(others.length > 0 && { total: figuresOf(others) }),
    leftOut: Math.max(0, rows.length - limit),
    ...(ours.length > 0 && { ours: figuresOf(ours) }),
    ...about,
  };
}

// --- internal ---

const keyOf = ({ agent, event, hook = "" }: HookRow): string => JSON.stringify([agent, event, hook]);

function figuresOf(runs: readonly FoundRun[]): HookFigures {
  const times = runs.flatMap(({ durationMs }) => durationMs ?? []);
  const numberOf = (outcome: HookRun["outcome"]): number => runs.filter((run) => run.outcome === outcome).length;
  const timeMs = sumKnown(times);
  return {
    runs: runs.length,
    isLowerBound: runs.some(({ isOneOfMore }) => isOneOfMore),
    failed: numberOf("failed"),
    blocked: numberOf("blocked"),
    withoutOutcome: numberOf(undefined),
    ...(timeMs !== undefined && { timeMs, longestMs: times.reduce((longest, ms) => Math.max(longest, ms), 0) }),
    withoutTime: runs.length - times.length,
  };
}
