import * as z from "zod";

/** Attribute values that every backend can show: no objects, no null, no NaN. */
export const AttributeValue = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);
export type AttributeValue = z.infer<typeof AttributeValue>;
export const Attributes = z.record(z.string(), AttributeValue);
export type Attributes = z.infer<typeof Attributes>;

/** 32 lower-case hex digits. */
export type TraceId = string & { readonly brand: "TraceId" };
/** 16 lower-case hex digits. */
export type SpanId = string & { readonly brand: "SpanId" };

const SpanKind = z.enum(["internal", "client"]);

const SpanLink = z.object({ traceId: z.string(), spanId: z.string(), attributes: Attributes });
const SpanEvent = z.object({ name: z.string(), timeMs: z.number(), attributes: Attributes });

/** A span before it reaches the SDK. Times in milliseconds since the epoch, `endMs >= startMs`. */
export const SpanRecord = z.object({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  /** Absent on the root of a trace. */
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string(),
  kind: SpanKind,
  startMs: z.number(),
  endMs: z.number(),
  status: z.union([
    z.object({ code: z.literal("unset") }),
    z.object({ code: z.literal("error"), message: z.string().optional() }),
  ]),
  attributes: Attributes,
  links: z.array(SpanLink),
  events: z.array(SpanEvent),
  /** OTLP resource attributes that differ between agents (`service.name`, `service.version`). */
  resource: Attributes,
});
export type SpanRecord = z.infer<typeof SpanRecord>;

/** An event of a session, made from a span's record, before it reaches the SDK. */
export interface LogRecord {
  /** Which of its span's events it is; unique within the span. */
  readonly part: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  readonly severity: "info" | "warn";
  /** Its span. */
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: Attributes;
  /** As in its span. */
  readonly resource: Attributes;
}

/** The shape of a metric; one name always has one shape. */
export interface MetricShape {
  readonly name: string;
  readonly description: string;
  /** Unit in UCUM notation. */
  readonly unit: string;
  /** A gauge is measured when it is sent and is not stored. */
  readonly type: "counter" | "histogram" | "gauge";
  /** `int` values must be whole numbers. Counters in `nano` are stored as whole 10⁻⁹ units and sent as doubles. */
  readonly value: "int" | "double" | "nano";
  /** Explicit bucket bounds, ascending; histograms only. */
  readonly bounds?: readonly number[];
}

/** One increment of a cumulative stream. */
export interface Increment {
  readonly metric: string;
  readonly attributes: Attributes;
  /** Resource attributes of the stream: only `service.name`, so that an agent's update does not start a new series. */
  readonly resource: Attributes;
  /**
   * Added to a counter or recorded in a histogram. Negative for counters only: too much was counted, and the excess is deducted
   * from the next increments, because a cumulative sum never decreases.
   */
  readonly amount: number;
}

/** What one fact adds to the counters. Each `key` is counted once: later increments with the same key are ignored. */
export interface Counted {
  readonly key: string;
  readonly increments: readonly Increment[];
}

/** One cumulative stream in the form in which it is sent. */
export interface MetricPoint {
  readonly shape: MetricShape;
  readonly attributes: Attributes;
  readonly resource: Attributes;
  /** Set when the stream is created; never changes. */
  readonly startMs: number;
  readonly timeMs: number;
  readonly data:
    | { readonly kind: "sum"; readonly value: number }
    | { readonly kind: "gauge"; readonly value: number }
    | {
        readonly kind: "histogram";
        readonly count: number;
        readonly sum: number;
        readonly min: number;
        readonly max: number;
        readonly bucketCounts: readonly number[];
      };
}

/** What is known of the parents of spans that are queued now. */
export interface SpanParents {
  /**
   * A span that can be a parent in this segment: its key, and its trace if it is queued later; `undefined`: it is no span of the
   * session.
   */
  readonly find: (spanId: string, segment: number) => { readonly key: string; readonly comesIn?: string } | undefined;
  /** The span without its parent, below the root of its segment. */
  readonly adopt: (record: SpanRecord, segment: number) => SpanRecord;
}
