import type { MetricPoint } from "../model/telemetry.ts";

/**
 * Resource attributes that distinguish series in backends that turn them into labels. A counter keeps the values that were set
 * when it was counted, among its own attributes.
 */
export const SERIES_LABELS: readonly string[] = ["service.name", "deployment.environment.name"];

/**
 * A point whose resource also has the values that the settings had at counting time. The values stay in the attributes too,
 * because Prometheus turns attributes into labels. If the settings set one `service.name` for all agents, their streams would
 * collide, so each gets the agent's name as an attribute.
 */
export function withSeriesLabels<T extends Pick<MetricPoint, "attributes" | "resource">>(point: T): T {
  const labels = Object.entries(point.attributes).filter(([name]) => SERIES_LABELS.includes(name));
  if (labels.length === 0) return point;
  const resource = { ...point.resource, ...Object.fromEntries(labels) };
  const source = point.resource[SERVICE_NAME];
  if (resource[SERVICE_NAME] === source || source === undefined) return { ...point, resource };
  return { ...point, resource, attributes: { [SOURCE]: source, ...point.attributes } };
}

// --- internal ---

const SERVICE_NAME = "service.name";
const SOURCE = "openhook.source";
