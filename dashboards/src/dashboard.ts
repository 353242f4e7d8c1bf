import type { Builder } from "@grafana/grafana-foundation-sdk/cog";
import {
  type AnnotationQuery,
  DashboardBuilder,
  type Panel,
  RowBuilder,
  type VariableModel,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { siblings, TAG } from "./links.ts";

/** The panels of a row, from left to right. */
export type Panels = readonly Builder<Panel>[];

export interface Head {
  /** After "Coding agents: ". */
  readonly title: string;
  readonly uid: string;
  readonly description: string;
  /** @default "now-7d" */
  readonly from?: string;
  /** Interval. Absent: it changes only when the reader reloads it. */
  readonly refresh?: string;
  readonly variables: readonly Builder<VariableModel>[];
  /** @default none */
  readonly marks?: readonly Builder<AnnotationQuery>[];
}

/** A dashboard without panels, with what all of ours have. */
export function dashboardOf(head: Head): DashboardBuilder {
  const { title, uid, description, from = "now-7d", refresh, variables, marks = [] } = head;
  const dashboard = new DashboardBuilder(`Coding agents: ${title}`)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .time({ from, to: "now" })
    .timezone("browser");
  if (refresh !== undefined) dashboard.refresh(refresh);
  return dashboard
    .link(siblings())
    .variables([...variables])
    .annotations([...marks]);
}

/** Adds rows by their titles, in this order. */
export function withRows(dashboard: DashboardBuilder, rows: Readonly<Record<string, Panels>>): DashboardBuilder {
  for (const [title, panels] of Object.entries(rows)) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(panel);
  }
  return dashboard;
}
