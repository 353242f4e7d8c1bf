import type { NativeRecord } from "#core/model/native.ts";
import type { Session, SessionFacts } from "#core/model/session.ts";
import type { SpanParents } from "#core/model/telemetry.ts";
import { keepsNames } from "#core/rules/capture.ts";
import {
  joinsOf,
  mergedNative,
  type NativeJoin,
  type NativePart,
  partName,
  partOf,
  partsOf,
} from "#core/session/native.ts";
import { spanKeyOf } from "#core/telemetry/make-span.ts";
import { lateNativeSpan, nativeCounts, type SettledNative, unjoinedCount } from "#core/telemetry/native.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { countsAtLevel, levelOf } from "#store/capture/level.ts";
import { protectCounts } from "#store/capture/protect.ts";
import { countFacts } from "#store/counters.ts";
import type { Database } from "#store/database.ts";
import {
  forgetNativeNames,
  NATIVE,
  nativeRecordsOf,
  pendingNative,
  pendingNativeBefore,
  setNativeState,
} from "#store/native.ts";
import { segmentsOf } from "#store/segments.ts";
import { recordsBySpan, settledParts } from "#store/sessions/native.ts";
import type { StoredSession } from "#store/sessions.ts";
import { placeOfSpan, putSpans, type StoredSpan } from "#store/spans.ts";
import type { Closed, Unsettled } from "./closed.ts";
import type { Drain } from "./context.ts";
import { logsWanted } from "./delivery-rows.ts";

/** What the agent's own telemetry adds to a session and is not on a span yet. */
export interface OpenNative {
  /** With parts that are built now. */
  readonly joins: ReadonlyMap<string, NativeJoin>;
  /** Of parts that were settled before, or of none. */
  readonly rest: readonly NativeRecord[];
}

/** Joins the records that are not on a span yet with what is built of a session. @returns `undefined` if there are none */
export function openNative(drain: Drain, stored: StoredSession, session: Session): OpenNative | undefined {
  const { db } = drain;
  const agentIds = session.subagents.map(({ agentId }) => agentId);
  const records = pendingNative(db, stored, agentIds);
  if (records.length === 0) return undefined;
  if (!keepsNames(levelOf(drain, stored)) && forgetNativeNames(db, stored)) return openNative(drain, stored, session);
  const before = segmentsOf(db, stored.id);
  const segments = new Map([...before.map(({ segment }) => segment), ...session.segments].map((s) => [s.ordinal, s]));
  const isDelivered = new Set(before.flatMap(({ segment, delivered }) => (delivered ? [String(segment.ordinal)] : [])));
  const find = partsOf([...session.turns, ...session.subagents, ...session.finishedParts]);
  const bySpan = recordsBySpan(records, db, stored);
  const { joins, rest } = joinsOf(records, (record) => {
    const part = partOf(record, find, bySpan, [...segments.values()]);
    return part?.kind === "session" && isDelivered.has(part.key) ? undefined : part;
  });
  return { joins, rest };
}

/**
 * Whether more of the agent's own telemetry is expected for what would be settled now: the agent exports it to us in batches, so it
 * comes a little later than the hook.
 *
 * @param open what has come, see `openNative`
 */
export function expectsNative(
  { exporting }: Pick<Drain, "exporting">,
  { session }: Unsettled,
  open: OpenNative | undefined,
): boolean {
  if (!exporting.has(session.facts.source)) return false;
  const runs = [...session.turns, ...session.subagents].filter((run) => run.closed);
  const missing = (part: NativePart): boolean => open?.joins.has(partName(part)) !== true;
  const tools = runs.flatMap((run) => run.toolCalls);
  const models = runs.flatMap((run) => run.modelCalls);
  const without = models.filter(({ key }) => missing({ kind: "model_call", key }));
  return (
    tools.some(({ callId }) => missing({ kind: "tool_call", key: callId })) ||
    // Some agents' telemetry does not name model calls
    (without.length > 0 && without.length < models.length)
  );
}

/**
 * Counts what was joined with parts that are settled now, and exports what came after its part was settled as a late part. Records
 * that belong to nothing are counted when the session is over. Call it in the transaction that settles these parts, after that.
 *
 * @param sent the span as it may be sent
 */
