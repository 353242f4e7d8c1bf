import PQueue from "p-queue";
import type { LoadedConfig } from "#config/load.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { maxOf, minOf } from "#kit/numbers.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { Backend } from "./backend.ts";
import { compareCalls, compareWithSpans } from "./compare-calls.ts";
import { compareNative, type NativeRow } from "./compare-native.ts";
import { compareDelivered, compareSeries, compareSums, isSelf, tokensFound, tokensIn } from "./compare-streams.ts";
import { compareTrace } from "./compare-traces.ts";
import {
  AllFindings,
  type Findings,
  KIND_NAME,
  KINDS,
  labelOf,
  type SpanFact,
  type Sums,
  sumOfSpans,
} from "./facts.ts";
import { type FoundSeries, fetchSeries, fetchTrace } from "./fetch.ts";
import type { Report, SessionReport, Verdict } from "./report.ts";
import type { MachineFacts, StoredSessionFacts, StoredSpan, StoredStream } from "./stored.ts";
import type { StoreQuery, TranscriptFacts } from "./transcripts.ts";

/** Where a drain sends each signal; absent: it is not sent. */
export interface Destinations {
  readonly traces: string | undefined;
  readonly metrics: string | undefined;
}

interface SessionComparison {
  readonly facts: StoredSessionFacts;
  readonly transcript: TranscriptFacts;
  /** The agent's hooks can report model calls that are in no transcript. */
  readonly canHooksReport: boolean;
  readonly queryStore: StoreQuery;
  /** Where each globally unique record was counted; this session's are added. */
  readonly counted: Map<string, string>;
  readonly destinations: Destinations;
  /** Backends for traces. */
  readonly backends: readonly Backend[];
  readonly instanceId: string | undefined;
  readonly isSampled: boolean;
  /** Compares with the agent's own telemetry too, see `compareNative`. */
  readonly witness?: Pick<SessionSource, "agents">;
}

interface ComparisonResult extends Findings {
  /** Number of possible comparisons. */
  readonly compared: number;
}

export interface SessionResult extends ComparisonResult {
  readonly session: SessionReport;
  readonly reported: Sums | undefined;
  readonly stored: Sums;
  readonly delivered: Sums;
  /** By backend. */
  readonly found: readonly Sums[];
  /** Absent: not asked for. */
  readonly native?: readonly NativeRow[];
}

/** Compares one session from its transcripts to the backends, in the order of the flow. */
export async function compareSession(comparison: SessionComparison): Promise<SessionResult> {
  const { facts, transcript, queryStore, destinations, backends } = comparison;
  const { session, spans } = facts;
  const calls = queryStore((db) => compareCalls(db, facts, transcript, comparison.canHooksReport, comparison.counted));
  if (calls === undefined) throw new Error("the store was removed during the comparison");
  const findings = new AllFindings();
  findings.add(calls);
  findings.add(compareWithSpans(facts));
  const { witness } = comparison;
  const native = witness && queryStore((db) => compareNative(db, session, witness));
  findings.add(native ?? {});
  const delivered = spans.filter(({ isQueued }) => !isQueued);
  if (destinations.traces !== undefined)
    findings.add(compareDeliveredSpans(facts, delivered.length, destinations.traces));
  const found: (readonly SpanFact[])[] = [];
  for (const backend of backends) {
    const traces = await compareTraces(backend, comparison);
    for (const trace of traces) findings.add(trace);
    found.push(traces.flatMap((trace) => trace.found));
  }
  const compared =
    (calls.reported === undefined ? 0 : 1) +
    (destinations.traces === undefined ? 0 : 1) +
    (spans.length > 0 ? found.length : 0) +
    (native?.rows.some(({ figures }) => figures.length > 0) === true ? 1 : 0);
  return {
    ...findings,
    session: {
      source: session.source,
      id: session.sessionId,
      startMs: session.firstMs,
      isOpen: facts.isOpen,
      calls: calls.calls,
      spans: {
        stored: spans.length,
        delivered: destinations.traces === undefined ? undefined : delivered.length,
        found: found.map((spansFound) => spansFound.length),
      },
      verdict: verdictOf(findings, compared),
    },
    reported: calls.reported,
    stored: calls.stored,
    delivered: sumOfSpans(delivered),
    found: found.map(sumOfSpans),
    ...(native !== undefined && { native: native.rows }),
    compared,
  };
}

interface MachineComparison {
  readonly destinations: Destinations;
  readonly prometheus: Backend | undefined;
  readonly config: LoadedConfig["config"];
  readonly nowMs: number;
}

