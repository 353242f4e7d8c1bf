import type { CallSums } from "../model/call-sums.ts";
import { cardOf } from "../model/card-of.ts";
import type { ReportedUsage, Segment, Session, SessionFacts, Subagent, ToolCall, Turn } from "../model/session.ts";
import type { SpanRecord } from "../model/telemetry.ts";
import { TOKEN_KINDS } from "../model/token-kinds.ts";
import type { SessionSource } from "../sessions/read-session.ts";
import { sessionFactsOf, settledTraces, unsettledSession } from "../sessions/read-session.ts";
import type { Database } from "../store/database.ts";
import { isPacked } from "../store/packed.ts";
import { hasReadTranscript } from "../store/positions.ts";
import {
  type StoredModelCall,
  type SubagentSummary,
  settledCalls,
  settledSubagents,
  settledSums,
  settledToolCalls,
  settledTools,
  settledTurnCounts,
  settledTurns,
  type TurnSummary,
  wasUsed,
} from "../store/queries.ts";
import { segmentsOf } from "../store/segments.ts";
import type { StoredSession } from "../store/sessions.ts";
import { costNanoUsd, costsOf } from "../telemetry/cost.ts";
import * as semconv from "../telemetry/semconv.ts";
import { subagentParents } from "../telemetry/span-parents.ts";
import { type KeyedSpan, type SpanSettings, segmentSpan, subagentSpans, turnSpans } from "../telemetry/spans.ts";
import { addTotals, NO_TOTALS, type Totals, totalOf } from "../telemetry/totals.ts";

/** A session in numbers: what is settled and what is still open, together. */
export interface SessionSummary {
  readonly stored: StoredSession;
  readonly facts: SessionFacts;
  /** In order; none before the first activity. */
  readonly segments: readonly Segment[];
  /** Turns with a prompt, and those of them that a human asked for. */
  readonly turns: number;
  readonly prompts: number;
  readonly subagents: number;
  readonly sums: CallSums;
  /** By status; `open` for those without an end. */
  readonly tools: ReadonlyMap<string, number>;
}

/** A session in full. `open`: not settled yet, more may come. */
export interface SessionView extends SessionSummary {
  readonly turnList: readonly (TurnSummary & { readonly open: boolean })[];
  readonly calls: readonly (StoredModelCall & { readonly open: boolean })[];
  readonly toolCalls: readonly { readonly segment: number; readonly tool: ToolCall; readonly open: boolean }[];
  readonly subagentList: readonly (SubagentSummary & { readonly open: boolean })[];
  /** Spans that are not stored yet, as they would be if everything ended now. Of a packed session these are all. */
  readonly openSpans: readonly OpenSpan[];
  /** It was imported and is over; its spans are told from its facts when they are asked for. */
  readonly isPacked: boolean;
  /** The agent's own sums; apart from everything else. */
  readonly reported?: ReportedUsage;
}

export interface OpenSpan {
  readonly segment: number;
  /** Which one of its subject it stands for: of a tool call, its id. */
  readonly name: string;
  readonly record: SpanRecord;
  /** Its end is still to come; false where it has ended and is only not settled yet. */
  readonly open: boolean;
}

type Agents = Pick<SessionSource, "agents">;

/** What stands in a transcript that was never read is not known, and not zero; nor is what hooks could have told and did not. */
function shownFacts(db: Database, agents: Agents["agents"], stored: StoredSession): SessionSummary["facts"] {
  const { usageUnknown, ...facts } = sessionFactsOf({ agents }, stored);
  const isUnread = cardOf({ agents }, stored.source)?.tokens === "transcript" && !hasReadTranscript(db, stored.id);
  const isUnknown = (usageUnknown === true || isUnread) && wasUsed(db, stored.id);
  return isUnknown ? { ...facts, usageUnknown: true } : facts;
}

