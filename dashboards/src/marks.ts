import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import type { AnnotationQuery } from "@grafana/grafana-foundation-sdk/dashboard";
import { PROMETHEUS } from "./panels.ts";
import { appeared, LABEL, raw } from "./promql.ts";
import { of } from "./select.ts";
import { matching } from "./variables.ts";

/** Lines in all charts at the three reasons why a curve jumps. Each is in the hour after it was first reported. */
export const marks = (): readonly Builder<AnnotationQuery>[] => [
  mark(
    "New agent versions",
    "orange",
    appeared(
      ["source", "sourceVersion"],
      `${raw("openhook.collector.agent.time")}{${LABEL.source}=~"$agent", ${matching("environment")}}`,
      STEP,
    ),
    `{{${LABEL.source}}} {{${LABEL.sourceVersion}}}`,
    "First reported by any machine. Figures that change here may come from the new version.",
  ),
  mark(
    "New models",
    "blue",
    appeared(["model"], of.modelCallsOfAgents(`${LABEL.model}!=""`), STEP),
    `{{${LABEL.model}}}`,
    "First call of this model in 30 days.",
  ),
  mark(
    "New prices",
    "purple",
    appeared(["collectorVersion"], `${raw("openhook.collector.report.time")}{${matching("environment")}}`, STEP),
    `openhook-otel {{${LABEL.collectorVersion}}}`,
    "List prices come with the program: from here on, machines with this version may use others. Prices of prices.file are not marked.",
  ),
];

// --- internal ---

const STEP = "1h";

/** In the form of Grafana 11, which later versions convert when they load it. */
const mark = (
  name: string,
  iconColor: string,
  expr: string,
  titleFormat: string,
  textFormat: string,
): Builder<AnnotationQuery> => ({
  build: () => {
    const query = { name, enable: true, iconColor, datasource: PROMETHEUS, expr, step: STEP, titleFormat, textFormat };
    return query;
  },
});
