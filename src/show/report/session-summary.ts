import type { CallSums } from "#core/model/model-call.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import type { Segment, SessionFacts } from "#core/model/session.ts";
import { addSums, sumOfCalls } from "#core/rules/call-sums.ts";
import type { Totals } from "#core/telemetry/totals.ts";
import { coveredMs } from "#kit/numbers.ts";
import type { Database } from "#store/database.ts";
import { isPacked } from "#store/packed.ts";
import { settledSubagents, settledSums, settledTools, settledTurnCounts, settledTurns } from "#store/queries.ts";
import { segmentsOf } from "#store/segments.ts";
import { relativesOf } from "#store/sessions/launch.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { openCalls } from "./call-totals.ts";
import { wholeSegments, widened, withOpenSubagents, withOpenTurns } from "./open-part.ts";
import { subscriptionMark } from "./prices.ts";

/** A session in numbers: settled and open parts together. */
export interface SessionSummary {
  readonly stored: StoredSession;
  readonly facts: SessionFacts;
  /** By time; none before the first activity. */
  readonly segments: readonly Segment[];
  /** `turns`: those that started with a prompt; `prompts`: those whose prompt a human sent. */
  readonly turns: number;
  readonly prompts: number;
  readonly subagents: number;
  readonly sums: CallSums;
  /** By status; `open` for those without an end. */
  readonly tools: ReadonlyMap<string, number>;
  /** Time in which a turn or subagent ran. */
  readonly workMs: number;
  /** The session whose command started it. Absent: none did, or it is not certain which. */
  readonly parent?: StoredSession;
  /** The sessions that its commands started, by time. */
  readonly children: readonly StoredSession[];
  /** Present if its agent is known to have run on a subscription, so that its cost is not what the user pays. */
  readonly onSubscription?: true;
}

export interface Agents extends Pick<SessionSource, "agents"> {
  /** @default none is known */
  readonly subscriptions?: Subscriptions;
}

/** Summarises a session. Only its open part is built; settled parts are sums in the store, so a long session takes no longer. */
export function summarise(db: Database, stored: StoredSession, { agents, subscriptions }: Agents): SessionSummary {
  const related = { ...relativesOf({ db, agents }, stored), ...subscriptionMark(stored, subscriptions) };
  if (isPacked(db, stored.id)) return { ...summarisePacked(db, stored, { agents }), ...related };
  const session = unsettledSession({ db, agents }, stored);
  const facts = knownFactsOf(db, { agents }, stored);
  const runs = [...session.turns, ...session.subagents];
  const tools = new Map(settledTools(db, stored.id));
  for (const { status } of runs.flatMap((run) => run.toolCalls)) tools.set(status, (tools.get(status) ?? 0) + 1);
  const origins = new Map(settledTurnCounts(db, stored.id));
  for (const { origin } of session.turns) origins.set(origin, (origins.get(origin) ?? 0) + 1);
  const turns = withOpenTurns(settledTurns(db, stored.id), session.turns);
  const subagents = withOpenSubagents(settledSubagents(db, stored.id), session.subagents);
  const prompts = origins.get("human") ?? 0;
  return {
    stored,
    facts,
    segments: wholeSegments(db, stored, session, facts).map(({ segment }) => segment),
    turns: prompts + (origins.get("machine") ?? 0),
    prompts,
    subagents: subagents.length,
    sums: addSums(settledSums(db, stored.id), sumOfCalls(openCalls(session, facts))),
    tools,
    workMs: coveredMs([...turns, ...subagents]),
    ...related,
  };
}

/** How long it was open: the time from start to end of its segments, without the pauses between them; an open segment ends with its last activity. */
export const activeMs = (segments: readonly Segment[]): number =>
  segments.reduce((sum, s) => sum + Math.max(0, (s.endMs ?? s.lastActivityMs) - s.startMs), 0);

/** Tool calls of every status. */
export const toolCallCount = (tools: SessionSummary["tools"]): number => [...tools.values()].reduce((a, b) => a + b, 0);

/** Tool calls that failed or were denied. */
export const failedCalls = (tools: SessionSummary["tools"]): number =>
  (tools.get("error") ?? 0) + (tools.get("denied") ?? 0);

export const isOpen = ({ segments }: SessionSummary): boolean => segments.at(-1)?.endMs === undefined;

// --- internal ---

/** From the stored sums alone, without the packed facts. */
function summarisePacked(
  db: Database,
  stored: StoredSession,
  { agents }: Agents,
): Omit<SessionSummary, "parent" | "children"> {
  const whole = segmentsOf(db, stored.id).map(({ segment, totals }) => ({
    segment,
    totals: JSON.parse(totals) as Totals,
  }));
  const origins = settledTurnCounts(db, stored.id);
  const prompts = origins.get("human") ?? 0;
  return {
    stored,
    facts: knownFactsOf(db, { agents }, stored),
    segments: whole.map(({ segment, totals }) => widened(segment, totals)),
    turns: prompts + (origins.get("machine") ?? 0),
    prompts,
    subagents: whole.reduce((sum, { totals }) => sum + totals.subagents, 0),
    sums: settledSums(db, stored.id),
    tools: settledTools(db, stored.id),
    workMs: whole.reduce((sum, { totals }) => sum + (totals.workMs ?? 0), 0),
  };
}
