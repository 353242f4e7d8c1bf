import type { Segment, Session, SessionFacts } from "#core/model/session.ts";
import { callPrices } from "#core/telemetry/cost.ts";
import { addTotals, NO_TOTALS, type Totals, totalOf } from "#core/telemetry/totals.ts";
import type { Database } from "#store/database.ts";
import { isPacked } from "#store/packed.ts";
import { segmentsOf } from "#store/segments.ts";
import type { StoredSession } from "#store/sessions.ts";

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

function openTotals(session: Session, segment: Segment, facts: SessionFacts): Totals {
  const turns = session.turns.filter((turn) => turn.segment === segment.ordinal);
  const subagents = session.subagents.filter((subagent) => subagent.segment === segment.ordinal);
  return {
    ...totalOf([...turns, ...subagents], callPrices(facts.provider)),
    turns: turns.filter((turn) => turn.origin === "human" || turn.origin === "machine").length,
    subagents: subagents.filter((subagent) => subagent.key === subagent.agentId).length,
  };
}