/** Cost depends on what is open, not on the session's length. */
export function summarise(db: Database, stored: StoredSession, { agents }: Agents): SessionSummary {
  if (isPacked(db, stored.id)) return summarisePacked(db, stored, { agents });
  const session = unsettledSession({ db, agents }, stored);
  const facts = shownFacts(db, agents, stored);
  const runs = [...session.turns, ...session.subagents];
  const tools = new Map(settledTools(db, stored.id));
  for (const { status } of runs.flatMap((run) => run.toolCalls)) tools.set(status, (tools.get(status) ?? 0) + 1);
  const origins = new Map(settledTurnCounts(db, stored.id));
  for (const { origin } of session.turns) origins.set(origin, (origins.get(origin) ?? 0) + 1);
  const subagents = new Set(settledSubagents(db, stored.id).map((s) => s.agentId));
  for (const { agentId } of session.subagents) subagents.add(agentId);
  const prompts = origins.get("human") ?? 0;
  return {
    stored,
    facts,
    segments: segmentsWith(db, stored, session, facts).map(({ segment }) => segment),
    turns: prompts + (origins.get("machine") ?? 0),
    prompts,
    subagents: subagents.size,
    sums: addSums(settledSums(db, stored.id), sumOf(openCalls(session, facts))),
    tools,
  };
}

/** Everything of one session but its stored spans. */
export function viewOf(db: Database, stored: StoredSession, { agents }: Agents, settings: SpanSettings): SessionView {
  const packed = isPacked(db, stored.id);
  const session = unsettledSession({ db, agents }, stored);
  const facts = shownFacts(db, agents, stored);
  const runs = [...session.turns, ...session.subagents];
  const toolCalls = [
    ...settledToolCalls(db, stored.id).map((settled) => ({ ...settled, open: false })),
    ...runs.flatMap((run) => run.toolCalls.map((tool) => ({ segment: run.segment, tool, open: !packed }))),
  ];
  const calls = [
    ...settledCalls(db, stored.id).map((settled) => ({ ...settled, open: false })),
    ...openCalls(session, facts).map((call) => ({ ...call, open: !packed })),
  ];
  const turnList = withOpenTurns(settledTurns(db, stored.id), session.turns);
  const subagentList = withOpenSubagents(settledSubagents(db, stored.id), session.subagents);
  const tools = new Map<string, number>();
  for (const { tool } of toolCalls) tools.set(tool.status, (tools.get(tool.status) ?? 0) + 1);
  const prompts = turnList.filter((turn) => turn.origin === "human").length;
  const reported =
    stored.reported === undefined ? session.reportedUsage : (JSON.parse(stored.reported) as ReportedUsage);
  return {
    stored,
    facts,
    segments: segmentsWith(db, stored, session, facts).map(({ segment }) => segment),
    turns: prompts + turnList.filter((turn) => turn.origin === "machine").length,
    prompts,
    subagents: subagentList.length,
    sums: sumOf(calls),
    tools,
    turnList,
    calls,
    toolCalls,
    subagentList,
    openSpans: openSpansOf(db, stored, session, facts, settings),
    isPacked: packed,
    ...(reported !== undefined && { reported }),
  };
}

/** Sums over calls; the same as the store's own over the same calls. */
export function sumOf(calls: readonly Pick<StoredModelCall, "call" | "costNanoUsd">[]): CallSums {
  return calls.reduce<CallSums>((sums, { call, costNanoUsd: cost }) => {
    const { usage } = call;
    return addSums(sums, {
      modelCalls: call.covers === undefined ? 1 : 0,
      sumsTold: call.covers === undefined ? 0 : 1,
      ...usage,
      callsWithoutUsage: usage === undefined ? 1 : 0,
      incompleteCalls: call.complete ? 0 : 1,
      ...(cost !== undefined && { costNanoUsd: cost }),
      unpricedCalls: cost === undefined ? 1 : 0,
    });
  }, NO_CALLS);
}

export const NO_CALLS: CallSums = {
  modelCalls: 0,
  sumsTold: 0,
  callsWithoutUsage: 0,
  incompleteCalls: 0,
  unpricedCalls: 0,
};

/** Whether anything is known of tokens; else they are unknown for agents that never tell, and none for all others. */
export const hasUsage = ({ modelCalls, sumsTold }: CallSums): boolean => modelCalls + sumsTold > 0;

