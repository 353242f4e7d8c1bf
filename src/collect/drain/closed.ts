import type { SessionFacts, Subagent, Turn } from "#core/model/session.ts";
import type { Counted, SpanParents } from "#core/model/telemetry.ts";
import { keepsContent } from "#core/rules/capture.ts";
import type { buildSession } from "#core/session/build.ts";
import { baseKey } from "#core/session/drafts.ts";
import { sourcesOf } from "#core/session/sources.ts";
import { type LedTo, ledToIn } from "#core/telemetry/changes.ts";
import { NO_CONTENT, type SessionContent, withContent } from "#core/telemetry/content.ts";
import { callPrices } from "#core/telemetry/cost.ts";
import { knownParents } from "#core/telemetry/known-parents.ts";
import type { KeyedSpan } from "#core/telemetry/make-span.ts";
import { compactionCounts, eachCallCount, eachRunCount, segmentCounts } from "#core/telemetry/metrics.ts";
import { type SpanParent, subagentParents } from "#core/telemetry/span-parents.ts";
import { partSpans, segmentSpan, subagentSpans, turnSpans } from "#core/telemetry/spans.ts";
import { addTotals, NO_TOTALS, segmentTotals, type Totals } from "#core/telemetry/totals.ts";
import { levelOf } from "#store/capture/level.ts";
import { storedChanges, storedCommits } from "#store/changes.ts";
import { contentOf } from "#store/content.ts";
import type { openFacts } from "#store/facts.ts";
import { type StoredSegment, segmentsOf } from "#store/segments.ts";
import { settledTraces } from "#store/sessions/read-session.ts";
import { spanSettings } from "#store/sessions/span-settings.ts";
import type { unsettledContext } from "#store/sessions/unsettled-context.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { StoredSpan } from "#store/spans.ts";
import type { Drain } from "./context.ts";
import { mapped } from "./iterate.ts";
import { launchedByOf } from "./launched-by.ts";

/** A session's facts that are not settled, and what was built from them. */
export interface Unsettled {
  readonly sessionNumber: number;
  readonly stored: StoredSession;
  readonly facts: SessionFacts;
  readonly open: ReturnType<typeof openFacts>;
  readonly context: ReturnType<typeof unsettledContext>;
  readonly session: ReturnType<typeof buildSession>;
}

/** What is over in a session: it can be settled, and its spans and counts leave. */
export interface Closed {
  readonly turns: readonly Turn[];
  readonly subagents: readonly Subagent[];
  /** Turns, subagents, and finished parts of open ones. */
  readonly runs: readonly (Turn | Subagent)[];
  /** All segments as they are now, with their totals. */
  readonly segments: readonly StoredSegment[];
  readonly content: SessionContent;
  /** Made as they are read, once: all spans of a large turn together take more memory than the turn itself. */
  readonly spans: Iterable<StoredSpan>;
  /** Of these spans. */
  readonly parents: SpanParents;
  /** To be read once, after the spans. */
  readonly counts: Iterable<Counted>;
}

/** Reads what is over from a session, with everything that its spans and counts need from the store. Writes nothing. */
export function closedOf(drain: Drain, unsettled: Unsettled): Closed {
  const { session } = unsettled;
  const turns = session.turns.filter((turn) => turn.closed);
  const subagents = session.subagents.filter((subagent) => subagent.closed);
  const runs = [...turns, ...subagents, ...session.finishedParts];
  const content = contentIn(drain, unsettled);
  const ledTo = ledToOf(drain, unsettled);
  const segments = segmentsNow(drain, unsettled);
  const ended = segments.filter(({ ends }) => ends);
  const { traceScope } = spanSettings(drain);
  const parentOf = parentsIn(drain, unsettled, traceScope);
  return {
    turns,
    subagents,
    runs,
    content,
    segments: segments.map(({ segment, totals, delivered }) => ({
      segment,
      totals: JSON.stringify(totals),
      delivered,
    })),
    spans: spansOf(drain, unsettled, { turns, subagents, ended, content, ledTo, parentOf }),
    parents: knownParents(session, unsettled.context, unsettled.facts, traceScope, parentOf),
    counts: countsOf(unsettled, { turns, subagents, ended }),
  };
}

// --- internal ---

interface SegmentNow extends Omit<StoredSegment, "totals"> {
  readonly totals: Totals;
  /** It ended, and its span has not left yet. */
  readonly ends: boolean;
}

type FindLedTo = (span: { readonly startMs: number; readonly endMs: number }) => LedTo;

