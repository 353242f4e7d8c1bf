import type { BriefSpan, SpanRecord } from "#core/model/telemetry.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { spanKeyOf } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import { briefSpans, parentsOfCalls, settledSpans, spansWithoutCalls } from "#store/spans.ts";
import type { SessionOutline, SessionView } from "./session-view.ts";
import { rowFinder, sumPlace } from "./waterfall/row-sums.ts";
import { inTreeOrder, isPrompted, spanKindOf } from "./waterfall/tree.ts";

/** A span of a session. */
export interface SessionSpan<Record extends BriefSpan = SpanRecord> {
  readonly record: Record;
  /** Ordinal of its segment. */
  readonly segment: number;
  /** It has not ended. */
  readonly open: boolean;
}

/** All spans of a session, those that are stored and those that are still open. */
export const spansOf = (db: Database, of: Spanned): Generator<SessionSpan> =>
  withOpen(of, (segment) => settledSpans(db, of.stored.id, segment));

/** The same, but of the stored ones only the attributes with these names. */
export const briefSpansOf = (db: Database, of: Spanned, names: readonly string[]): Generator<SessionSpan<BriefSpan>> =>
  withOpen<BriefSpan>(of, (segment) => briefSpans(db, of.stored.id, segment, names));

/**
 * The turn of each of the view's calls, as the waterfall shows it: the number of the turn in whose row the call is, from 1; 0 outside any
 * turn. In the order of the calls.
 */
export function turnsOfCalls(db: Database, view: SessionView): readonly number[] {
  const { stored, facts, openSpans, subagentList } = view;
  const starts = subagentList.flatMap(({ parentCallId: id }) => (id ? [spanKeyOf(facts, "tool_call", id)] : []));
  const nodes = inTreeOrder(
    [...openSpans, ...spansWithoutCalls(db, stored.id, starts)].map(({ record, segment }) =>
      sumPlace(record, segment, { isTurn: spanKindOf(record) === "turn" && isPrompted(record) }),
    ),
  );
  let turns = 0;
  const turnAt: number[] = [];
  for (const { span, parent } of nodes) turnAt.push(span.shown.isTurn ? ++turns : (turnAt[parent] ?? 0));
  const rowOf = rowFinder(nodes);
  const parents = parentsOfCalls(db, stored.id);
  return view.calls.map((one) => {
    const { key } = one.call;
    // The row above that of a settled call
    const spanId = parents.get(spanKeyOf(facts, "model_call", key)) ?? spanIdOf(facts, "model_call", key);
    const row = rowOf({ ...one, spanId });
    // A call whose parent is in another segment is below the root of its own
    return nodes[row]?.span.segment === one.segment ? (turnAt[row] ?? 0) : 0;
  });
}

// --- internal ---

type Spanned = Pick<SessionOutline, "stored" | "segments" | "openSpans">;

function* withOpen<T extends BriefSpan>(
  { segments, openSpans }: Spanned,
  settled: (segment: number) => Iterable<T>,
): Generator<SessionSpan<T | SpanRecord>> {
  for (const { ordinal } of segments) {
    for (const record of settled(ordinal)) yield { record, segment: ordinal, open: false };
  }
  yield* openSpans;
}
