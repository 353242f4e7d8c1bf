import { type HrTime, type SpanContext, SpanKind, SpanStatusCode, TraceFlags, ValueType } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType } from "@opentelemetry/sdk-metrics";
import type { core, logs, metrics, tracing } from "@opentelemetry/sdk-node";
import type { LogRecord, MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import { type ResourceOf, sendable, wellFormed } from "./resource.ts";

/** The instrumentation scope of spans. */
export function scopeOf(version: string): core.InstrumentationScope {
  return { ...METRICS_SCOPE, version };
}

/**
 * The instrumentation scope of metrics, without a version. Collectors and Prometheus distinguish series by it, so an update would start a
 * second series of every counter with the whole sum in it. The resource's `telemetry.distro.version` has the version.
 */
const METRICS_SCOPE: core.InstrumentationScope = { name: "openhook-otel", version: "" };

/**
 * Span records as the plain objects that the SDK's serializers read. They are encoded byte for byte like spans of the SDK's tracer
 * with the same ids and times.
 *
 * @param records in the order in which they are sent
 * @param resourceOf gives spans of one resource the same object
 */
export function toReadableSpans(
  records: readonly SpanRecord[],
  resourceOf: ResourceOf,
  scope: core.InstrumentationScope,
): tracing.ReadableSpan[] {
  return records.map((record) => {
    const context = spanContext(record.traceId, record.spanId);
    const startTime = toHrTime(record.startMs);
    const endMs = Math.max(record.startMs, record.endMs);
    return {
      name: wellFormed(record.name),
      kind: SPAN_KINDS[record.kind],
      spanContext: () => context,
      ...(record.parentSpanId === undefined
        ? {}
        : { parentSpanContext: spanContext(record.traceId, record.parentSpanId) }),
      startTime,
      endTime: toHrTime(endMs),
      duration: toHrTime(endMs - record.startMs),
      ended: true,
      status: statusOf(record),
      attributes: sendable(record.attributes),
      links: record.links.map((link) => ({
        context: spanContext(link.traceId, link.spanId),
        attributes: sendable(link.attributes),
      })),
      events: record.events.map((event) => ({
        name: wellFormed(event.name),
        time: toHrTime(event.timeMs),
        attributes: sendable(event.attributes),
      })),
      resource: resourceOf(record.resource),
      instrumentationScope: scope,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  });
}

/**
 * Log records as the plain objects that the SDK's serializers read. Backends that do not show
 * the name of an event show its body, so it is the name too.
 */
export function toReadableLogs(
  records: readonly LogRecord[],
  resourceOf: ResourceOf,
  scope: core.InstrumentationScope,
): logs.ReadableLogRecord[] {
  return records.map((record) => ({
    hrTime: toHrTime(record.timeMs),
    hrTimeObserved: toHrTime(record.timeMs),
    ...SEVERITIES[record.severity],
    eventName: record.name,
    body: record.name,
    spanContext: spanContext(record.traceId, record.spanId),
    attributes: { ...sendable(record.attributes), ...structured(record.attributes) },
    resource: resourceOf(record.resource),
    instrumentationScope: scope,
    droppedAttributesCount: 0,
  }));
}

/**
 * Metric points as the SDK's metric data: one entry per resource, and one metric per name in it. Points keep their order, so that
 * the zero point of a new stream precedes its value. Points that are not finite are left out.
 *
 * @param points of `nano` counters contain whole 10⁻⁹ units and become doubles in the metric's unit
 */
export function toResourceMetrics(
  points: readonly MetricPoint[],
  resourceOf: ResourceOf,
  temporality: "cumulative" | "delta",
): metrics.ResourceMetrics[] {
  const aggregationTemporality =
    temporality === "delta" ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
  const byResource = grouped(points.filter(isFinitePoint), (point) => resourceOf(point.resource));
  return [...byResource].map(([resource, ofResource]) => ({
    resource,
    scopeMetrics: [
      {
        scope: METRICS_SCOPE,
        metrics: [...grouped(ofResource, (point) => `${point.data.kind} ${point.shape.name}`).values()].map(
          (ofMetric) => toMetricData(ofMetric, aggregationTemporality),
        ),
      },
    ],
  }));
}

/**
 * Milliseconds since the epoch as [seconds, nanoseconds].
 *
 * Derived from the number's shortest decimal text, so that 1700000000123.456 becomes …123456000 ns and not the …123456055 of its binary
 * value. Times beyond the unsigned 64 bits of the encoding are moved to the nearest limit.
 *
 * @param ms any finite number; anything else gives [0, 0]
 */
export function toHrTime(ms: number): HrTime {
  if (!Number.isFinite(ms) || ms <= 0) return [0, 0];
  if (ms >= LAST_MS) return toHrTime(LAST_MS - 1);
  const whole = Math.trunc(ms);
  const text = String(ms);
  // Below 1e-6 the text has an exponent: less than a nanosecond
  const fraction = text.includes("e") ? "" : (text.split(".")[1] ?? "");
  const nanos = (whole % 1000) * NANOS_PER_MS + Math.round(Number(`0.${fraction}0`) * NANOS_PER_MS);
  const seconds = Math.trunc(whole / 1000);
  return nanos === NANOS_PER_SECOND ? [seconds + 1, 0] : [seconds, nanos];
}

// --- internal ---

const SPAN_KINDS = {
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
} as const satisfies Record<SpanRecord["kind"], SpanKind>;

/** Numbers of the log data model. */
const SEVERITIES = {
  info: { severityNumber: 9, severityText: "INFO" },
  warn: { severityNumber: 13, severityText: "WARN" },
} as const satisfies Record<LogRecord["severity"], unknown>;

const MESSAGES = ["gen_ai.input.messages", "gen_ai.output.messages"] as const;

/** Messages with their structure, as the conventions require of events; spans have them as JSON texts. */
function structured(attributes: LogRecord["attributes"]): logs.ReadableLogRecord["attributes"] {
  const messages = MESSAGES.flatMap((name) => {
    const text = attributes[name];
    if (typeof text !== "string") return [];
    try {
      return [[name, JSON.parse(text, (_, value) => (typeof value === "string" ? wellFormed(value) : value))]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(messages);
}

const NANO = 1e9;

function spanContext(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

function statusOf({ status }: SpanRecord): tracing.ReadableSpan["status"] {
  if (status.code === "unset") return { code: SpanStatusCode.UNSET };
  const message = status.message;
  return { code: SpanStatusCode.ERROR, ...(message === undefined ? {} : { message: wellFormed(message) }) };
}

function toMetricData(
  points: readonly [MetricPoint, ...MetricPoint[]],
  aggregationTemporality: AggregationTemporality,
): metrics.MetricData {
  const { name, description, unit, value, bounds = [] } = points[0].shape;
  const descriptor = { name, description, unit, valueType: value === "int" ? ValueType.INT : ValueType.DOUBLE };
  const base = { descriptor, aggregationTemporality };
  const numbers: metrics.DataPoint<number>[] = [];
  const histograms: metrics.DataPoint<metrics.Histogram>[] = [];
  for (const point of points) {
    const { data } = point;
    if (data.kind === "histogram") histograms.push({ ...timed(point), value: toHistogram(data, bounds) });
    else numbers.push({ ...timed(point), value: value === "nano" ? data.value / NANO : data.value });
  }
  switch (points[0].data.kind) {
    case "sum":
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers };
    case "gauge":
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: numbers };
    case "histogram":
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms };
  }
}

function toHistogram(
  data: Extract<MetricPoint["data"], { kind: "histogram" }>,
  bounds: readonly number[],
): metrics.Histogram {
  return {
    count: data.count,
    sum: data.sum,
    // An empty histogram has no minimum and no maximum
    ...(data.count > 0 ? { min: data.min, max: data.max } : {}),
    buckets: { boundaries: [...bounds], counts: [...data.bucketCounts] },
  };
}

function timed(point: MetricPoint): Omit<metrics.DataPoint<unknown>, "value"> {
  return {
    startTime: toHrTime(point.startMs),
    endTime: toHrTime(point.timeMs),
    attributes: sendable(point.attributes),
  };
}

function isFinitePoint({ data }: MetricPoint): boolean {
  if (data.kind !== "histogram") return Number.isFinite(data.value);
  const numbers = data.count > 0 ? [data.sum, data.min, data.max] : [data.sum];
  return [data.count, ...numbers, ...data.bucketCounts].every(Number.isFinite);
}

function grouped<T, Key>(items: readonly T[], keyOf: (item: T) => Key): Map<Key, [T, ...T[]]> {
  const groups = new Map<Key, [T, ...T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

const NANOS_PER_MS = 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000;
/** 2^64 ns, whole milliseconds. */
const LAST_MS = 18_446_744_073_709;