export function settleNative(
  drain: Drain,
  { stored, facts, session }: Unsettled,
  closed: Closed,
  open: OpenNative,
  sent: (span: StoredSpan) => StoredSpan,
): void {
  const { db } = drain;
  const calls = new Map<string, SettledNative["call"]>(
    closed.runs.flatMap((run) => [
      ...run.modelCalls.map((call) => [partName({ kind: "model_call", key: call.key }), call] as const),
      ...run.toolCalls.map((call) => [partName({ kind: "tool_call", key: call.callId }), call] as const),
    ]),
  );
  const parts = new Set([
    ...calls.keys(),
    ...closed.turns.map(({ key }) => partName({ kind: "turn", key })),
    ...closed.segments.flatMap(({ segment, delivered }) =>
      delivered ? [partName({ kind: "session", key: String(segment.ordinal) })] : [],
    ),
  ]);
  const settled = [...open.joins].filter(([name]) => parts.has(name));
  count(
    drain,
    stored,
    facts,
    settled.map(([name, { part, records }]) => ({ part, records, call: calls.get(name) })),
  );
  if (open.rest.length === 0) return;
  const late = lateParts(drain, stored, open.rest);
  count(drain, stored, facts, late);
  const spans = lateSpans(drain, facts, late).map(sent);
  drain.report.spans += putSpans(db, stored.id, spans, parentsOf(spans), drain.now(), logsWanted(drain));
  const isOver = session.turns.length === 0 && closed.segments.every(({ delivered }) => delivered);
  if (!isOver) return;
  const old = pendingNativeBefore(db, stored, drain.now() - UNJOINED_AFTER_MS);
  const unjoined = open.rest.filter(({ key }) => old.has(key));
  countFacts(
    db,
    unjoined.map(({ sessionId, key }) => unjoinedCount(stored.source, sessionId, key)),
    METRIC_SHAPES,
    drain.now(),
  );
  setNativeState(db, stored.source, unjoined, NATIVE.unjoined);
}

// --- internal ---

/** The transcript, or the record that it refers to, can come later than a record. */
const UNJOINED_AFTER_MS = 3_600_000;

/** A span with more events than this is cut or refused by some backends. */
const PARTS_PER_SPAN = 100;

const chunksOf = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));

/** Parts that were settled before, with what came later and what is exported of them. */
function lateParts({ db }: Drain, stored: StoredSession, records: readonly NativeRecord[]): readonly SettledNative[] {
  const exported = nativeRecordsOf(db, stored, true);
  const { find, call } = settledParts(db, stored, [...exported, ...records]);
  const segments = segmentsOf(db, stored.id).flatMap(({ segment, delivered }) => (delivered ? [segment] : []));
  const bySpan = recordsBySpan([...exported, ...records]);
  const partIn = (record: NativeRecord) => partOf(record, find, bySpan, segments);
  const before = joinsOf(exported, partIn).joins;
  return [...joinsOf(records, partIn).joins].map(([name, join]) => ({
    ...join,
    before: before.get(name)?.records ?? [],
    call: call(join.part),
  }));
}

function count(drain: Drain, stored: StoredSession, facts: SessionFacts, some: readonly SettledNative[]): void {
  const { db } = drain;
  const level = levelOf(drain, stored);
  const counts = some.flatMap(({ part, records, call }) => [...nativeCounts(part, mergedNative(records), call, facts)]);
  countFacts(db, protectCounts(drain, countsAtLevel(drain, counts, level)), METRIC_SHAPES, drain.now());
  const joined = some.flatMap(({ records }) => records);
  setNativeState(db, stored.source, joined, NATIVE.joined);
}

/** One span for all parts of a run. None for parts whose span was pruned, or had nothing that other spans do not have. */
function lateSpans({ db }: Drain, facts: SessionFacts, some: readonly SettledNative[]): readonly StoredSpan[] {
  const runs = new Map<string, { readonly run: Run; readonly late: SettledNative[] }>();
  for (const one of some) {
    const run = runOf(db, facts, one.part);
    if (run === undefined) continue;
    const name = `${run.traceId} ${run.parentSpanId}`;
    const known = runs.get(name) ?? { run, late: [] };
    runs.set(name, known);
    known.late.push(one);
  }
  return [...runs.values()].flatMap(({ run, late }) =>
    chunksOf(late, PARTS_PER_SPAN).flatMap((parts) => {
      const { key, record } = lateNativeSpan(parts, facts, run);
      return record.events.length === 0 ? [] : [{ key, segment: run.segment, record }];
    }),
  );
}

interface Run {
  readonly traceId: string;
  /** The span of the turn, subagent or segment. */
  readonly parentSpanId: string;
  readonly segment: number;
}

/** The run that an exported part is in, or is. */
function runOf(db: Database, facts: SessionFacts, { kind, key }: NativePart): Run | undefined {
  const place = placeOfSpan(db, spanKeyOf(facts, kind, key));
  if (place === undefined) return undefined;
  const { traceId, spanId, parentSpanId = spanId, segment } = place;
  const isCall = kind === "model_call" || kind === "tool_call";
  return { traceId, segment, parentSpanId: isCall ? parentSpanId : spanId };
}

/** The parents of late parts are exported, or they are the parents of exported calls. */
function parentsOf(spans: readonly StoredSpan[]): SpanParents {
  const traces = new Map(spans.map(({ record: { parentSpanId, traceId } }) => [parentSpanId, traceId]));
  return {
    find(spanId) {
      const comesIn = traces.get(spanId);
      return comesIn === undefined ? undefined : { key: "", comesIn };
    },
    adopt: (record) => record,
  };
}
