import type { SpanRecord } from "#core/model/telemetry.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { spanKeyOf } from "#core/telemetry/make-span.ts";
import type { Database } from "#store/database.ts";
import { parentsOfCalls, settledSpans, spansWithoutCalls } from "#store/spans.ts";
import { turnNumbers } from "./explain-money.ts";
import type { SessionOutline, SessionView } from "./session-view.ts";
import { rowFinder, sumPlace } from "./waterfall/row-sums.ts";
import { inTreeOrder, isPrompted, spanKindOf } from "./waterfall/tree.ts";

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
  if (view.isPacked) {
    // Making its spans would take as long as all the rest
    const numbers = turnNumbers(view);
    return view.calls.map(({ turnKey }) => (turnKey === undefined ? 0 : (numbers.get(turnKey) ?? 0)));
  }
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
