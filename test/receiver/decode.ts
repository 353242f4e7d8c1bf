import { type DescMessage, fromBinary, fromJson, type JsonValue, type MessageShape } from "@bufbuild/protobuf";
import type { AnyValue, InstrumentationScope, KeyValue } from "./proto/common.ts";
import { LogsRequestSchema } from "./proto/logs.ts";
import {
  type HistogramDataPoint,
  type Metric,
  MetricsRequestSchema,
  type NumberDataPoint,
  type ResourceMetrics,
} from "./proto/metrics.ts";
import { type Span, TraceRequestSchema } from "./proto/trace.ts";

/** An attribute as plain data. Whole numbers beyond 2^53 are bigints; an empty OTLP value is null. */
export type PlainValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Uint8Array
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };
export type PlainAttributes = Readonly<Record<string, PlainValue>>;

export interface ReceivedScope {
  readonly name: string;
  readonly version: string;
}

/** A received span. Ids in lower-case hex, times in nanoseconds since the epoch. */
export interface ReceivedSpan {
  readonly resource: PlainAttributes;
  readonly scope: ReceivedScope;
  readonly traceId: string;
  readonly spanId: string;
  /** Absent on a root. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: "unspecified" | "internal" | "server" | "client" | "producer" | "consumer";
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: PlainAttributes;
  readonly status: { readonly code: "unset" | "ok" | "error"; readonly message?: string };
  readonly events: readonly { readonly name: string; readonly timeNs: bigint; readonly attributes: PlainAttributes }[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: PlainAttributes;
  }[];
  readonly flags: number;
}

/** A received log record, its time in nanoseconds since the epoch. */
export interface ReceivedLog {
  readonly resource: PlainAttributes;
  readonly scope: ReceivedScope;
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly body: PlainValue;
  readonly severity: string;
  readonly timeNs: bigint;
  readonly attributes: PlainAttributes;
}

/** A received data point with its metric's properties. */
export interface ReceivedPoint {
  readonly resource: PlainAttributes;
  readonly scope: ReceivedScope;
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly attributes: PlainAttributes;
  readonly startNs: bigint;
  readonly timeNs: bigint;
  readonly data:
    | { readonly kind: "gauge"; readonly type: "int" | "double"; readonly value: number }
    | {
        readonly kind: "sum";
        readonly type: "int" | "double";
        readonly value: number;
        readonly temporality: Temporality;
        readonly monotonic: boolean;
      }
    | {
        readonly kind: "histogram";
        readonly temporality: Temporality;
        readonly count: number;
        readonly sum?: number;
        readonly min?: number;
        readonly max?: number;
        readonly bounds: readonly number[];
        readonly bucketCounts: readonly number[];
      };
}
export type Temporality = "unspecified" | "delta" | "cumulative";

export type Encoding = "protobuf" | "json";

/** The bytes are not an OTLP request; the message says why. */
export class DecodeError extends Error {
  readonly code = "E_OTLP_DECODE";
  override readonly name = "DecodeError";
}

/**
 * Decodes an ExportTraceServiceRequest.
 *
 * @throws DecodeError for anything else, and for ids of a wrong length or of zeros
 */
export function decodeSpans(body: Uint8Array, encoding: Encoding): readonly ReceivedSpan[] {
  return decodeMessage(TraceRequestSchema, body, encoding).resourceSpans.flatMap((group) => {
    const resource = plainAttributes(group.resource?.attributes ?? []);
    return group.scopeSpans.flatMap((scoped) =>
      scoped.spans.map((span) => spanOf(span, resource, scopeOf(scoped.scope))),
    );
  });
}

/**
 * Decodes an ExportMetricsServiceRequest. Exponential histograms and summaries are skipped.
 *
 * @throws DecodeError for anything else
 */
export function decodePoints(body: Uint8Array, encoding: Encoding): readonly ReceivedPoint[] {
  return decodeMessage(MetricsRequestSchema, body, encoding).resourceMetrics.flatMap(pointsOf);
}

/**
 * Decodes an ExportLogsServiceRequest.
 *
 * @throws DecodeError for anything else, and for ids of a wrong length or of zeros
 */
export function decodeLogs(body: Uint8Array, encoding: Encoding): readonly ReceivedLog[] {
  return decodeMessage(LogsRequestSchema, body, encoding).resourceLogs.flatMap((group) => {
    const resource = plainAttributes(group.resource?.attributes ?? []);
    return group.scopeLogs.flatMap((scoped) =>
      scoped.logRecords.map((log) => ({
        resource,
        scope: scopeOf(scoped.scope),
        traceId: idOf("trace id", log.traceId, 16),
        spanId: idOf("span id", log.spanId, 8),
        name: log.eventName,
        body: plainValue(log.body),
        severity: log.severityText,
        timeNs: log.timeUnixNano,
        attributes: plainAttributes(log.attributes),
      })),
    );
  });
}

// --- internal ---

const SPAN_KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const STATUS_CODES = ["unset", "ok", "error"] as const;
const TEMPORALITIES = ["unspecified", "delta", "cumulative"] as const;

function decodeMessage<Desc extends DescMessage>(
  schema: Desc,
  body: Uint8Array,
  encoding: Encoding,
): MessageShape<Desc> {
  try {
    if (encoding === "protobuf") return fromBinary(schema, body);
    const json: JsonValue = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return fromJson(schema, withBase64Ids(json), { ignoreUnknownFields: true });
  } catch (error) {
    throw new DecodeError(`cannot read the body as ${schema.typeName} (${encoding}): ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * OTLP's JSON has ids in hex where proto3's JSON has base64. No attribute is affected, because attribute names are values of `key`.
 */
function withBase64Ids(json: JsonValue): JsonValue {
  if (Array.isArray(json)) return json.map(withBase64Ids);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const isId = key === "traceId" || key === "spanId" || key === "parentSpanId";
      return [key, isId && typeof value === "string" ? base64OfHex(key, value) : withBase64Ids(value)];
    }),
  );
}

function base64OfHex(key: string, hex: string): string {
  if (!/^(?:[0-9a-fA-F]{2})*$/.test(hex)) throw new DecodeError(`${key} is not hexadecimal`);
  return Buffer.from(hex, "hex").toString("base64");
}

function spanOf(span: Span, resource: PlainAttributes, scope: ReceivedScope): ReceivedSpan {
  return {
    resource,
    scope,
    traceId: idOf("trace id", span.traceId, 16),
    spanId: idOf("span id", span.spanId, 8),
    ...(span.parentSpanId.length === 0 ? {} : { parentSpanId: idOf("parent span id", span.parentSpanId, 8) }),
    name: span.name,
    kind: nameOf("span kind", SPAN_KINDS, span.kind),
    startNs: span.startTimeUnixNano,
    endNs: span.endTimeUnixNano,
    attributes: plainAttributes(span.attributes),
    status: {
      code: nameOf("status code", STATUS_CODES, span.status?.code ?? 0),
      ...(span.status === undefined || span.status.message === "" ? {} : { message: span.status.message }),
    },
    events: span.events.map((event) => ({
      name: event.name,
      timeNs: event.timeUnixNano,
      attributes: plainAttributes(event.attributes),
    })),
    links: span.links.map((link) => ({
      traceId: idOf("trace id of a link", link.traceId, 16),
      spanId: idOf("span id of a link", link.spanId, 8),
      attributes: plainAttributes(link.attributes),
    })),
    flags: span.flags,
  };
}

function pointsOf(group: ResourceMetrics): ReceivedPoint[] {
  const resource = plainAttributes(group.resource?.attributes ?? []);
  return group.scopeMetrics.flatMap((scoped) => {
    const scope = scopeOf(scoped.scope);
    return scoped.metrics.flatMap((metric) => {
      const head = { resource, scope, name: metric.name, description: metric.description, unit: metric.unit };
      return pointDataOf(metric).map((point) => ({ ...head, ...point }));
    });
  });
}

type PointData = Pick<ReceivedPoint, "attributes" | "startNs" | "timeNs" | "data">;

function pointDataOf({ data }: Metric): PointData[] {
  switch (data.case) {
    case "gauge":
      return data.value.dataPoints.map((point) => ({ ...timed(point), data: { kind: "gauge", ...numberOf(point) } }));
    case "sum": {
      const temporality = nameOf("temporality", TEMPORALITIES, data.value.aggregationTemporality);
      const monotonic = data.value.isMonotonic;
      return data.value.dataPoints.map((point) => ({
        ...timed(point),
        data: { kind: "sum", ...numberOf(point), temporality, monotonic },
      }));
    }
    case "histogram": {
      const temporality = nameOf("temporality", TEMPORALITIES, data.value.aggregationTemporality);
      return data.value.dataPoints.map((point) => ({
        ...timed(point),
        data: {
          kind: "histogram",
          temporality,
          count: Number(point.count),
          ...(point.sum === undefined ? {} : { sum: point.sum }),
          ...(point.min === undefined ? {} : { min: point.min }),
          ...(point.max === undefined ? {} : { max: point.max }),
          bounds: point.explicitBounds,
          bucketCounts: point.bucketCounts.map(Number),
        },
      }));
    }
    default:
      return [];
  }
}

function timed(point: NumberDataPoint | HistogramDataPoint): Omit<PointData, "data"> {
  return {
    attributes: plainAttributes(point.attributes),
    startNs: point.startTimeUnixNano,
    timeNs: point.timeUnixNano,
  };
}

function numberOf({ value }: NumberDataPoint): { type: "int" | "double"; value: number } {
  if (value.case === "asInt") return { type: "int", value: Number(value.value) };
  if (value.case === "asDouble") return { type: "double", value: value.value };
  throw new DecodeError("a data point has no value");
}

function scopeOf(scope: InstrumentationScope | undefined): ReceivedScope {
  return { name: scope?.name ?? "", version: scope?.version ?? "" };
}

function plainAttributes(attributes: readonly KeyValue[]): PlainAttributes {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(any: AnyValue | undefined): PlainValue {
  if (any === undefined || any.value.case === undefined) return null;
  switch (any.value.case) {
    case "intValue": {
      const int = any.value.value;
      return int >= Number.MIN_SAFE_INTEGER && int <= Number.MAX_SAFE_INTEGER ? Number(int) : int;
    }
    case "arrayValue":
      return any.value.value.values.map(plainValue);
    case "kvlistValue":
      return plainAttributes(any.value.value.values);
    default:
      return any.value.value;
  }
}

function idOf(what: string, bytes: Uint8Array, length: number): string {
  if (bytes.length !== length) throw new DecodeError(`a ${what} has ${bytes.length} bytes, not ${length}`);
  if (bytes.every((byte) => byte === 0)) throw new DecodeError(`a ${what} is all zeros`);
  return Buffer.from(bytes).toString("hex");
}

function nameOf<const Names extends readonly string[]>(what: string, names: Names, index: number): Names[number] {
  const name = names[index];
  if (name === undefined) throw new DecodeError(`unknown ${what} ${index}`);
  return name;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
