import PQueue from "p-queue";
import type { LoadedConfig } from "../config/load.ts";
import { maxOf, minOf } from "../model/min-max.ts";
import { suggest } from "../model/suggest.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import { plural } from "../text/figures.ts";
import type { Backend } from "./backend.ts";
import { compareCalls, compareWithSpans } from "./compare-calls.ts";
import { compareDelivered, compareSeries, compareSums, isSelf, tokensFound, tokensIn } from "./compare-streams.ts";
import { compareTrace } from "./compare-traces.ts";
import { type Difference, KIND_NAME, KINDS, type Sums, sumOfSpans } from "./facts.ts";
import { fetchSeries } from "./fetch-series.ts";
import { fetchTrace } from "./fetch-trace.ts";
import type { Report, SessionReport } from "./report.ts";
import type { MachineFacts } from "./stored-machine.ts";
import type { StoredSessionFacts, StoredSpan } from "./stored-session.ts";
import type { StoreQuery, TranscriptFacts } from "./transcripts.ts";

/** Where a drain sends each signal; absent: it is not sent. */
export interface Destinations {
  readonly traces: string | undefined;
  readonly metrics: string | undefined;
}

export interface SessionComparison {
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
}

interface ComparisonResult {
  readonly differences: readonly Difference[];
  readonly unknown: readonly string[];
  readonly remarks: readonly string[];
  /** Number of possible comparisons. */
  readonly compared: number;
}

/** Compares one session from its transcripts to the backends, in the order of the flow. */
export async function compareSession(comparison: SessionComparison): Promise<
  ComparisonResult & {
    readonly session: SessionReport;
    readonly reported: Sums | undefined;
    readonly stored: Sums;
    readonly delivered: Sums;
    /** By backend; absent if it does not have the whole session. */
    readonly found: readonly Sums[];
  }
> {
  const { facts, transcript, queryStore, destinations, backends } = comparison;
  const { session, spans } = facts;
  const label = `${session.source}/${session.sessionId}`;
  const calls = queryStore((db) => compareCalls(db, facts, transcript, comparison.canHooksReport, comparison.counted));
  if (calls === undefined) throw new Error("the store was removed during the comparison");
  const inSpans = compareWithSpans(facts);
  const differences: Difference[] = [...calls.differences, ...inSpans.differences];
  const unknown: string[] = [...calls.unknown];
  const remarks: string[] = [...calls.remarks, ...inSpans.remarks];
  const queued = spans.filter(({ isQueued }) => isQueued).length;
  if (queued > 0 && destinations.traces !== undefined) {
    const what = `${queued} of ${spans.length} are queued for ${shownUrl(destinations.traces)}; ${suggest("drain")} shows why`;
    differences.push({
      between: "store and delivery",
      session: label,
      subject: "spans",
      what,
      left: spans.length,
      right: spans.length - queued,
    });
  }
  const found: Sums[] = [];
  const counts: (number | undefined)[] = [];
  for (const backend of backends) {
    const trees = await compareTraces(backend, comparison);
    differences.push(...trees.flatMap((tree) => tree.differences));
    unknown.push(...trees.flatMap((tree) => tree.unknown));
    remarks.push(...trees.flatMap((tree) => tree.remarks));
    const all = trees.flatMap((tree) => tree.found);
    found.push(sumOfSpans(all));
    counts.push(all.length);
  }
  const compared =
    (calls.reported === undefined ? 0 : 1) +
    (destinations.traces === undefined ? 0 : 1) +
    (spans.length > 0 ? found.length : 0);
  return {
    session: {
      source: session.source,
      id: session.sessionId,
      startMs: session.firstMs,
      isOpen: facts.isOpen,
      calls: calls.calls,
      spans: {
        stored: spans.length,
        delivered: destinations.traces === undefined ? undefined : spans.length - queued,
        found: counts,
      },
      verdict: differences.length > 0 ? "differ" : unknown.length > 0 || compared === 0 ? "unknown" : "agree",
    },
    reported: calls.reported,
    stored: calls.stored,
    delivered: sumOfSpans(spans.filter(({ isQueued }) => !isQueued)),
    found,
    differences,
    unknown,
    remarks,
    compared,
  };
}

