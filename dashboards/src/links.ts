import { DashboardLinkBuilder, DashboardLinkType } from "@grafana/grafana-foundation-sdk/dashboard";

/** A link of a value. */
export interface Link {
  readonly title: string;
  readonly url: string;
  readonly targetBlank: boolean;
}

export const UID = {
  team: "openhook-team-overview",
  cost: "openhook-cost-and-tokens",
  tools: "openhook-tools-and-reliability",
  people: "openhook-people-and-outcomes",
  sessions: "openhook-session-explorer",
  health: "openhook-collector-health",
} as const;
export const TAG = "openhook-otel";

/** Above every dashboard: the others, with the same time range and variables. */
export const siblings = (): DashboardLinkBuilder =>
  new DashboardLinkBuilder("openhook-otel")
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true);

/** A variable of Grafana, in a text. @example put("__data.fields.Agent") */
export const put = (name: string): string => `\${${name}}`;

/** From a value to its sessions. @param variables of the session explorer, as Grafana expressions for the value's labels */
export const toSessions = (title: string, variables: Readonly<Record<string, string>>): Link => ({
  title,
  url: `/d/${UID.sessions}?\${__url_time_range}&\${environment:queryparam}${Object.entries(variables)
    .map(([name, value]) => `&var-${name}=${value}`)
    .join("")}`,
  targetBlank: false,
});
