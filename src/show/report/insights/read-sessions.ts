import type { ConfiguredAt } from "#core/model/configured.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import { sessionById } from "#store/sessions.ts";
import { wholeQuarters } from "../buckets.ts";
import { type CacheMiss, cacheMisses } from "../cache-misses.ts";
import { compactionsOf } from "../explain.ts";
import { type PlacedCall, placedCalls } from "../explain-money.ts";
import { turnsOfCalls } from "../session-spans.ts";
import { type SessionView, viewOf } from "../session-view.ts";
import { addFigures, type CallFigures, NOTHING, openFactsOf, settledFacts } from "../usage-facts.ts";
import type { CountedSession } from "../usage-sessions.ts";

export interface Range {
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface Deps extends Pick<SessionSource, "agents"> {
  readonly settings: SpanSettings;
  /** MCP servers in the settings of agents. @default none */
  readonly servers?: readonly ConfiguredAt[] | undefined;
  /** Agents that are known to run on a subscription. @default none */
  readonly subscriptions?: Subscriptions;
}

/** A session whose calls were read one by one. */
export interface ReadSession {
  readonly view: SessionView;
  /** Those of the period, by time, each with its turn and what preceded it. */
  readonly calls: readonly PlacedCall[];
  /** Those of `calls`. */
  readonly misses: readonly CacheMiss[];
  /** A subagent with a session of its own. */
  readonly isSubagent: boolean;
  /** All its calls are in the period, and none is still running. */
  readonly isWhole: boolean;
}

/** The model calls of each session in a period: from sums, so that a year takes no longer than a day. */
export function callsBySession(
  db: Database,
  deps: Pick<SessionSource, "agents">,
  counted: ReadonlyMap<number, CountedSession>,
  range: Range,
): ReadonlyMap<number, CallFigures> {
  const whole = wholeQuarters(range);
  const sums = new Map<number, CallFigures>();
  const wanted = { ...whole, calls: true, tools: false, turns: false, byModel: false, toolsBy: [] };
  for (const fact of [...settledFacts(db, [...counted.keys()], wanted), ...openFactsOf(db, deps, counted)]) {
    if (fact.kind !== "calls" || !counted.has(fact.session)) continue;
    if (fact.timeMs < whole.sinceMs || fact.timeMs >= whole.untilMs) continue;
    sums.set(fact.session, addFigures(sums.get(fact.session) ?? NOTHING, fact.figures));
  }
  return sums;
}

/** Reads the dearest sessions of a period. The limits keep the answer fast; they depend on the sessions alone, not on the machine. */
export function readDearest(
  db: Database,
  deps: Deps,
  counted: ReadonlyMap<number, CountedSession>,
  figures: ReadonlyMap<number, CallFigures>,
  range: Range,
): readonly ReadSession[] {
  const byCost = [...figures].sort(
    ([a, one], [b, other]) =>
      (other.costNanoUsd ?? 0) - (one.costNanoUsd ?? 0) || other.modelCalls - one.modelCalls || a - b,
  );
  let calls = 0;
  const read: ReadSession[] = [];
  for (const [session, { modelCalls, aggregateRecords }] of byCost) {
    if (modelCalls + aggregateRecords === 0 || calls + modelCalls > MAX_CALLS) continue;
    if (read.length === MAX_SESSIONS) break;
    calls += modelCalls;
    read.push(readOne(db, deps, session, counted.get(session)?.root !== session, wholeQuarters(range)));
  }
  return read;
}

// --- internal ---

const MAX_SESSIONS = 150;
const MAX_CALLS = 10_000;

function readOne(
  db: Database,
  deps: Deps,
  session: number,
  isSubagent: boolean,
  { sinceMs, untilMs }: Range,
): ReadSession {
  const view = viewOf(db, sessionById(db, session), deps, deps.settings, false);
  const all = placedCalls(view, turnsOfCalls(db, view));
  const isWithin = ({ call }: PlacedCall): boolean => call.endMs >= sinceMs && call.endMs < untilMs;
  const calls = all.filter(isWithin);
  // Each call is compared with the one before it, which can be older than the period
  const misses = cacheMisses(all, compactionsOf(db, view, deps).all, view.facts.provider);
  return {
    view,
    calls,
    misses: misses.filter(({ call }) => isWithin(call)),
    isSubagent,
    isWhole: calls.length === all.length && !view.calls.some(({ open }) => open),
  };
}
