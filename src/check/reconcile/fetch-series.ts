import type { Backend } from "./backend.ts";

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
    for (const series of seriesIn(response)) found.set(JSON.stringify(Object.entries(series.labels).sort()), series);
  }
  return [...found.values()];
}

/** Series of an instant query's response. */
function seriesIn(response: unknown): readonly FoundSeries[] {
  const { status, data } = (response ?? {}) as QueryResponse;
  if (status !== "success" || !Array.isArray(data?.result)) return [];
  return data.result.flatMap(({ metric, value }) => {
    const name = metric?.["__name__"];
    const number = Number(value?.[1]);
    return name === undefined || !Number.isFinite(number) ? [] : [{ name, labels: metric ?? {}, value: number }];
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