/** Compares the counters of all sessions: the store's sessions, its sums, deliveries, Prometheus. */
export async function compareMachine(
  machine: MachineFacts,
  comparison: MachineComparison,
): Promise<ComparisonResult & { readonly counters: Report["counters"] }> {
  const { destinations, config } = comparison;
  const streams = machine.streams.filter((stream) => config.selfTelemetry || !isSelf(stream));
  const findings = new AllFindings();
  findings.add(compareSums(machine));
  let compared = machine.streams.length > 0 ? 1 : 0;
  if (destinations.metrics !== undefined) {
    findings.add({ differences: compareDelivered(streams) });
    compared++;
  }
  findings.add(lossesOf(machine));
  const inPrometheus = await compareWithPrometheus(machine, streams, comparison);
  findings.add(inPrometheus);
  const { series } = inPrometheus;
  return {
    ...findings,
    compared: compared + (inPrometheus.compared ?? 0),
    counters: {
      instanceId: machine.instanceId,
      streams: streams.length,
      hasPrometheus: series !== undefined,
      tokens: KINDS.flatMap((kind) => {
        const stored = tokensIn(streams, kind, ({ value }) => value.sum);
        if (stored === undefined) return [];
        const delivered =
          machine.missingPoints > 0 ? undefined : tokensIn(streams, kind, (stream) => stream.delivered?.sum);
        const prometheus = series && tokensFound(streams, series, METRIC_SHAPES, kind);
        return [{ kind: KIND_NAME[kind], stored, delivered, prometheus }];
      }),
    },
  };
}

// --- internal ---

/** Concurrent requests for traces of one session. */
const REQUESTS = 4;
/** A scrape is later than the export, and clocks differ. */
const MARGIN_MS = 10 * 60_000;

function compareDeliveredSpans(
  { session, spans }: StoredSessionFacts,
  delivered: number,
  destination: string,
): Partial<Findings> {
  const queued = spans.length - delivered;
  if (queued === 0) return {};
  const shownUrl = new URL(destination).origin;
  const what = `${queued} of ${spans.length} are queued for ${shownUrl}; ${suggest("drain")} shows why`;
  const label = labelOf(session);
  const between = "store and delivery";
  return { differences: [{ between, session: label, subject: "spans", what, left: spans.length, right: delivered }] };
}

const verdictOf = ({ differences, unknown }: Findings, compared: number): Verdict =>
  differences.length > 0 ? "differ" : unknown.length > 0 || compared === 0 ? "unknown" : "agree";

function compareTraces(backend: Backend, { facts, instanceId, isSampled }: SessionComparison) {
  const { session, spans } = facts;
  const byTrace = new Map<string, StoredSpan[]>();
  for (const span of spans) byTrace.set(span.traceId, [...(byTrace.get(span.traceId) ?? []), span]);
  const queue = new PQueue({ concurrency: REQUESTS });
  return queue.addAll(
    [...byTrace].map(([traceId, stored]) => async () => {
      const traceOf = { title: backend.title, session: labelOf(session) };
      const trace = await fetchTrace(backend, traceId);
      return compareTrace({ ...traceOf, traceId, stored, instanceId, isSampled }, trace);
    }),
  );
}

/** What was counted and is in no backend. */
function lossesOf({ droppedSpans, missingPoints }: MachineFacts): Partial<Findings> {
  const dropped = `this machine has dropped ${plural(droppedSpans, "span")} so far; their ids are not recorded`;
  const missing = `the backend rejected ${plural(missingPoints, "metric point")} of deltas without naming them: what it has of the counters is unknown, until it accepts cumulative sums`;
  return { unknown: missingPoints > 0 ? [missing] : [], remarks: droppedSpans > 0 ? [dropped] : [] };
}

/** @returns `series` is absent if Prometheus was not asked */
async function compareWithPrometheus(
  machine: MachineFacts,
  streams: readonly StoredStream[],
  { prometheus, config, nowMs }: MachineComparison,
): Promise<Partial<ComparisonResult> & { readonly series?: readonly FoundSeries[] }> {
  if (prometheus === undefined) return {};
  if (config.otlp.metrics.temporality === "delta") {
    return { unknown: ["metrics are sent as delta: Prometheus has no series with their sums"] };
  }
  const delivered = streams.filter((stream) => stream.delivered !== undefined);
  if (machine.instanceId === undefined || delivered.length === 0) return { unknown: ["no metrics were delivered yet"] };
  const series = await fetchSeries(prometheus, machine.instanceId, timesOf(machine, delivered, nowMs));
  return { ...compareSeries(streams, series, METRIC_SHAPES), series };
}

/** The time range in which the newest values lie, with a margin for both clocks. It begins with the stream that was sent first. */
function timesOf(
  { clockSkewMs }: MachineFacts,
  delivered: readonly { readonly delivered?: { readonly atMs: number } }[],
  nowMs: number,
) {
  const sent = delivered.flatMap((stream) => stream.delivered?.atMs ?? []);
  const margin = MARGIN_MS + Math.abs(clockSkewMs);
  return { sinceMs: minOf(sent, nowMs) - margin, untilMs: maxOf(sent, nowMs) + margin };
}
