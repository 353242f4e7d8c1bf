import type { Session, SessionFacts, Subagent, Turn } from "#core/model/session.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { subagentParents } from "#core/telemetry/span-parents.ts";
import { type KeyedSpan, type SpanSettings, segmentSpan, subagentSpans, turnSpans } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import { settledTurns } from "#store/queries.ts";
import { settledTraces } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { wholeSegments } from "./whole-segments.ts";

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
