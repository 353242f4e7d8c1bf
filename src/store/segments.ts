import type { Segment } from "#core/model/session.ts";
import { continuationOf } from "#core/rules/segments.ts";
import { defined } from "#kit/objects.ts";
import type { Database, Row } from "./database.ts";
import { insertRow, numberIn, textIn } from "./rows.ts";

/** A segment as it is stored. */
export interface StoredSegment {
  readonly segment: Segment;
  /** The segment's sums as JSON; the store does not read it. */
  readonly totals: string;
  /** Whether its root span is in the outbox or was sent. */
  readonly delivered: boolean;
}

/** The last segment of a session; `undefined` before the first. */
export function lastSegment(db: Database, sessionNumber: number): StoredSegment | undefined {
  return segmentsOf(db, sessionNumber, "ORDER BY ordinal DESC LIMIT 1")[0];
}

/** The segments of a session, in their order unless `tail` (the end of the SELECT) sets another order. */
export function segmentsOf(db: Database, sessionNumber: number, tail = "ORDER BY ordinal"): readonly StoredSegment[] {
  return db
    .prepare(`SELECT * FROM segments WHERE session = ? ${tail}`)
    .all(sessionNumber)
    .map((row) => ({ segment: toSegment(row), totals: String(row["totals"]), delivered: row["delivered"] === 1 }));
}

/** Stores a segment as it is now. One that was delivered stays delivered. */
export function putSegment(db: Database, sessionNumber: number, { segment, totals, delivered }: StoredSegment): void {
  const row = {
    session: sessionNumber,
    ordinal: segment.ordinal,
    start_ms: segment.startMs,
    end_ms: segment.endMs,
    reason: segment.reason,
    native_reason: segment.nativeReason,
    start_origin: segment.startOrigin,
    last_activity_ms: segment.lastActivityMs,
    totals,
    delivered,
    process: segment.process,
  };
  insertRow(
    db,
    "segments",
    row,
    `ON CONFLICT (session, ordinal) DO UPDATE SET start_ms = excluded.start_ms, end_ms = excluded.end_ms,
       reason = excluded.reason, native_reason = excluded.native_reason, start_origin = excluded.start_origin,
       last_activity_ms = excluded.last_activity_ms, totals = excluded.totals,
       delivered = max(delivered, excluded.delivered), process = excluded.process`,
  );
}

/**
 * Changes the sums of a segment. Sums that were exported with its root span stay: the change then belongs to the last segment, or to a
 * new one that continues it, which the next build exports. Does nothing if there is no such segment.
 *
 * @param change JSON in, JSON out; `{}` stands for no sums. `undefined`: no exported figure changes, and no segment is added
 */
export function changeTotals(
  db: Database,
  sessionNumber: number,
  ordinal: number,
  change: (totals: string) => string | undefined,
): void {
  const own = segmentsOf(db, sessionNumber).find(({ segment }) => segment.ordinal === ordinal);
  const last = lastSegment(db, sessionNumber);
  if (own === undefined || last === undefined) return;
  const { segment } = last;
  const continuation = { segment: continuationOf(segment, segment.endMs ?? 0), totals: "{}", delivered: false };
  const target = !own.delivered ? own : last.delivered ? continuation : last;
  const totals = change(target.totals);
  if (totals !== undefined) putSegment(db, sessionNumber, { ...target, totals });
}

// --- internal ---

function toSegment(row: Row): Segment {
  return defined<Segment>({
    ordinal: Number(row["ordinal"]),
    startMs: Number(row["start_ms"]),
    lastActivityMs: Number(row["last_activity_ms"]),
    uses: [],
    endMs: numberIn(row, "end_ms"),
    reason: textIn(row, "reason") as Segment["reason"],
    nativeReason: textIn(row, "native_reason"),
    startOrigin: textIn(row, "start_origin"),
    process: textIn(row, "process"),
  });
}
