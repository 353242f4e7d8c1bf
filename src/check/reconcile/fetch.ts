import * as semconv from "#core/telemetry/semconv.ts";
import type { Backend } from "./backend.ts";
import { FIGURES, type SpanFact } from "./facts.ts";

/** One series with its newest value. */
export interface FoundSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The newest value of every series of one machine, without histogram buckets.
 *
 * @param sinceMs the newest value of a series is not older than this, and not newer than `untilMs`, by this machine's clock
 * @throws UserError if Prometheus cannot be queried
 */
export async function fetchSeries(
  backend: Backend,
  instanceId: string,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<readonly FoundSeries[]> {
  const found = new Map<string, FoundSeries>();
  const seconds = Math.ceil((untilMs - sinceMs) / 1000);
  for (const label of INSTANCE_LABELS) {
    // `last_over_time` keeps the names, so one query covers all metrics
    const query = `last_over_time({__name__=~"gen_ai.*|openhook.*",__name__!~".*_bucket",${label}=${JSON.stringify(instanceId)}}[${seconds}s])`;
    const response = await backend.query("/api/v1/query", { query, time: String(untilMs / 1000) });
    for (const { labels, value } of samplesIn(response)) {
      const name = labels["__name__"];
      if (name !== undefined) found.set(JSON.stringify(Object.entries(labels).sort()), { name, labels, value });
    }
  }
  return [...found.values()];
}

/** The samples of an instant query's response; none if it is no such response. */
export function samplesIn(response: unknown): readonly Omit<FoundSeries, "name">[] {
  const { status, data } = (response ?? {}) as QueryResponse;
  if (status !== "success" || !Array.isArray(data?.result)) return [];
  return data.result.flatMap(({ metric, value }) => {
    const number = Number(value?.[1]);
    return Number.isFinite(number) ? [{ labels: metric ?? {}, value: number }] : [];
  });
}

/**
 * Possible names of a metric in Prometheus, by the translations that it and the Collector offer.
 *
 * @param suffix `count` or `sum` of a histogram
 * @see OpenTelemetry, compatibility with Prometheus: metric names, units, `_total`
 */
export function namesOf(
  { name, unit, type }: { readonly name: string; readonly unit: string; readonly type: string },
  suffix: "" | "count" | "sum",
): ReadonlySet<string> {
  const plain = [name, name.replaceAll(/[^a-zA-Z0-9:]/g, "_")];
  const word = unitWord(unit);
  const withUnit = word === "" ? plain : plain.flatMap((name) => [name, `${name}_${word}`]);
  const end = suffix === "" ? "" : `_${suffix}`;
  return new Set(withUnit.flatMap((name) => (type === "counter" ? [name, `${name}_total`] : [`${name}${end}`])));
}

/** An attribute's name as a label. */
export const labelOf = (name: string): string => {
  const plain = name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  return /^\d/.test(plain) ? `key_${plain}` : plain;
};

/** Whether a series has this `service.name`, as far as its labels show. */
export function isOfService(labels: Readonly<Record<string, string>>, service: string): boolean {
  const own = labels["service_name"] ?? labels["service.name"];
  if (own !== undefined) return own === service;
  // `<namespace>/<name>`; a scrape without honor_labels keeps it under another name, and `job` is the scrape's
  const job = labels["exported_job"] ?? labels["job"];
  return job === undefined || job === service || job.endsWith(`/${service}`);
}

/** A trace from a backend. A span that was sent and kept twice is in it twice. */
export interface FoundTrace {
  readonly spans: readonly SpanFact[];
  /** The backend reported that it is incomplete. */
  readonly isPartial: boolean;
}

/**
 * Fetches one trace from Jaeger or Tempo.
 *
 * @returns `undefined` if it does not have it
 * @throws UserError if it cannot be queried
 * @see Jaeger: GET /api/v3/traces/{id}, formerly /api/traces/{id}; Tempo: GET /api/v2/traces/{id}, formerly /api/traces/{id}
 */
export async function fetchTrace(backend: Backend, traceId: string): Promise<FoundTrace | undefined> {
  const response =
    (await backend.query(`/api/${backend.name === "jaeger" ? "v3" : "v2"}/traces/${traceId}`)) ??
    (await backend.query(`/api/traces/${traceId}`));
  const spans = [...spansIn(response)];
  return spans.length === 0 ? undefined : { spans, isPartial: isPartial(response) };
}

/** Spans of a response in OTLP's JSON, whatever wraps it, or in Jaeger's format. Exported for its test. */
export function* spansIn(response: unknown): Generator<SpanFact> {
  if (Array.isArray(response)) {
    for (const part of response) yield* spansIn(part);
    return;
  }
  const whole = asRecord(response);
  if (whole === undefined) return;
  const resources = whole["resourceSpans"] ?? whole["batches"];
  if (resources !== undefined) yield* otlpSpans(resources);
  else if (Array.isArray(whole["data"])) yield* jaegerSpans(whole["data"]);
  else for (const wrap of ["result", "trace"]) if (whole[wrap] !== undefined) yield* spansIn(whole[wrap]);
}

// --- internal ---

interface QueryResponse {
  readonly status?: string;
  readonly data?: {
    readonly result?: readonly {
      readonly metric?: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
    }[];
  };
}

/** `service.instance.id` by OTLP or a scrape with honor_labels; by one without; promoted. */
const INSTANCE_LABELS = ["instance", "exported_instance", "service_instance_id"];

const unitWord = (unit: string): string =>
  unit.startsWith("{")
    ? ""
    : unit === "s"
      ? "seconds"
      : unit === "By"
        ? "bytes"
        : unit.replaceAll(/[^a-zA-Z0-9]/g, "_");

type Json = Readonly<Record<string, unknown>>;

const asRecord = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
const listIn = (record: Json | undefined, name: string): readonly Json[] => {
  const value = record?.[name];
  return Array.isArray(value) ? value.map(asRecord).filter((item) => item !== undefined) : [];
};
const textIn = (record: Json | undefined, name: string): string => {
  const value = record?.[name];
  return typeof value === "string" ? value : "";
};

const isPartial = (response: unknown): boolean => /PARTIAL/i.test(textIn(asRecord(response), "status"));

function* otlpSpans(resources: unknown): Generator<SpanFact> {
  for (const group of listIn({ resources }, "resources")) {
    const instance = attributesIn(asRecord(group["resource"])).get(INSTANCE);
    for (const scope of [...listIn(group, "scopeSpans"), ...listIn(group, "instrumentationLibrarySpans")]) {
      for (const span of listIn(scope, "spans")) {
        yield spanFact({
          spanId: idOf(textIn(span, "spanId")),
          parentSpanId: idOf(textIn(span, "parentSpanId")),
          name: textIn(span, "name"),
          attributes: attributesIn(span),
          instance,
        });
      }
    }
  }
}

/** `{data: [{spans, processes}]}`, the format of Jaeger's user interface. */
function* jaegerSpans(traces: unknown): Generator<SpanFact> {
  for (const trace of listIn({ traces }, "traces")) {
    const processes = asRecord(trace["processes"]);
    for (const span of listIn(trace, "spans")) {
      const process = asRecord(processes?.[textIn(span, "processID")]);
      const references = listIn(span, "references").filter((reference) => textIn(reference, "refType") === "CHILD_OF");
      // The same list also has links to other traces
      const parent = references.find((reference) => textIn(reference, "traceID") === textIn(span, "traceID"));
      yield spanFact({
        spanId: textIn(span, "spanID"),
        parentSpanId: textIn(parent, "spanID"),
        name: textIn(span, "operationName"),
        attributes: tagsIn(span),
        instance: tagsIn(process).get(INSTANCE),
      });
    }
  }
}

const INSTANCE = "service.instance.id";

type Value = string | number | undefined;

const attributesIn = (record: Json | undefined): ReadonlyMap<string, Value> =>
  new Map(
    listIn(record, "attributes").map((attribute) => [textIn(attribute, "key"), valueIn(asRecord(attribute["value"]))]),
  );

function valueIn(value: Json | undefined): Value {
  const whole = value?.["intValue"] ?? value?.["doubleValue"];
  if (whole !== undefined) return Number(whole);
  return value === undefined ? undefined : textIn(value, "stringValue");
}

function tagsIn(record: Json | undefined): ReadonlyMap<string, Value> {
  return new Map(
    listIn(record, "tags").map((tag) => {
      const value = tag["value"];
      return [textIn(tag, "key"), typeof value === "number" ? value : String(value)];
    }),
  );
}

/** Hexadecimal, or base64 as in protobuf's JSON. */
const idOf = (text: string): string =>
  text === "" || /^[0-9a-f]{16}$/i.test(text) ? text.toLowerCase() : Buffer.from(text, "base64").toString("hex");

interface FoundSpan {
  readonly spanId: string;
  /** All zeros, or empty: it has no parent. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly attributes: ReadonlyMap<string, Value>;
  readonly instance: Value;
}

function spanFact({ spanId, parentSpanId, name, attributes, instance }: FoundSpan): SpanFact {
  const text = (key: string): string | undefined => {
    const value = attributes.get(key);
    return typeof value === "string" ? value : undefined;
  };
  return {
    spanId,
    parentSpanId: /^0*$/.test(parentSpanId) ? "" : parentSpanId,
    name,
    model: text(semconv.GEN_AI_RESPONSE_MODEL) ?? text(semconv.GEN_AI_REQUEST_MODEL),
    isCall: attributes.get(semconv.OPENHOOK_SPAN_KIND) === "model_call",
    figures: Object.fromEntries(
      FIGURES.flatMap((key) => {
        const value = attributes.get(key);
        return value === undefined ? [] : [[key, Number(value)]];
      }),
    ),
    instanceId: typeof instance === "string" ? instance : undefined,
  };
}
