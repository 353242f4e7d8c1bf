import type { Dashboard, Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboards } from "../../dashboards/src/index.ts";
import { SERIES } from "../../dashboards/src/promql.ts";

/** One query of one panel, as in the file. */
export interface PanelQuery {
  readonly dashboard: string;
  readonly panel: Panel;
  readonly refId: string;
  readonly language: "promql" | "traceql" | "jaeger";
  readonly text: string;
  readonly instant: boolean;
}

/** The panels of each dashboard, by its file's name. Those of collapsed rows are included, rows themselves are not. */
export const panelsByDashboard = (): ReadonlyMap<string, readonly Panel[]> =>
  new Map(Object.entries(dashboards()).map(([name, dashboard]) => [name, panelsOf(dashboard)]));

export const allQueries = (): readonly PanelQuery[] =>
  [...panelsByDashboard()].flatMap(([dashboard, panels]) =>
    panels.flatMap((panel) => (panel.targets ?? []).map((target) => queryOf(dashboard, panel, target))),
  );

/** Values for the dashboards' variables, as Grafana would insert them. */
export interface Chosen {
  readonly series?: "_" | ":";
  readonly agent?: string;
  readonly environment?: string;
  readonly repository?: string;
  readonly model?: string;
  readonly tool?: string;
  readonly machine?: string;
  readonly cohort?: string;
  /** The agent whose versions are compared, and the two. */
  readonly compared?: string;
  readonly version?: string;
  readonly before?: string;
  readonly range?: string;
  readonly interval?: string;
}

/** A query with values for its variables: "All", unless one is chosen. */
export const interpolated = (text: string, chosen: Chosen = {}): string =>
  text
    .replaceAll(SERIES, chosen.series ?? "_")
    .replaceAll("$__range", chosen.range ?? "6h")
    .replaceAll("$cohort", chosen.cohort ?? "5")
    .replaceAll("$__interval", chosen.interval ?? "5m")
    .replaceAll(/\$(compared|version|before)\b/g, (_, name: keyof Chosen) => chosen[name] ?? name)
    .replaceAll(/\$(agent|environment|repository|model|tool|machine)\b/g, (_, name: keyof Chosen) =>
      chosen[name] === undefined ? ".*" : escaped(chosen[name]),
    );

/** Names of variables in a text, in any of Grafana's spellings, without its built-in ones (`__…`). */
export const variablesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)/g)].flatMap(([, name = ""]) =>
    name.startsWith("__") ? [] : [name],
  );

/** The dashboard as Grafana loads it, without the builders' internal members. */
export const asLoaded = (dashboard: Dashboard): Dashboard => JSON.parse(JSON.stringify(dashboard)) as Dashboard;

// --- internal ---

function panelsOf(dashboard: Dashboard): readonly Panel[] {
  return (dashboard.panels ?? []).flatMap((panel) =>
    "panels" in panel && panel.type === "row" ? (panel.panels ?? []) : [panel as Panel],
  );
}

function queryOf(dashboard: string, panel: Panel, target: unknown): PanelQuery {
  const words = target as Readonly<Record<string, unknown>>;
  const source = (words["datasource"] as { type?: string } | undefined)?.type;
  const language = source === "prometheus" ? "promql" : source === "tempo" ? "traceql" : "jaeger";
  const text = words["expr"] ?? words["query"] ?? [words["service"], words["tags"]].join(" ");
  const instant = words["instant"] === true;
  return { dashboard, panel, refId: String(words["refId"]), language, text: String(text), instant };
}

/** Grafana escapes a value of a multi-value variable as a regular expression in a PromQL string. */
const escaped = (value: string): string => value.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\\\$&");
