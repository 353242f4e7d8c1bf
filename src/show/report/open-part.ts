import type { Segment, Session, SessionFacts, Subagent, Turn } from "#core/model/session.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { callPrices } from "#core/telemetry/cost.ts";
import type { KeyedSpan } from "#core/telemetry/make-span.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { subagentParents } from "#core/telemetry/span-parents.ts";
import { type SpanSettings, segmentSpan, subagentSpans, turnSpans } from "#core/telemetry/spans.ts";
import { addTotals, NO_TOTALS, type Totals, totalOf } from "#core/telemetry/totals.ts";
import type { Database } from "#store/database.ts";
import { isPacked } from "#store/packed.ts";
import { type SubagentSummary, settledTurns, type TurnSummary } from "#store/queries.ts";
import { segmentsOf } from "#store/segments.ts";
import { settledTraces } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";

export type RunTurn = TurnSummary & { readonly open: boolean };
export type RunSubagent = SubagentSummary & { readonly open: boolean };

/** All turns. If a turn went on after it was settled, the open part belongs to the same turn. */
export function withOpenTurns(settled: readonly TurnSummary[], open: readonly Turn[]): readonly RunTurn[] {
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

/** All subagents. If one went on after it was settled, the open part belongs to the same subagent. */
export function withOpenSubagents(
  settled: readonly SubagentSummary[],
  open: readonly Subagent[],
): readonly RunSubagent[] {
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

/** A span that is not stored yet. */
export interface OpenSpan {
  readonly segment: number;
  /** Distinguishes spans of one kind: of a tool call, its id. */
  readonly name: string;
  readonly record: SpanRecord;
  /** It has not ended; false if it has ended but is not settled yet. */
  readonly open: boolean;
}

/** The spans of everything open, as if it ended now. */
export function openSpansOf(
  db: Database,
  stored: StoredSession,
  session: Session,
  facts: SessionFacts,
  settings: SpanSettings,
): readonly OpenSpan[] {
  const turns = [...session.turns.filter(({ isLate }) => !isLate), ...settledTurns(db, stored.id)];
  const placeOf = subagentParents(session, facts, settings.traceScope, {
    turnsOf: (key) => turns.filter((turn) => turn.key === key),
    traceOfCall: settledTraces(db, facts),
  });
  const roots = wholeSegments(db, stored, session, facts)
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

/** A segment with its settled and its open part. */
interface WholeSegment {
  /** Start and end are those of its root span, as if it ended now. */
  readonly segment: Segment;
  /** Sums of both parts. */
  readonly totals: Totals;
  /** Its root span is stored. */
  readonly delivered: boolean;
}

/** The stored segments, with their open parts added. */
export function wholeSegments(
  db: Database,
  stored: StoredSession,
  session: Session,
  facts: SessionFacts,
): readonly WholeSegment[] {
  // A packed session has stored sums but no stored spans
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

/** Extends a segment to all its work: a transcript can contain work before the first hook and after the last. */
export function widened(segment: Segment, { firstMs, lastMs }: Totals): Segment {
  const { startMs, endMs, lastActivityMs } = segment;
  return {
    ...segment,
    startMs: Math.min(startMs, firstMs ?? startMs),
    lastActivityMs: Math.max(lastActivityMs, lastMs ?? lastActivityMs),
    ...(endMs !== undefined && { endMs: Math.max(endMs, lastMs ?? endMs) }),
  };
}

// --- internal ---

const shown = (run: Turn | Subagent, spans: Iterable<KeyedSpan>): readonly OpenSpan[] =>
  [...spans]
    .filter(({ isOptional }) => isOptional !== true)
    .map(({ name, record }) => ({ segment: run.segment, name, record, open: isUnended(run, record) }));

function isUnended(run: Turn | Subagent, { attributes }: SpanRecord): boolean {
  const kind = attributes[semconv.OPENHOOK_SPAN_KIND];
  if (kind === "tool_call") return attributes[semconv.OPENHOOK_TOOL_STATUS] === "open";
  return kind !== "model_call" && !run.closed;
}

function openTotals(session: Session, segment: Segment, facts: SessionFacts): Totals {
  const turns = session.turns.filter((turn) => turn.segment === segment.ordinal);
  const subagents = session.subagents.filter((subagent) => subagent.segment === segment.ordinal);
  return {
    ...totalOf([...turns, ...subagents], callPrices(facts.provider)),
    turns: turns.filter((turn) => turn.origin === "human" || turn.origin === "machine").length,
    subagents: subagents.filter((subagent) => subagent.key === subagent.agentId).length,
  };
}
