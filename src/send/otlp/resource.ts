import type { Attributes as OtelAttributes } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { resources } from "@opentelemetry/sdk-node";
import type { Attributes } from "#core/model/telemetry.ts";
import { SERIES_LABELS } from "#core/rules/series-labels.ts";

/** Returns one SDK resource per distinct set of attributes: the serializers group records by its identity. */
export type ResourceOf = (recordResource: Attributes) => resources.Resource;

/**
 * Joins the settings' resource with a record's. The record's attributes have priority, except for
 * `service.name`: if the settings have one, the user set it (`OTEL_SERVICE_NAME`), and it applies to every agent.
 *
 * @param settingsResource attributes of everything that is sent
 */
export function resourcesOver(settingsResource: Readonly<Record<string, string>>): ResourceOf {
  const known = new Map<string, resources.Resource>();
  const serviceName = settingsResource[SERVICE_NAME];
  return (recordResource) => {
    const merged = sendable({
      ...settingsResource,
      ...recordResource,
      ...(serviceName === undefined ? {} : { [SERVICE_NAME]: serviceName }),
    });
    const key = JSON.stringify(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : 1)));
    const resource = known.get(key) ?? resourceFromAttributes(merged);
    known.set(key, resource);
    return resource;
  };
}

/** The settings' resource without the attributes that counters have in their own attributes, see `model/series-labels.ts`. */
export const withoutSeriesLabels = (resource: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => !SERIES_LABELS.includes(name)));

/**
 * Attributes that every OTLP backend accepts. Left out: null, undefined, NaN, infinities, objects, empty keys, whole numbers beyond
 * int64. Lone surrogates become U+FFFD, because UTF-8 cannot encode them.
 */
export function sendable(attributes: Readonly<Record<string, unknown>>): OtelAttributes {
  const kept: OtelAttributes = {};
  for (const [key, value] of Object.entries(attributes)) {
    const clean = sendableValue(value);
    if (key !== "" && clean !== undefined) kept[wellFormed(key)] = clean;
  }
  return kept;
}

/** The text with every lone surrogate replaced by U+FFFD. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}

// --- internal ---

const SERVICE_NAME = "service.name";
const INT64_END = 2 ** 63;

function sendableValue(value: unknown): string | number | boolean | string[] | undefined {
  if (typeof value === "string") return wellFormed(value);
  if (typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return undefined;
    return Number.isInteger(value) && Math.abs(value) >= INT64_END ? undefined : value;
  }
  if (Array.isArray(value)) return value.filter((item) => typeof item === "string").map(wellFormed);
  return undefined;
}
