import type { MetricShape } from "#core/model/telemetry.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";

/**
 * A metric as Prometheus names it: by the OpenTelemetry rules that the Collector's exporter and Prometheus' own OTLP
 * endpoint share (UnderscoreEscapingWithSuffixes). Histograms without their `_bucket`, `_sum`, `_count`.
 *
 * @param otelName as the program sends it; an unknown name throws
 * @example promName("openhook.cost.usage") // openhook_cost_usage_USD_total
 */
export function promName(otelName: string): string {
  const shape = METRIC_SHAPES.get(otelName);
  if (shape === undefined) throw new Error(`no metric is called ${JSON.stringify(otelName)}: see METRIC_SHAPES`);
  return nameOfShape(shape);
}

/** An attribute as Prometheus names it. */
export const promLabel = (attribute: string): string => attribute.replaceAll(/[^A-Za-z0-9_]/g, "_");

/** All Prometheus names of the program's metrics, including the parts of histograms. */
export const allPromNames = (): ReadonlySet<string> =>
  new Set(
    [...METRIC_SHAPES.values()].flatMap((shape) =>
      shape.type === "histogram"
        ? ["_bucket", "_sum", "_count"].map((part) => `${nameOfShape(shape)}${part}`)
        : [nameOfShape(shape)],
    ),
  );

// --- internal ---

/** UCUM → the appended word. A unit in braces is an annotation and is omitted. */
const UNITS: ReadonlyMap<string, string> = new Map([
  ["s", "seconds"],
  ["By", "bytes"],
  ["USD", "USD"],
  ["1", "ratio"],
]);

function nameOfShape({ name, unit, type }: MetricShape): string {
  const isRemark = /^\{.*\}$/.test(unit);
  const word = isRemark ? undefined : UNITS.get(unit);
  if (!isRemark && word === undefined) throw new Error(`${name} has the unit ${unit}, which has no word here yet`);
  const words = [promLabel(name), ...(word === undefined ? [] : [word]), ...(type === "counter" ? ["total"] : [])];
  return words.join("_");
}
