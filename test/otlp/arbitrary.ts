import type { Attributes, MetricPoint, MetricShape, SpanRecord } from "#core/model/telemetry.ts";
import fc from "../support/properties.ts";

// Values that OTLP can represent: an int64 has no negative zero, text is well formed
const text = fc.string({ unit: "binary", maxLength: 30 });
const number = fc
  .oneof(
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, maxExcluded: true, max: 2 ** 63, min: -(2 ** 62) }),
  )
  .map((value) => (value === 0 ? 0 : value));

/** Not `__proto__`, which would not become an own property. */
const key = text.filter((name) => name !== "" && name !== "__proto__");

export const attributes: fc.Arbitrary<Attributes> = fc.dictionary(
  key,
  fc.oneof(text, number, fc.boolean(), fc.array(text, { maxLength: 4 })),
  { maxKeys: 6, noNullPrototype: true },
);

/** Milliseconds in this century, with microseconds. */
export const timeMs = fc
  .tuple(fc.integer({ min: 946_684_800_000, max: 4_102_444_800_000 }), fc.integer({ min: 0, max: 999 }))
  .map(([ms, micros]) => Number(`${ms}.${String(micros).padStart(3, "0")}`));

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((id) => Buffer.from(id).fill(1, 0, 1).toString("hex"));
export const traceId = hex(16);
export const spanId = hex(8);

export const resource: fc.Arbitrary<Attributes> = fc.record({
  "service.name": fc.constantFrom("claude-code", "cursor", "codex"),
  "service.version": fc.constantFrom("1.0.0", "2.1.7"),
});

export const spanRecord: fc.Arbitrary<SpanRecord> = fc
  .record(
    {
      traceId,
      spanId,
      parentSpanId: spanId,
      name: text,
      kind: fc.constantFrom("internal" as const, "client" as const),
      times: fc.tuple(timeMs, timeMs),
      status: fc.oneof(
        fc.constant({ code: "unset" as const }),
        fc.record({ code: fc.constant("error" as const), message: text }, { requiredKeys: ["code"] }),
      ),
      attributes,
      links: fc.array(fc.record({ traceId, spanId, attributes }), { maxLength: 3 }),
      events: fc.array(fc.record({ name: text, timeMs, attributes }), { maxLength: 3 }),
      resource,
    },
    {
      requiredKeys: [
        "traceId",
        "spanId",
        "name",
        "kind",
        "times",
        "status",
        "attributes",
        "links",
        "events",
        "resource",
      ],
    },
  )
  .map(({ times, ...rest }) => ({ ...rest, startMs: Math.min(...times), endMs: Math.max(...times) }));

const shapes: readonly MetricShape[] = [
  { name: "tokens", description: "Tokens", unit: "{token}", type: "counter", value: "int" },
  { name: "seconds", description: "", unit: "s", type: "counter", value: "double" },
  { name: "cost", description: "Cost", unit: "USD", type: "counter", value: "nano" },
  { name: "duration", description: "Duration", unit: "s", type: "histogram", value: "double", bounds: [0.1, 1, 10] },
];

export const metricPoint: fc.Arbitrary<MetricPoint> = fc
  .record({
    shape: fc.constantFrom(...shapes),
    attributes,
    resource,
    times: fc.tuple(timeMs, timeMs),
    amounts: fc.array(fc.nat({ max: 1_000_000_000 }), { minLength: 4, maxLength: 4 }),
  })
  .map(({ shape, times, amounts, ...rest }) => ({
    ...rest,
    shape,
    startMs: Math.min(...times),
    timeMs: Math.max(...times),
    data: shape.type === "histogram" ? histogramOf(amounts) : { kind: "sum", value: sumOf(shape, amounts) },
  }));

function sumOf(shape: MetricShape, amounts: readonly number[]): number {
  const [a = 0, b = 0] = amounts;
  return shape.value === "double" ? a / 1000 : a * 1_000_000 + b;
}

function histogramOf(bucketCounts: readonly number[]): MetricPoint["data"] {
  const count = bucketCounts.reduce((sum, one) => sum + one, 0);
  return { kind: "histogram", count, sum: count / 7, min: 0.01, max: 99.5, bucketCounts };
}