function ledToOf({ db }: Drain, { sessionNumber }: Unsettled): FindLedTo {
  const [commits, changes] = [storedCommits(db, sessionNumber), storedChanges(db, sessionNumber)];
  return (span) => ledToIn(span, commits, changes);
}

function contentIn(drain: Drain, { sessionNumber, stored, open, context, facts }: Unsettled): SessionContent {
  if (!keepsContent(levelOf(drain, stored))) return NO_CONTENT;
  return {
    pieces: contentOf(drain.db, sessionNumber),
    ...sourcesOf(open.events, open.entries, context, facts.hooksNameAgents),
  };
}

/** Adds what is settled now to the totals of each segment. */
function segmentsNow({ db }: Drain, { sessionNumber, stored, facts, session }: Unsettled): readonly SegmentNow[] {
  const before = new Map(segmentsOf(db, sessionNumber).map((one) => [one.segment.ordinal, one]));
  return session.segments.map((segment) => {
    const known = before.get(segment.ordinal);
    const totals = addTotals(
      known === undefined ? NO_TOTALS : (JSON.parse(known.totals) as Totals),
      segmentTotals(session, segment, callPrices(facts.provider), reportedTotals(stored)),
    );
    const wasDelivered = known?.delivered === true;
    const ends = segment.endMs !== undefined && !wasDelivered;
    return { segment, totals, ends, delivered: ends || wasDelivered };
  });
}

const reportedTotals = ({ reported }: StoredSession): Totals["reported"] =>
  reported === undefined ? undefined : (JSON.parse(reported) as NonNullable<Totals["reported"]>);

function spansOf(
  drain: Drain,
  unsettled: Unsettled,
  closed: Pick<Closed, "turns" | "subagents" | "content"> & {
    readonly ended: readonly SegmentNow[];
    readonly ledTo: FindLedTo;
    readonly parentOf: (subagent: Subagent) => SpanParent;
  },
): Iterable<StoredSpan> {
  const { facts, session } = unsettled;
  const { content, ledTo, parentOf } = closed;
  const settings = spanSettings(drain);
  // A parent can depend on what is settled now, before the spans are stored
  const parents = new Map(closed.subagents.map((subagent) => [subagent, parentOf(subagent)]));
  function* spans(): Generator<StoredSpan> {
    for (const turn of closed.turns)
      yield* inSegment(turn.segment, withContent(turnSpans(turn, facts, settings, ledTo(turn)), turn, content));
    for (const [subagent, parent] of parents)
      yield* inSegment(
        subagent.segment,
        withContent(subagentSpans(subagent, parent, facts, settings), subagent, content),
      );
    for (const part of session.finishedParts)
      yield* inSegment(part.segment, withContent(partSpans(part, parentOf, facts, settings), part, content));
    for (const { segment, totals } of closed.ended) {
      const { ordinal, startMs, endMs = startMs } = segment;
      const { changeId } = ledTo({ startMs, endMs });
      const launchedBy = ordinal === 0 ? launchedByOf(drain, unsettled.stored) : undefined;
      yield* inSegment(ordinal, [segmentSpan(segment, totals, facts, { changeId, launchedBy })]);
    }
  }
  return spans();
}

const inSegment = (segment: number, spans: Iterable<KeyedSpan>): Generator<StoredSpan> =>
  mapped(spans, (span) => ({ ...span, segment }));

function parentsIn(
  { db }: Drain,
  { facts, context, session }: Unsettled,
  scope: "session" | "turn",
): (subagent: Subagent) => SpanParent {
  const built = session.turns.filter(({ exportedKey, isLate }) => exportedKey === undefined && !isLate);
  const turnsOf = (key: string) => {
    return [...built.filter((turn) => baseKey(turn.key) === key), context.turns.get(key)?.span ?? []].flat();
  };
  return subagentParents(session, facts, scope, { turnsOf, traceOfCall: settledTraces(db, facts) });
}

function* countsOf(
  { facts, session }: Unsettled,
  { turns, subagents, ended }: Pick<Closed, "turns" | "subagents"> & { readonly ended: readonly SegmentNow[] },
): Generator<Counted> {
  for (const run of [...turns, ...subagents]) yield* eachRunCount(run, facts);
  for (const part of session.finishedParts) yield* eachCallCount(part, facts);
  for (const compaction of session.compactions) yield compactionCounts(compaction, facts);
  for (const { segment } of ended) yield segmentCounts(segment, facts);
}
