import type { Dashboard, Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { budgetsText } from "./budgets.ts";
import { collectorHealth } from "./collector-health.ts";
import { costAndTokens } from "./cost-and-tokens.ts";
import { peopleAndOutcomes } from "./people-and-outcomes.ts";
import { ruleFiles } from "./rule-files.ts";
import { runbooks } from "./runbooks.ts";
import { sessionExplorer } from "./session-explorer.ts";
import { teamOverview } from "./team-overview.ts";
import { toolsAndReliability } from "./tools-and-reliability.ts";

/** Everything that is generated: path below dashboards/ → text. */
export const generatedFiles = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(dashboards()).map(([name, dashboard]) => [
      `${name}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  ),
  ...ruleFiles(),
  "../docs/alerts.md": runbooks(),
  "rules/budgets.yaml": budgetsText(),
});

/** The dashboards in Grafana's classic JSON model, which Grafana 11 to 13 load. */
export const dashboards = (): Readonly<Record<string, Dashboard>> => ({
  "team-overview": finished(teamOverview()),
  "cost-and-tokens": finished(costAndTokens()),
  "tools-and-reliability": finished(toolsAndReliability()),
  "people-and-outcomes": finished(peopleAndOutcomes()),
  "session-explorer": finished(sessionExplorer()),
  "collector-health": finished(collectorHealth()),
});

// --- internal ---

/**
 * Adds what the builders leave out: an id for each panel, and the oldest sufficient schema version. Shows links directly instead of
 * in a menu, where they are hard to find.
 */
function finished(dashboard: Dashboard): Dashboard {
  let id = 0;
  const numbered = (panel: Panel): void => {
    panel.id = ++id;
  };
  for (const panel of dashboard.panels ?? []) {
    if ("panels" in panel && panel.type === "row") {
      panel.id = ++id;
      for (const inner of panel.panels ?? []) numbered(inner);
    } else {
      numbered(panel as Panel);
    }
  }
  const links = (dashboard.links ?? []).map(({ placement: _, ...link }) => link);
  return { ...dashboard, links, id: null, schemaVersion: SCHEMA, version: 1 };
}

/** That of Grafana 11.0; later versions migrate it on loading. */
const SCHEMA = 39;
