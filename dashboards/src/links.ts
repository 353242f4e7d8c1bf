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

/** From a figure to another dashboard, with the same time range and variables. */
export const toDashboard = (title: string, name: keyof typeof UID): Link => ({
  title,
  url: `/d/${UID[name]}?\${__url_time_range}&\${__all_variables}`,
  targetBlank: false,
});

/** From a value to the same figures of this value alone. @param variables as in `toSessions` */
export const onlyThis = (title: string, name: keyof typeof UID, variables: Readonly<Record<string, string>>): Link => ({
  title,
  // Not all variables: the chosen one would be there twice
  url: `/d/${UID[name]}?\${__url_time_range}&\${environment:queryparam}${chosen(variables)}`,
  targetBlank: false,
});

/** The label of a series, in a link. */
export const labelOf = (label: string): string => put(`__field.labels.${label}`);

/** From a value to its sessions. @param variables of the session explorer, as Grafana expressions for the value's labels */
export const toSessions = (title: string, variables: Readonly<Record<string, string>>): Link =>
  onlyThis(title, "sessions", variables);

// --- internal ---

const chosen = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    // Grafana alone would keep & and #
    .map(([name, value]) => `&var-${name}=${value.replace(/\}$/, ":percentencode}")}`)
    .join("");
