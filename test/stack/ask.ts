import type { AttributeValue } from "#core/model/telemetry.ts";

/** One sample of an instant query. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Runs a PromQL query, for now or for a time. @throws with Prometheus' message if it refuses the query */
export async function query(url: string, expr: string, timeMs?: number): Promise<readonly Sample[]> {
  const form = new URLSearchParams({ query: expr, ...(timeMs !== undefined && { time: String(timeMs / 1_000) }) });
  const answer: PrometheusAnswer = await json(`${url}/api/v1/query`, { method: "POST", body: form });
  if (answer.status !== "success") throw new Error(`Prometheus on ${expr}: ${answer.error ?? JSON.stringify(answer)}`);
  return (answer.data?.result ?? []).map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
}

/** The sum over all samples of a query; 0 if there are none. */
export const sum = async (url: string, expr: string, timeMs?: number): Promise<number> =>
  (await query(url, expr, timeMs)).reduce((total, { value }) => total + value, 0);

/** A span from Jaeger, with the field names of our own records. */
export interface JaegerSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly service: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/**
 * All spans of a trace as Jaeger shows them, duplicates included; empty for an unknown trace. `<id>?raw=true`: as it
 * stores them.
 */
export async function jaegerTrace(url: string, traceId: string): Promise<readonly JaegerSpan[]> {
  const answer: JaegerAnswer = await json(`${url}/api/traces/${traceId}`, {}, [404]);
  return (answer.data ?? []).flatMap(({ spans, processes }) =>
    spans.map((span) => ({
      traceId: span.traceID,
      spanId: span.spanID,
      parentSpanId: span.references.find(({ refType, traceID }) => refType === "CHILD_OF" && traceID === span.traceID)
        ?.spanID,
      name: span.operationName,
      service: processes[span.processID]?.serviceName ?? "",
      startMs: span.startTime / 1_000,
      endMs: (span.startTime + span.duration) / 1_000,
      attributes: Object.fromEntries(span.tags.map(({ key, value }) => [key, value])),
    })),
  );
}

// --- internal ---

interface PrometheusAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [number, string];
    }[];
  };
}

/** Times in microseconds. */
interface JaegerAnswer {
  readonly data?:
    | readonly {
        readonly spans: readonly {
          readonly traceID: string;
          readonly spanID: string;
          readonly operationName: string;
          readonly references: readonly {
            readonly refType: string;
            readonly traceID: string;
            readonly spanID: string;
          }[];
          readonly startTime: number;
          readonly duration: number;
          readonly processID: string;
          readonly tags: readonly { readonly key: string; readonly value: AttributeValue }[];
        }[];
        readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
      }[]
    | null;
}

async function json<T>(url: string, init: RequestInit = {}, alsoAccepted: readonly number[] = []): Promise<T> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(30_000) });
  const text = await response.text();
  // Prometheus refuses an invalid query with 400 or 422 and the reason as JSON
  if (!response.ok && !alsoAccepted.includes(response.status) && !text.startsWith("{")) {
    throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`);
  }
  return JSON.parse(text);
}
