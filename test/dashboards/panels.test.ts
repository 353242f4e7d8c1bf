import type { Dashboard } from "@grafana/grafana-foundation-sdk/dashboard";
import { describe, expect, test } from "vitest";
import { dashboards } from "../../dashboards/src/index.ts";
import { asLoaded, panelsByDashboard, variablesIn } from "./queries.ts";

const all = Object.entries(dashboards()).map(([name, dashboard]) => [name, asLoaded(dashboard)] as const);
const NAMES = [
  "team-overview",
  "cost-and-tokens",
  "tools-and-reliability",
  "people-and-outcomes",
  "session-explorer",
  "collector-health",
];

test("six dashboards with distinct uids", () => {
  expect(all.map(([name]) => name)).toEqual(NAMES);
  expect(all.map(([name, { uid }]) => uid === `openhook-${name}`)).toEqual(all.map(() => true));
});

describe.each(all)("%s", (name, dashboard) => {
  const panels = panelsByDashboard().get(name) ?? [];
  const defined = (dashboard.templating?.list ?? []).map((variable) => variable.name);

  test("panels have distinct ids, titles, explanations and units", () => {
    const ids = idsOf(dashboard);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { title, description, fieldConfig } of panels) {
      expect(title, "title").toMatch(/\S/);
      expect(description?.length ?? 0, `description of ${title}`).toBeGreaterThan(20);
      expect(fieldConfig?.defaults.unit, `unit of ${title}`).toMatch(/\S/);
    }
    expect(new Set(panels.map(({ title }) => title)).size + doubledTitles(name)).toBe(panels.length);
  });

  test("the columns of a table are named, and each has a unit", () => {
    const tables = panels.filter(({ type, datasource }) => type === "table" && datasource?.type === "prometheus");
    expect(tables.length > 0).toBe(name !== "session-explorer");
    for (const panel of tables) {
      const organize = panel.transformations?.find(({ id }) => id === "organize")?.options as
        | { renameByName: Record<string, string> }
        | undefined;
      for (const { refId } of (panel.targets ?? []) as { refId?: string }[]) {
        const column = organize?.renameByName[`Value #${refId}`];
        expect(column, `${panel.title}, ${refId}`).toMatch(/\S/);
        const override = panel.fieldConfig?.overrides.find(({ matcher }) => matcher.options === column);
        expect(
          override?.properties.some(({ id }) => id === "unit"),
          `${panel.title}: ${column}`,
        ).toBe(true);
      }
    }
  });

  test("uses all of its variables, and no others", () => {
    const used = new Set(variablesIn(JSON.stringify({ ...dashboard, templating: undefined })));
    const inVariables = new Set(variablesIn(JSON.stringify(dashboard.templating)));
    expect([...used, ...inVariables].filter((variable) => !defined.includes(variable))).toEqual([]);
    expect(defined.filter((variable) => !used.has(variable) && !inVariables.has(variable))).toEqual([]);
    expect(new Set(defined).size).toBe(defined.length);
  });

  test("uses the variable for its data source", () => {
    const uids = [...JSON.stringify(dashboard).matchAll(/"uid":"([^"]*)"/g)].map(([, uid]) => uid);
    expect(new Set(uids.filter((uid) => uid !== dashboard.uid))).toEqual(
      new Set(uids.filter((uid) => uid?.startsWith("${"))),
    );
  });

  test("fills its grid: panels do not overlap, and end at column 24", () => {
    const taken = new Map<string, string>();
    // Those of collapsed rows too: opening a row moves the rows below it
    const collapsed = (dashboard.panels ?? []).flatMap((panel) => ("panels" in panel ? (panel.panels ?? []) : []));
    for (const panel of [...(dashboard.panels ?? []), ...collapsed]) {
      const { x = 0, y = 0, w = 24, h = 1 } = panel.gridPos ?? {};
      expect(x + w, panel.title).toBeLessThanOrEqual(24);
      for (let row = y; row < y + h; row++) {
        for (let column = x; column < x + w; column++) {
          expect(taken.get(`${row}/${column}`), `${panel.title} lies on`).toBeUndefined();
          taken.set(`${row}/${column}`, panel.title ?? "");
        }
      }
    }
  });

  test("links between dashboards lead to dashboards", () => {
    const uids = all.map(([, { uid }]) => uid);
    const linked = [...JSON.stringify(dashboard).matchAll(/\/d\/([a-z-]+)\?/g)].map(([, uid]) => uid);
    expect(uids).toEqual(expect.arrayContaining(linked));
  });
});

// --- internal ---

function idsOf({ panels = [] }: Dashboard): readonly (number | undefined)[] {
  return panels.flatMap((panel) => [
    panel.id,
    ...("panels" in panel && panel.type === "row" ? (panel.panels ?? []).map(({ id }) => id) : []),
  ]);
}

/** The chosen trace, once for Tempo and once for Jaeger. */
const doubledTitles = (name: string): number => (name === "session-explorer" ? 1 : 0);
