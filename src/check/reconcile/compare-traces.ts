import { plural } from "#kit/text/figures.ts";
import type { Difference, Findings, SpanFact } from "./facts.ts";
import type { FoundTrace } from "./fetch.ts";
import type { StoredSpan } from "./stored.ts";

/** One trace in the store and in a backend. */
interface TraceResult extends Findings {
  /** Our spans that the backend has, each once. */
  readonly found: readonly SpanFact[];
}

interface TraceComparison {
  /** The backend's name. */
  readonly title: string;
  /** `<source>/<id>` of the session. */
  readonly session: string;
  readonly traceId: string;
  /** All spans in the store. Queued ones may be missing in the backend. */
  readonly stored: readonly StoredSpan[];
  /** `service.instance.id` of this machine. */
  readonly instanceId: string | undefined;
  /** A sampler may drop whole traces; a present one is complete. */
  readonly isSampled: boolean;
}

/** Compares spans: ids, parents and figures. Not names, because a gateway may redact them. */
export function compareTrace(comparison: TraceComparison, trace: FoundTrace | undefined): TraceResult {
  const { title, session, traceId, stored, instanceId, isSampled } = comparison;
  const delivered = stored.filter(({ isQueued }) => !isQueued);
  const differences: Difference[] = [];
  const differ = (subject: string, what: string, left: number | null, right: number | null): void => {
    differences.push({ between: `store and ${title}`, session, subject, what, left, right });
  };
  if (trace === undefined) {
    const missing = `${session}: ${title} has no trace ${traceId}`;
    if (delivered.length === 0) return { ...NOTHING, remarks: [`${missing}: nothing of it was delivered yet`] };
    if (isSampled) return { ...NOTHING, unknown: [`${missing}: not kept by the sampler, or lost`] };
    differ(`trace ${traceId}`, "was delivered but is missing; spans", delivered.length, 0);
    return { ...NOTHING, differences };
  }
  const remarks: string[] = [];
  const copies = new Map<string, SpanFact[]>();
  for (const span of trace.spans) copies.set(span.spanId, [...(copies.get(span.spanId) ?? []), span]);
  const found: SpanFact[] = [];
  for (const span of stored) {
    const [first, ...others] = copies.get(span.spanId) ?? [];
    copies.delete(span.spanId);
    if (first === undefined) {
      if (!span.isQueued) differ(subjectOf(span, traceId), "was delivered but is missing", 1, 0);
      continue;
    }
    // A repeated span is identical; a gateway may have changed one of the two
    const best = [first, ...others].find((other) => firstDifference(span, other) === undefined) ?? first;
    found.push(best);
    const wrong = firstDifference(span, best);
    if (wrong !== undefined) differ(subjectOf(span, traceId), wrong.what, wrong.left, wrong.right);
  }
  const twice = trace.spans.length - new Set(trace.spans.map(({ spanId }) => spanId)).size;
  if (twice > 0) remarks.push(`${session}: ${title} keeps ${plural(twice, "span")} of trace ${traceId} more than once`);
  let foreign = 0;
  for (const [span] of copies.values()) {
    if (span === undefined) continue;
    if (span.instanceId !== undefined && instanceId !== undefined && span.instanceId !== instanceId) foreign++;
    else differ(subjectOf(span, traceId), "is in the backend but not in the store", 0, 1);
  }
  if (foreign > 0) remarks.push(`${session}: ${plural(foreign, "span")} of trace ${traceId} came from another machine`);
  if (!trace.isPartial) return { differences, unknown: [], remarks, found };
  return { differences: [], unknown: [`${session}: ${title} returned only part of trace ${traceId}`], remarks, found };
}

// --- internal ---

const NOTHING: TraceResult = { differences: [], unknown: [], remarks: [], found: [] };

const subjectOf = ({ spanId, name }: SpanFact, traceId: string): string => `span ${spanId} (${name}) of ${traceId}`;

/** The first difference between a span as sent and as found. */
function firstDifference(
  stored: SpanFact,
  found: SpanFact,
): { readonly what: string; readonly left: number | null; readonly right: number | null } | undefined {
  for (const [name, left] of Object.entries(stored.figures)) {
    const right = found.figures[name] ?? null;
    if (left !== right) return { what: name, left, right };
  }
  if (stored.parentSpanId === found.parentSpanId) return undefined;
  const shown = (id: string): string => (id === "" ? "none" : id);
  const what = `has parent ${shown(found.parentSpanId)} instead of ${shown(stored.parentSpanId)}`;
  return { what, left: null, right: null };
}
