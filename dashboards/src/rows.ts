import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import { type DashboardBuilder, type Panel, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";

/** The panels of a row, from left to right. */
export type Panels = readonly Builder<Panel>[];

/** Adds rows by their titles, in this order. */
export function withRows(dashboard: DashboardBuilder, rows: Readonly<Record<string, Panels>>): DashboardBuilder {
  for (const [title, panels] of Object.entries(rows)) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(panel);
  }
  return dashboard;
}
