import { countsAtLevel, levelOf, ownNamesOf } from "../capture/level.ts";
import { projectAttributes, withProjectAttributes } from "../capture/project.ts";
import { protectCounts, protectSpan } from "../capture/protect.ts";
import { keepsContent, keepsNames } from "../model/capture.ts";
import { responseContentKey } from "../model/content-keys.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { SessionInput, SettledWork, Subagent, Turn } from "../model/session.ts";
import { addSettledWork, settledWorkOf } from "../model/settled-work.ts";
import type { Counted } from "../model/telemetry.ts";
import { buildSession } from "../session/build.ts";
import { sourcesOf } from "../session/sources.ts";
import { expectsTranscript, knownFactsOf, settledTraces, unsettledContext } from "../sessions/read-session.ts";
import { spanSettings } from "../sessions/span-settings.ts";
import { storedChanges, storedCommits } from "../store/changes.ts";
import { contentOf, dropSettledContent } from "../store/content.ts";
import { openFacts } from "../store/facts.ts";
import { clearFailures } from "../store/failures.ts";
import { segmentsOf } from "../store/segments.ts";
import { type StoredSession, sessionById } from "../store/sessions.ts";
import { type StoredSpan, settle } from "../store/settle.ts";
import { NO_CONTENT, withContent } from "../telemetry/content.ts";
import { costNanoUsd, costsOf, takePriceError } from "../telemetry/cost.ts";
import { ledToIn } from "../telemetry/led-to.ts";
import { recordAtLevel } from "../telemetry/level.ts";
import { compactionCounts, eachCallCount, eachRunCount, segmentCounts } from "../telemetry/metrics.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import { subagentParents } from "../telemetry/span-parents.ts";
import { type KeyedSpan, partSpans, segmentSpan, subagentSpans, turnSpans } from "../telemetry/spans.ts";
import { addTotals, NO_TOTALS, segmentTotals, type Totals } from "../telemetry/totals.ts";
import { notePriceError } from "./contain.ts";
import type { Drain } from "./context.ts";
import { pipelineResource, withPipeline } from "./pipeline-resource.ts";

export interface DeriveOptions {
  /** Ends an open segment now, for this reason. */
  readonly endIdle?: SessionInput["endIdle"];
  /** Only facts up to this time: later ones are not all known yet. In milliseconds since the epoch. */
  readonly untilMs?: number;
  /** Leave a session that expects more transcript lines as it is; the caller tries again. */
  readonly patient: boolean;
}

/**
 * Builds the unsettled part of a session, and settles what has closed: spans go into the outbox, counts into the counters, and
 * facts are marked as settled, all in one commit.
 *
 * @returns true if the session was left as it is, because it expects more transcript lines
 */
