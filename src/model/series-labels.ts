import type { MetricPoint } from "./telemetry.ts";

/**
 * Attributes of the resource that tell series apart, as the settings have them: backends make labels of them. Of a counter
 * they are what they were when it was counted, and stand among its own attributes.
 */
export const SERIES_LABELS: readonly string[] = ["service.name", "deployment.environment.name"];

/**
 * A point with what the settings said when it was counted in its resource as well. Where one `service.name` stands for
 * every agent, their streams would be one, with several values at a time: then each says by an attribute whose it is. An
 * attribute and not part of the resource alone, since Prometheus makes labels of the former.
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
