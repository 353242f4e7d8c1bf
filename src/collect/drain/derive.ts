import type { ModelCall } from "#core/model/model-call.ts";
import type { Price } from "#core/model/price-list.ts";
import type { SessionInput, SettledWork, Subagent, Turn } from "#core/model/session.ts";
import type { LogRecord } from "#core/model/telemetry.ts";
import { addSettledWork, settledWorkOf } from "#core/rules/call-sums.ts";
import { keepsNames } from "#core/rules/capture.ts";
import { responseContentKey } from "#core/rules/keys.ts";
import { buildSession } from "#core/session/build.ts";
import { withNative } from "#core/session/native.ts";
import { callPrice, takePriceError } from "#core/telemetry/cost.ts";
import { recordAtLevel } from "#core/telemetry/level.ts";
import { compactionLog } from "#core/telemetry/logs.lazy.ts";
import { compactionCounts } from "#core/telemetry/metrics.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { countsAtLevel, levelOf, ownNamesOf } from "#store/capture/level.ts";
import { projectAttributes, withProjectAttributes } from "#store/capture/project.ts";
import { protectCounts, protectSpan } from "#store/capture/protect.ts";
import { dropSettledContent } from "#store/content.ts";
import { isCounted } from "#store/counters.ts";
import { openFacts } from "#store/facts.ts";
import { clearFailures } from "#store/failures.ts";
import { expectsTranscript, knownFactsOf } from "#store/sessions/read-session.ts";
import { unsettledContext } from "#store/sessions/unsettled-context.ts";
import { sessionById } from "#store/sessions.ts";
import { settle } from "#store/settle.ts";
import type { StoredSpan } from "#store/spans.ts";
import { pipelineResource, withPipeline } from "./ci-job.ts";
import { type Closed, closedOf, type Unsettled } from "./closed.ts";
import { notePriceError } from "./contain.ts";
import type { Drain } from "./context.ts";
import { logsWanted } from "./delivery-rows.ts";
import { flatMapped, mapped } from "./iterate.ts";
import { expectsNative, openNative, settleNative } from "./native-join.ts";

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
    const built = buildUnsettled(drain, sessionNumber, options);
    if (built.session.expectedLines > 0 && options.patient) return true;
    const native = openNative(drain, built.stored, built.session);
    if (options.patient && expectsNative(drain, built, native)) return true;
    const unsettled = native === undefined ? built : { ...built, session: withNative(built.session, native.joins) };

    takePriceError();
    const closed = closedOf(drain, unsettled);
    const sent = sentFrom(drain, unsettled);
    settleClosed(drain, unsettled, closed, sent);
    if (native !== undefined) settleNative(drain, unsettled, closed, native, sent);
    clearFailures(db, sessionNumber, "build");
    // Earlier calls of the session stay without a price
    const priceError = takePriceError();
    if (priceError !== undefined) notePriceError(drain, sessionNumber, priceError);
    const calls = closed.runs.flatMap(({ toolCalls }) => toolCalls);
    drain.audit?.append({ session: built.stored, ...built.open, facts: built.facts, context: built.context, calls });
    if (closed.content.pieces.length > 0 || drain.audit !== undefined) {
      const isOver = closed.segments.every(({ delivered }) => delivered);
      dropSettledContent(db, sessionNumber, responseKeys(closed.runs), isOver);
    }
    return false;
  }, "commit.session");
}

// --- internal ---

function buildUnsettled(drain: Drain, sessionNumber: number, { endIdle, untilMs }: DeriveOptions): Unsettled {
  const { db, partLimits } = drain;
  const stored = sessionById(db, sessionNumber);
  const facts = knownFactsOf(db, drain, stored);
  const open = openFacts(db, sessionNumber, untilMs);
  const context = unsettledContext(db, sessionNumber, facts, open);
  const session = buildSession({
    facts,
    ...open,
    context,
    expectsTranscript: expectsTranscript(drain, stored),
    ...(endIdle !== undefined && { endIdle }),
    ...(partLimits !== undefined && { partLimits }),
  });
  return { sessionNumber, stored, facts, open, context, session };
}

/** A span of the session as its level and the project's settings allow it to leave. */
function sentFrom(drain: Drain, { sessionNumber, stored }: Unsettled): (span: StoredSpan) => StoredSpan {
  const level = levelOf(drain, stored);
  const added = projectAttributes(drain, sessionNumber);
  const pipeline = pipelineResource(drain, sessionNumber);
  return (span) => {
    const record = recordAtLevel(withPipeline(span.record, pipeline), level, ownNamesOf(drain));
    return { ...span, record: protectSpan(drain, keepsNames(level) ? withProjectAttributes(record, added) : record) };
  };
}

/** Spans and counts leave for the outbox and the counters as the session's level and the project's settings allow. */
function settleClosed(
  drain: Drain,
  unsettled: Unsettled,
  closed: Closed,
  sent: (span: StoredSpan) => StoredSpan,
): void {
  const { sessionNumber, stored, facts, context, session } = unsettled;
  const { turns, subagents, segments } = closed;
  const level = levelOf(drain, stored);
  const prices = pricesByKey(closed.runs, facts.provider);
  const logsOf = logsWanted(drain);
  const settlement = {
    session,
    sessionNumber,
    turns,
    subagents,
    parts: session.finishedParts.map((part) => ({
      part,
      work: workWith(part, (call) => prices.get(call.key) ?? {}),
    })),
    segments,
    ...(context.renamed !== undefined && { renamed: context.renamed }),
    spans: mapped(closed.spans, sent),
    parents: closed.parents,
    ...(logsOf !== undefined && { logs: { of: logsOf, others: compactionLogs(drain, unsettled) } }),
    counts: flatMapped(closed.counts, (counted) => protectCounts(drain, countsAtLevel(drain, [counted], level))),
    prices,
  };
  drain.report.spans += settle(drain.db, settlement, METRIC_SHAPES, drain.now());
}

/** Compactions that were not counted before. */
function compactionLogs(drain: Drain, { facts, session }: Unsettled): readonly LogRecord[] {
  return session.compactions
    .filter((compaction) => !isCounted(drain.db, compactionCounts(compaction, facts).key))
    .map((compaction) => {
      const segment = session.segments.findLast(({ startMs }) => startMs <= compaction.timeMs) ?? session.segments[0];
      return compactionLog(compaction, segment?.ordinal ?? 0, facts, drain.loaded.config);
    });
}

/** Prices of model calls, by the key of the call. */
const pricesByKey = (
  runs: readonly Pick<Turn, "modelCalls">[],
  provider: string | undefined,
): ReadonlyMap<string, Price> =>
  new Map(runs.flatMap((run) => run.modelCalls.map((call) => [call.key, callPrice(call, provider)] as const)));

/** Keys of the content of the responses that these runs contain. */
const responseKeys = (runs: readonly Pick<Turn, "modelCalls">[]): readonly string[] =>
  runs
    .flatMap((run) => run.modelCalls)
    .flatMap(({ responseId }) => (responseId === undefined ? [] : [responseContentKey(responseId)]));

/** Everything that is settled of an open run, this part included. */
function workWith(part: Turn | Subagent, price: (call: ModelCall) => Price): SettledWork {
  const work = settledWorkOf(part, price);
  return part.settled === undefined ? work : addSettledWork(part.settled, work);
}