/** How long its segments were at work, pauses between them left out; an open one to its last sign of life. */
export const activeMs = (segments: readonly Segment[]): number =>
  segments.reduce((sum, s) => sum + Math.max(0, (s.endMs ?? s.lastActivityMs) - s.startMs), 0);

// --- internal ---

/** From what is kept beside its facts: those are not looked at. */
function summarisePacked(db: Database, stored: StoredSession, { agents }: Agents): SessionSummary {
  const whole = segmentsOf(db, stored.id).map(({ segment, totals }) => ({
    segment,
    totals: JSON.parse(totals) as Totals,
  }));
  const origins = settledTurnCounts(db, stored.id);
  const prompts = origins.get("human") ?? 0;
  return {
    stored,
    facts: sessionFactsOf({ agents }, stored),
    segments: whole.map(({ segment, totals }) => widened(segment, totals)),
    turns: prompts + (origins.get("machine") ?? 0),
    prompts,
    subagents: whole.reduce((sum, { totals }) => sum + totals.subagents, 0),
    sums: settledSums(db, stored.id),
    tools: settledTools(db, stored.id),
  };
}

function addSums(a: CallSums, b: CallSums): CallSums {
  const sum = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : x + y;
  const optional = Object.fromEntries(
    OPTIONAL_SUMS.flatMap((key) => {
      const value = sum(a[key], b[key]);
      return value === undefined ? [] : [[key, value]];
    }),
  ) as Pick<CallSums, (typeof OPTIONAL_SUMS)[number]>;
  return {
    modelCalls: a.modelCalls + b.modelCalls,
    sumsTold: a.sumsTold + b.sumsTold,
    callsWithoutUsage: a.callsWithoutUsage + b.callsWithoutUsage,
    incompleteCalls: a.incompleteCalls + b.incompleteCalls,
    unpricedCalls: a.unpricedCalls + b.unpricedCalls,
    ...optional,
  };
}

const OPTIONAL_SUMS = [...TOKEN_KINDS, "costNanoUsd"] as const satisfies readonly (keyof CallSums)[];

function openCalls(session: Session, facts: SessionFacts): readonly StoredModelCall[] {
  return [...session.turns, ...session.subagents].flatMap((run) =>
    run.modelCalls.map((call) => {
      const cost = costNanoUsd(call, facts.provider);
      return { segment: run.segment, call, ...(cost !== undefined && { costNanoUsd: cost }) };
    }),
  );
}

/** What a turn did after it had closed is a part of the same turn. */
function withOpenTurns(settled: readonly TurnSummary[], open: readonly Turn[]): SessionView["turnList"] {
  const byKey = new Map(settled.map((turn) => [turn.key, { ...turn, open: false }]));
  for (const turn of open) {
    const key = turn.key.replace(/~\d+$/, "");
    const { segment, origin, state, startMs, endMs, promptLength } = turn;
    const before = byKey.get(key);
    byKey.set(key, {
      ...(before ?? { key, segment, origin, startMs, ...(promptLength !== undefined && { promptLength }) }),
      state,
      endMs: Math.max(endMs, before?.endMs ?? endMs),
      open: !turn.closed,
    });
  }
  return [...byKey.values()].sort((a, b) => a.startMs - b.startMs);
}

function withOpenSubagents(
  settled: readonly SubagentSummary[],
  open: readonly Subagent[],
): SessionView["subagentList"] {
  const byId = new Map(settled.map((subagent) => [subagent.agentId, { ...subagent, open: false }]));
  for (const { agentId, agentType, segment, turnKey, parentCallId, startMs, endMs, closed } of open) {
    const before = byId.get(agentId);
    byId.set(agentId, {
      ...(before ?? {
        agentId,
        segment,
        startMs,
        ...(agentType !== undefined && { agentType }),
        ...(turnKey !== undefined && { turnKey }),
        ...(parentCallId !== undefined && { parentCallId }),
      }),
      endMs: Math.max(endMs, before?.endMs ?? endMs),
      open: !closed,
    });
  }
  return [...byId.values()].sort((a, b) => a.startMs - b.startMs);
}

