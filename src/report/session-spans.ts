import type { SpanRecord } from "../model/telemetry.ts";
import type { Database } from "../store/database.ts";
import { type SpanOutline, settledOutlines, settledSpans } from "../store/settled-spans.ts";
import * as semconv from "../telemetry/semconv.ts";
import type { SessionOutline, SessionView } from "./session-view.ts";
import { PLACE_ATTRIBUTES, rowCalls, rowFinder, sumPlace } from "./waterfall/row-sums.ts";
import { isPrompted, spanKindOf } from "./waterfall/shown-span.ts";
import { inTreeOrder } from "./waterfall/tree.ts";

/** A span of a session. */
export interface SessionSpan {
  readonly record: SpanRecord;
  /** Ordinal of its segment. */
  readonly segment: number;
  /** It has not ended. */
  readonly open: boolean;
}

/** All spans of a session, those that are stored and those that are still open. */
export function* spansOf(
  db: Database,
  { stored, segments, openSpans }: Pick<SessionOutline, "stored" | "segments" | "openSpans">,
): Generator<SessionSpan> {
  for (const { ordinal } of segments) {
    for (const record of settledSpans(db, stored.id, ordinal)) yield { record, segment: ordinal, open: false };
  }
  yield* openSpans;
}

/**
 * The turn of each of the view's calls, as the waterfall shows it: the number of the turn in whose row the call is, from 1; 0 outside any
 * turn. In the order of the calls.
 */
export function turnsOfCalls(db: Database, view: SessionView): readonly number[] {
  const names = [...PLACE_ATTRIBUTES, semconv.OPENHOOK_TURN_ORIGIN];
  const parents = view.openSpans.map(({ record }) => record.parentSpanId);
  const places = view.openSpans.map(({ record, segment }) => turnPlace(record, segment));
  for (const { ordinal } of view.segments) {
    for (const record of settledOutlines(db, view.stored.id, ordinal, names, parents))
      places.push(turnPlace(record, ordinal));
  }
  const nodes = inTreeOrder(places);
  let turns = 0;
  const turnAt: number[] = [];
  for (const { span, parent } of nodes) turnAt.push(span.isTurn ? ++turns : (turnAt[parent] ?? 0));
  const rowOf = rowFinder(nodes);
  return rowCalls(view.calls, view.facts).map((call) => turnAt[rowOf(call)] ?? 0);
}

// --- internal ---

const turnPlace = (record: SpanOutline, segment: number) => ({
  ...sumPlace(record, segment),
  isTurn: spanKindOf(record) === "turn" && isPrompted(record),
});
