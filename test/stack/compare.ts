import { expect } from "vitest";
import { SELF_SHAPES } from "#core/telemetry/self.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type JaegerSpan, jaegerTrace, query, type Sample } from "./ask.ts";
import { until } from "./gateway.ts";
import { type Stream, type Truth, totalOf } from "./sessions.ts";

/** Waits until Jaeger has as many spans as the stores, or more: queues deliver a second or two after the drain. */
export async function arrived(url: string, truth: Truth, timeoutMs = PATIENCE_MS): Promise<void> {
  const traces = traceIdsOf(truth);
  let have = 0;
  const count = async (): Promise<boolean> => {
    have = 0;
    for (const trace of traces) have += (await jaegerTrace(url, trace)).length;
    return have >= truth.spans.length;
  };
  await until("every span is in Jaeger", count, timeoutMs).catch((error: unknown) => {
    throw new Error(`Jaeger has ${have} of ${truth.spans.length} spans`, { cause: error });
  });
}

/**
 * Expects every trace of the stores in Jaeger: each span once, with its parent, name, times and attributes. Compares
 * what Jaeger stores, because what it shows leaves out duplicates.
 */
export async function expectTraces(url: string, truth: Truth): Promise<void> {
  for (const trace of traceIdsOf(truth)) {
    const expected = truth.spans.filter(({ traceId }) => traceId === trace);
    const found = await jaegerTrace(url, `${trace}?raw=true`);
    expect(sorted(found.map(seen)), `trace ${trace}`).toEqual(
      sorted(
        expected.map((span) => ({
          spanId: span.spanId,
          parentSpanId: span.parentSpanId,
          name: span.name,
          service: String(span.resource["service.name"]),
          startMs: span.startMs,
          endMs: span.endMs,
          isError: span.status.code === "error",
          attributes: attributesOf(span.attributes),
        })),
      ),
    );
  }
}

/**
 * Expects every counter and histogram of the stores as a series in Prometheus with the same labels and value, and no
 * other series. @param lookBack how far back the last value of a machine counts, as on the dashboards
 */
export async function expectSeries(url: string, truth: Truth, lookBack = "1h"): Promise<void> {
  const found = await query(url, `last_over_time({__name__=~"(gen_ai|openhook)_.+"}[${lookBack}])`, Date.now() + 1_000);
  // For a histogram the stream has the count only
  const ours = found.filter(({ labels }) => !/_(bucket|sum|min|max)$/.test(labels["__name__"] ?? ""));
  expect(ours.filter(isOfSessions).map(inOneLine).sort()).toEqual(truth.streams.filter(isNotSelf).map(lineOf).sort());
}

/**
 * Waits until the counters in Prometheus add up to those of the stores, or to more: queues and scrapes take a second or
 * two.
 */
export async function counted(url: string, truth: Truth, timeoutMs = PATIENCE_MS): Promise<void> {
  const names = [...METRIC_SHAPES.values()].filter(({ type, name }) => type === "counter" && !SELF.has(name));
  const expected = names.reduce((total, { name }) => total + totalOf(truth, name), 0);
  const expr = `sum(last_over_time({__name__=~"${names.map(({ name }) => nameOf(name)).join("|")}"}[1h]))`;
  let have = 0;
  const isThere = async (): Promise<boolean> => {
    const [sample] = await query(url, expr, Date.now() + 1_000);
    have = sample?.value ?? 0;
    // Costs are fractions, which doubles round
    return have >= expected - 1e-6;
  };
  await until("Prometheus has what was counted", isThere, timeoutMs).catch((error: unknown) => {
    throw new Error(`Prometheus' counters add up to ${have}, the stores' to ${expected}`, { cause: error });
  });
}

/** A metric's name in Prometheus: dots become underscores; the unit's name and `_total` are appended. */
export function nameOf(metric: string): string {
  const shape = METRIC_SHAPES.get(metric);
  const unit = shape?.unit === "s" ? "_seconds" : shape?.unit === "USD" ? "_USD" : "";
  return `${metric.replaceAll(".", "_")}${unit}${shape?.type === "counter" ? "_total" : "_count"}`;
}

// --- internal ---

const traceIdsOf = ({ spans }: Truth): readonly string[] => [...new Set(spans.map(({ traceId }) => traceId))];

const seen = (span: JaegerSpan) => ({
  spanId: span.spanId,
  parentSpanId: span.parentSpanId,
  name: span.name,
  service: span.service,
  startMs: span.startMs,
  endMs: span.endMs,
  isError: span.attributes["error"] === true,
  attributes: attributesOf(span.attributes),
});

/** Attributes without those that Jaeger adds: the span's kind and status, and the scope. */
const attributesOf = (attributes: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([key]) => !/^(span\.kind|error|otel\..+|internal\..+)$/.test(key))
      .map(([key, value]) => [key, Array.isArray(value) ? JSON.stringify(value) : value]),
  );

const sorted = <T extends { readonly spanId: string }>(spans: readonly T[]): readonly T[] =>
  [...spans].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));

const SELF = new Set(SELF_SHAPES.map(({ name }) => name));
/** The program's own figures change with every drain, even by being sent. */
const isNotSelf = ({ metric }: Stream): boolean => !SELF.has(metric);
const isOfSessions = ({ labels }: Sample): boolean => !labels["__name__"]?.startsWith("openhook_collector_");

/** Labels that the machine and the scrape add. */
const ADDED = new Set(["__name__", "job", "instance", "service_name", "service_instance_id", "service_version"]);

const inOneLine = ({ labels, value }: Sample): string =>
  line(labels["__name__"] ?? "", Object.fromEntries(Object.entries(labels).filter(([key]) => !ADDED.has(key))), value);

function lineOf({ metric, attributes, value }: Stream): string {
  const labels = Object.entries(attributes).map(([key, text]) => [key.replaceAll(/[^A-Za-z0-9_]/g, "_"), String(text)]);
  const isNano = METRIC_SHAPES.get(metric)?.value === "nano";
  return line(nameOf(metric), Object.fromEntries(labels), isNano ? value / 1e9 : value);
}

const line = (name: string, labels: Readonly<Record<string, string>>, value: number): string => {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name}{${pairs.map(([key, text]) => `${key}=${JSON.stringify(text)}`).join(", ")}} ${value.toPrecision(12)}`;
};