interface WholeSegment {
  /** As long as its root span is, or would be if it ended now. */
  readonly segment: Segment;
  /** What is settled in it and what is open. */
  readonly totals: Totals;
  /** Its root span is stored. */
  readonly delivered: boolean;
}

/** The store's segments as what is open has changed them. */
function segmentsWith(
  db: Database,
  stored: StoredSession,
  session: Session,
  facts: SessionFacts,
): readonly WholeSegment[] {
  // Of a packed session the sums are there and the spans are not
  const packed = isPacked(db, stored.id);
  const byOrdinal = new Map<number, WholeSegment>(
    segmentsOf(db, stored.id).map(({ segment, totals, delivered }) => [
      segment.ordinal,
      { segment, totals: JSON.parse(totals) as Totals, delivered: delivered && !packed },
    ]),
  );
  for (const segment of packed ? [] : session.segments) {
    const before = byOrdinal.get(segment.ordinal);
    if (before?.delivered === true) continue;
    const totals = addTotals(before?.totals ?? NO_TOTALS, openTotals(session, segment, facts));
    byOrdinal.set(segment.ordinal, { segment, totals, delivered: false });
  }
  return [...byOrdinal.values()]
    .map((whole) => ({ ...whole, segment: widened(whole.segment, whole.totals) }))
    .sort((a, b) => a.segment.ordinal - b.segment.ordinal);
}

/** A transcript can tell of work before the first hook and after the last. */
function widened(segment: Segment, { firstMs, lastMs }: Totals): Segment {
  const { startMs, endMs, lastActivityMs } = segment;
  return {
    ...segment,
    startMs: Math.min(startMs, firstMs ?? startMs),
    lastActivityMs: Math.max(lastActivityMs, lastMs ?? lastActivityMs),
    ...(endMs !== undefined && { endMs: Math.max(endMs, lastMs ?? endMs) }),
  };
}

function openSpansOf(
  db: Database,
  stored: StoredSession,
  session: Session,
  facts: SessionFacts,
  settings: SpanSettings,
): readonly OpenSpan[] {
  const turnSegments = new Map(settledTurns(db, stored.id).map((turn) => [turn.key, turn.segment]));
  for (const turn of session.turns) turnSegments.set(turn.key, turn.segment);
  const turnOf = (key: string | undefined) => {
    const segment = turnSegments.get(key ?? "");
    return key === undefined || segment === undefined ? undefined : { key, segment };
  };
  const placeOf = subagentParents(session, facts, settings.traceScope, {
    turnOf,
    traceOfCall: settledTraces(db, facts),
  });
  const roots = segmentsWith(db, stored, session, facts)
    .filter(({ delivered }) => !delivered)
    .map(({ segment, totals }) => ({
      segment: segment.ordinal,
      name: String(segment.ordinal),
      record: segmentSpan(segment, totals, facts).record,
      open: segment.endMs === undefined,
    }));
  return [
    ...roots,
    ...session.turns.flatMap((turn) => shown(turn, turnSpans(turn, facts, settings))),
    ...session.subagents.flatMap((s) => shown(s, subagentSpans(s, placeOf(s), facts, settings))),
  ];
}

const shown = (run: Turn | Subagent, spans: readonly KeyedSpan[]): readonly OpenSpan[] =>
  spans.map(({ name, record }) => ({ segment: run.segment, name, record, open: isOpen(run, record) }));

function isOpen(run: Turn | Subagent, { attributes }: SpanRecord): boolean {
  const kind = attributes[semconv.OPENHOOK_SPAN_KIND];
  if (kind === "tool_call") return attributes[semconv.OPENHOOK_TOOL_STATUS] === "open";
  return kind !== "model_call" && !run.closed;
}

function openTotals(session: Session, segment: Segment, facts: SessionFacts): Totals {
  const turns = session.turns.filter((turn) => turn.segment === segment.ordinal);
  const subagents = session.subagents.filter((subagent) => subagent.segment === segment.ordinal);
  return {
    ...totalOf([...turns, ...subagents], costsOf(facts.provider)),
    turns: turns.filter((turn) => turn.origin === "human" || turn.origin === "machine").length,
    subagents: subagents.filter((subagent) => subagent.key === subagent.agentId).length,
  };
}