export function deriveSession(drain: Drain, sessionNumber: number, options: DeriveOptions): boolean {
  const { db } = drain;
  return db.transaction(() => {
    const stored = sessionById(db, sessionNumber);
    const facts = knownFactsOf(db, drain, stored);
    const open = openFacts(db, sessionNumber, options.untilMs);
    const context = unsettledContext(db, sessionNumber, facts, open);
    const session = buildSession({
      facts,
      ...open,
      context,
      expectsTranscript: expectsTranscript(drain, stored),
      ...(options.endIdle !== undefined && { endIdle: options.endIdle }),
      ...(drain.partLimits !== undefined && { partLimits: drain.partLimits }),
    });
    if (session.expectedLines > 0 && options.patient) return true;

    takePriceError();
    const turns = session.turns.filter((turn) => turn.closed);
    const subagents = session.subagents.filter((subagent) => subagent.closed);
    const settings = spanSettings(drain);
    const turnOf = (key: string | undefined) => {
      if (key === undefined) return undefined;
      const settled = context.turns.get(key);
      // A settled turn has a span. If an earlier version renamed the turn, its next part has a span, stored or built now
      const spanKey = settled?.span?.key ?? (settled?.renamed === true ? `${key}~1` : key);
      const segment =
        session.turns.find((t) => t.key === spanKey)?.segment ?? settled?.span?.segment ?? settled?.segment;
      return segment === undefined ? undefined : { key: spanKey, segment };
    };
    const placeOf = subagentParents(session, facts, settings.traceScope, {
      turnOf,
      traceOfCall: settledTraces(db, facts),
    });
    const level = levelOf(drain, stored);
    const content = keepsContent(level)
      ? {
          pieces: contentOf(db, sessionNumber),
          ...sourcesOf(open.events, open.entries, context, facts.hooksNameAgents),
        }
      : NO_CONTENT;
    // A parent can depend on what is settled now, before the spans are stored
    const places = new Map(subagents.map((s) => [s, placeOf(s)]));
    const [commits, changes] = [storedCommits(db, sessionNumber), storedChanges(db, sessionNumber)];
    const ledToOf = (turn: Turn) => ledToIn(turn, commits, changes);
    const ended: StoredSpan[] = [];
    const endedCounts: Counted[] = [];
    function* spans(): Generator<StoredSpan> {
      for (const turn of turns)
        yield* spansOfSegment(
          turn.segment,
          withContent(turnSpans(turn, facts, settings, ledToOf(turn)), turn, content),
        );
      for (const [s, place] of places)
        yield* spansOfSegment(s.segment, withContent(subagentSpans(s, place, facts, settings), s, content));
      for (const part of session.finishedParts)
        yield* spansOfSegment(part.segment, withContent(partSpans(part, placeOf, facts, settings), part, content));
      yield* ended;
    }
    function* counts(): Generator<Counted> {
      for (const run of [...turns, ...subagents]) yield* eachRunCount(run, facts);
      for (const part of session.finishedParts) yield* eachCallCount(part, facts);
      for (const compaction of session.compactions) yield compactionCounts(compaction, facts);
      yield* endedCounts;
    }
    const kept = new Map(segmentsOf(db, sessionNumber).map((s) => [s.segment.ordinal, s]));
    const segments = session.segments.map((segment) => {
      const before = kept.get(segment.ordinal);
      const totals = addTotals(
        before === undefined ? NO_TOTALS : (JSON.parse(before.totals) as Totals),
        segmentTotals(session, segment, costsOf(facts.provider), reportedTotals(stored)),
      );
      const ends = segment.endMs !== undefined && before?.delivered !== true;
      if (ends) {
        const { startMs, endMs = startMs } = segment;
        const { changeId } = ledToIn({ startMs, endMs }, commits, changes);
        ended.push(...spansOfSegment(segment.ordinal, [segmentSpan(segment, totals, facts, changeId)]));
        endedCounts.push(segmentCounts(segment, facts));
      }
      return { segment, totals: JSON.stringify(totals), delivered: ends || before?.delivered === true };
    });
    const settledRuns = [...turns, ...subagents, ...session.finishedParts];
    const costNanoUsdByKey = costsByKey(settledRuns, facts.provider);
    const added = projectAttributes(drain, sessionNumber);
    const pipeline = pipelineResource(drain, sessionNumber);
    drain.report.spans += settle(
      db,
      {
        session,
        sessionNumber,
        turns,
        subagents,
        parts: session.finishedParts.map((part) => ({
          part,
          work: workWith(part, (call) => costNanoUsdByKey.get(call.key)),
        })),
        segments,
        ...(context.renamed !== undefined && { renamed: context.renamed }),
        spans: mapped(spans(), (span) => {
          const record = recordAtLevel(withPipeline(span.record, pipeline), level, ownNamesOf(drain));
          return {
            ...span,
            record: protectSpan(drain, keepsNames(level) ? withProjectAttributes(record, added) : record),
          };
        }),
        counts: flatMapped(counts(), (counted) => protectCounts(drain, countsAtLevel(drain, [counted], level))),
        costNanoUsd: costNanoUsdByKey,
      },
      METRIC_SHAPES,
      drain.now(),
    );
    clearFailures(db, sessionNumber, "build");
    // Earlier calls of the session stay without a price
    const priceError = takePriceError();
    if (priceError !== undefined) notePriceError(drain, sessionNumber, priceError);
    if (content.pieces.length > 0) {
      const isOver = segments.every(({ delivered }) => delivered);
      dropSettledContent(db, sessionNumber, responseKeys(settledRuns), isOver);
    }
    return false;
  }, "commit.session");
}

// --- internal ---

/** Costs of the model calls that have one, in 10⁻⁹ USD, by the key of the call. */
const costsByKey = (
  runs: readonly Pick<Turn, "modelCalls">[],
  provider: string | undefined,
): ReadonlyMap<string, number> =>
  new Map(
    runs
      .flatMap((run) => run.modelCalls)
      .flatMap((call) => {
        const cost = costNanoUsd(call, provider);
        return cost === undefined ? [] : [[call.key, cost] as const];
      }),
  );

/** Keys of the content of the responses that these runs contain. */
const responseKeys = (runs: readonly Pick<Turn, "modelCalls">[]): readonly string[] =>
  runs
    .flatMap((run) => run.modelCalls)
    .flatMap(({ responseId }) => (responseId === undefined ? [] : [responseContentKey(responseId)]));

/** Everything that is settled of an open run, this part included. */
function workWith(part: Turn | Subagent, cost: (call: ModelCall) => number | undefined): SettledWork {
  const work = settledWorkOf(part, cost);
  return part.settled === undefined ? work : addSettledWork(part.settled, work);
}

const reportedTotals = ({ reported }: StoredSession): Totals["reported"] =>
  reported === undefined ? undefined : (JSON.parse(reported) as NonNullable<Totals["reported"]>);

const spansOfSegment = (segment: number, spans: Iterable<KeyedSpan>): Generator<StoredSpan> =>
  mapped(spans, (span) => ({ ...span, segment }));

function* mapped<T, U>(items: Iterable<T>, to: (item: T) => U): Generator<U> {
  for (const item of items) yield to(item);
}

function* flatMapped<T, U>(items: Iterable<T>, to: (item: T) => Iterable<U>): Generator<U> {
  for (const item of items) yield* to(item);
}
