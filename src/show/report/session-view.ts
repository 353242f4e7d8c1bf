import type { ReportedUsage, Session, ToolCall } from "#core/model/session.ts";
import { sumOfCalls } from "#core/rules/call-sums.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import { coveredMs } from "#kit/numbers.ts";
import type { Database } from "#store/database.ts";
import { isPacked } from "#store/packed.ts";
import {
  type CallFigures,
  settledCalls,
  settledFigures,
  settledSubagents,
  settledToolCalls,
  settledTurns,
} from "#store/queries.ts";
import { relativesOf } from "#store/sessions/launch.ts";
import { nativeOf } from "#store/sessions/native.ts";
import { knownFactsOf } from "#store/sessions/read-session.ts";
import { unsettledSession } from "#store/sessions/unsettled-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type OpenCall, openCalls } from "./call-totals.ts";
import { type Covered, coveredBy } from "./covered.ts";
import type { NativeParts } from "./native/notes.ts";
import {
  type OpenSpan,
  openSpansOf,
  type RunSubagent,
  type RunTurn,
  wholeSegments,
  withOpenSubagents,
  withOpenTurns,
} from "./open-part.ts";
import { subscriptionMark } from "./prices.ts";
import { type Agents, type SessionSummary, summarise } from "./session-summary.ts";
import { type UnseenSearches, unseenIn } from "./unseen-searches.ts";

/** What is shown of a session beside its stored spans. */
export interface SessionOutline extends SessionSummary {
  /** Spans that are not stored yet, as if everything ended now. Of a packed session: all spans. */
  readonly openSpans: readonly OpenSpan[];
  /** All calls; only the figures of those that are settled. */
  readonly calls: readonly CallFigures[];
  /** Sums that the agent reports; not part of `sums`. */
  readonly reported?: ReportedUsage;
  readonly native: NativeParts;
}

/** A session with everything in it. `open`: not settled yet, more may be added. */
export interface SessionView extends SessionOutline {
  readonly turnList: readonly RunTurn[];
  readonly calls: readonly (OpenCall & { readonly open: boolean })[];
  readonly toolCalls: readonly { readonly segment: number; readonly tool: ToolCall; readonly open: boolean }[];
  readonly subagentList: readonly RunSubagent[];
  /** Those that are not settled. */
  readonly openCompactions: Session["compactions"];
  /** Searches that are in no record of calls. */
  readonly unseen: readonly UnseenSearches[];
  /** What flat plans cover of its cost. */
  readonly covered: readonly Covered[];
  /** It was imported and has ended; its spans are made from its facts on demand. */
  readonly isPacked: boolean;
}

/** The outline without reading the settled parts one by one, so that long sessions open faster. */
export function outlineOf(db: Database, stored: StoredSession, agents: Agents, settings: SpanSettings): SessionOutline {
  const session = unsettledSession({ db, ...agents }, stored);
  const facts = knownFactsOf(db, agents, stored);
  const reported = reportedOf(stored, session);
  return {
    ...summarise(db, stored, agents),
    openSpans: openSpansOf(db, stored, session, facts, settings),
    calls: [...settledFigures(db, stored.id), ...openCalls(session, facts)],
    native: nativeOf(db, stored, session),
    ...(reported !== undefined && { reported }),
  };
}

/**
 * All of one session except its stored spans.
 *
 * @param needsSpans false: a packed session's spans are left out, which take as long as all the rest
 */
export function viewOf(
  db: Database,
  stored: StoredSession,
  of: Agents,
  settings: SpanSettings,
  needsSpans = true,
): SessionView {
  const { session, facts, toolCalls, calls, subagentList, isPacked } = workOf(db, stored, of);
  const turnList = withOpenTurns(settledTurns(db, stored.id), session.turns);
  const tools = new Map<string, number>();
  for (const { tool } of toolCalls) tools.set(tool.status, (tools.get(tool.status) ?? 0) + 1);
  const prompts = turnList.filter((turn) => turn.origin === "human").length;
  const reported = reportedOf(stored, session);
  return {
    stored,
    facts,
    segments: wholeSegments(db, stored, session, facts).map(({ segment }) => segment),
    turns: prompts + turnList.filter((turn) => turn.origin === "machine").length,
    prompts,
    subagents: subagentList.length,
    sums: sumOfCalls(calls),
    tools,
    workMs: coveredMs([...turnList, ...subagentList]),
    turnList,
    calls,
    toolCalls,
    subagentList,
    openCompactions: session.compactions,
    native: nativeOf(db, stored, session),
    openSpans: needsSpans || !isPacked ? openSpansOf(db, stored, session, facts, settings) : [],
    isPacked,
    covered: coveredBy(db, of, { session: stored.id }),
    unseen: unseenIn(of.agents, stored.source, toolCalls),
    ...(reported !== undefined && { reported }),
    ...relativesOf({ db, agents: of.agents }, stored),
    ...subscriptionMark(stored, of.subscriptions),
  };
}

/** The calls and subagents of a session; much cheaper than its view if no span is needed. */
export function workOf(db: Database, stored: StoredSession, { agents }: Pick<Agents, "agents">) {
  const packed = isPacked(db, stored.id);
  const session = unsettledSession({ db, agents }, stored);
  const facts = knownFactsOf(db, { agents }, stored);
  const runs = [...session.turns, ...session.subagents];
  const toolCalls: SessionView["toolCalls"] = [
    ...settledToolCalls(db, stored.id).map((settled) => ({ ...settled, open: false })),
    ...runs.flatMap((run) => run.toolCalls.map((tool) => ({ segment: run.segment, tool, open: !packed }))),
  ];
  const calls: SessionView["calls"] = [
    ...settledCalls(db, stored.id).map((settled) => ({ ...settled, open: false })),
    ...openCalls(session, facts).map((call) => ({ ...call, open: !packed })),
  ];
  const subagentList = withOpenSubagents(settledSubagents(db, stored.id), session.subagents);
  return { session, facts, toolCalls, calls, subagentList, isPacked: packed };
}

/** Calls that are no part of the conversation: compaction, memory and other work of the agent. The totals include them. */
export const hiddenCalls = ({ calls }: SessionView): SessionView["calls"] =>
  calls.filter(({ call }) => call.purpose !== undefined);

// --- internal ---

const reportedOf = (stored: StoredSession, { reportedUsage }: Session): ReportedUsage | undefined =>
  stored.reported === undefined ? reportedUsage : (JSON.parse(stored.reported) as ReportedUsage);