export interface MachineComparison {
  readonly destinations: Destinations;
  readonly prometheus: Backend | undefined;
  readonly config: LoadedConfig["config"];
  readonly nowMs: number;
}

/** Compares the counters of all sessions: the store's sessions, its sums, deliveries, Prometheus. */
export async function compareMachine(
  machine: MachineFacts,
  { destinations, prometheus, config, nowMs }: MachineComparison,
): Promise<ComparisonResult & { readonly counters: Report["counters"] }> {
  const isDelta = config.otlp.metrics.temporality === "delta";
  const streams = machine.streams.filter((stream) => config.selfTelemetry || !isSelf(stream));
  const sums = compareSums(machine);
  const differences: Difference[] = [...sums.differences];
  const unknown: string[] = [...sums.unknown];
  const remarks: string[] = [];
  let compared = machine.streams.length > 0 ? 1 : 0;
  if (destinations.metrics !== undefined) {
    differences.push(...compareDelivered(streams));
    compared++;
  }
  if (machine.droppedSpans > 0) {
    remarks.push(`this machine has dropped ${plural(machine.droppedSpans, "span")} so far; their ids are not recorded`);
  }
  if (machine.missingPoints > 0) {
    unknown.push(
      `the backend rejected ${plural(machine.missingPoints, "metric point")} of deltas without naming them: what it has of the counters is unknown, until it accepts cumulative sums`,
    );
  }
  const delivered = streams.filter((stream) => stream.delivered !== undefined);
  let series: Awaited<ReturnType<typeof fetchSeries>> | undefined;
  if (prometheus !== undefined) {
    if (isDelta) unknown.push("metrics are sent as delta: Prometheus has no series with their sums");
    else if (machine.instanceId === undefined || delivered.length === 0) unknown.push("no metrics were delivered yet");
    else {
      series = await fetchSeries(prometheus, machine.instanceId, timesOf(machine, delivered, nowMs));
      const found = compareSeries(streams, series, METRIC_SHAPES);
      differences.push(...found.differences);
      remarks.push(...found.remarks);
      compared += found.compared;
    }
  }
  return {
    differences,
    unknown,
    remarks,
    compared,
    counters: {
      instanceId: machine.instanceId,
      streams: streams.length,
      hasPrometheus: series !== undefined,
      tokens: KINDS.flatMap((kind) => {
        const stored = tokensIn(streams, kind, ({ value }) => value.sum);
        if (stored === undefined) return [];
        return [
          {
            kind: KIND_NAME[kind],
            stored,
            delivered:
              machine.missingPoints > 0 ? undefined : tokensIn(streams, kind, (stream) => stream.delivered?.sum),
            prometheus: series && tokensFound(streams, series, METRIC_SHAPES, kind),
          },
        ];
      }),
    },
  };
}

// --- internal ---

/** Concurrent requests for traces of one session. */
const REQUESTS = 4;
/** A scrape is later than the export, and clocks differ. */
const MARGIN_MS = 10 * 60_000;

const shownUrl = (url: string): string => new URL(url).origin;

function compareTraces(backend: Backend, { facts, instanceId, isSampled }: SessionComparison) {
  const { session, spans } = facts;
  const byTrace = new Map<string, StoredSpan[]>();
  for (const span of spans) byTrace.set(span.traceId, [...(byTrace.get(span.traceId) ?? []), span]);
  const queue = new PQueue({ concurrency: REQUESTS });
  return queue.addAll(
    [...byTrace].map(([traceId, stored]) => async () => {
      const traceOf = { title: backend.title, session: `${session.source}/${session.sessionId}` };
      const trace = await fetchTrace(backend, traceId);
      return compareTrace({ ...traceOf, traceId, stored, instanceId, isSampled }, trace);
    }),
  );
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
