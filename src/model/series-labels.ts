import type { MetricPoint } from "./telemetry.ts";

/**
 * Resource attributes that distinguish series in backends that turn them into labels. A counter keeps the values that were set
 * when it was counted, among its own attributes.
 */
export const SERIES_LABELS: readonly string[] = ["service.name", "deployment.environment.name"];

/**
 * A point with the settings' values at counting time also in its resource. If one `service.name` covers all agents, their
 * streams would collide; each then carries the agent's name as an attribute. Not only in the resource, because Prometheus
 * makes labels of attributes.
 */
export function asLabelled<T extends Pick<MetricPoint, "attributes" | "resource">>(point: T): T {
  const said = Object.entries(point.attributes).filter(([name]) => SERIES_LABELS.includes(name));
  if (said.length === 0) return point;
  const resource = { ...point.resource, ...Object.fromEntries(said) };
  const source = point.resource[SERVICE_NAME];
  if (resource[SERVICE_NAME] === source || source === undefined) return { ...point, resource };
  return { ...point, resource, attributes: { [SOURCE]: source, ...point.attributes } };
}

// --- internal ---

const SERVICE_NAME = "service.name";
const SOURCE = "openhook.source";
