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

  test("rows of agents, repositories, models, tools and machines lead to what is behind them", () => {
    const titles = ["Agent", "Repository", "Model", "Tool", "Machine"];
    for (const { title, type, datasource, fieldConfig, transformations } of panels) {
      if (type !== "table" || datasource?.type !== "prometheus") continue;
      const options = transformations?.find(({ id }) => id === "organize")?.options as
        | { readonly renameByName?: Readonly<Record<string, string>> }
        | undefined;
      if (!Object.values(options?.renameByName ?? {}).some((column) => titles.includes(column))) continue;
      if (title === "Machines and agents") continue;
      const properties = fieldConfig?.overrides.flatMap((override) => override.properties) ?? [];
      expect(
        properties.some(({ id }) => id === "links"),
        title,
      ).toBe(true);
    }
    expect(panels.length).toBeGreaterThan(3);
  });

  test("links set no variable twice, and only variables of their dashboard", () => {
    const urls = [...JSON.stringify(dashboard).matchAll(/"url":"(\/d\/[^"]+)"/g)].map(([, url = ""]) => url);
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls) {
      const target = all.find(([, { uid }]) => url.startsWith(`/d/${uid}?`))?.[1];
      const known = target?.templating?.list?.map((variable) => variable.name) ?? [];
      const set = [...url.matchAll(/var-(\w+)=/g)].map(([, variable = ""]) => variable);
      expect(known).toEqual(expect.arrayContaining(set));
      const kept = [...url.matchAll(/\$\{(\w+):queryparam\}/g)].map(([, variable = ""]) => variable);
      expect(new Set([...set, ...kept]).size, url).toBe(set.length + kept.length);
      if (set.length > 0) expect(url).not.toContain("__all_variables");
    }
  });

  test("sums in Tempo begin with a window that Tempo accepts", () => {
    const sums = panels.filter(
      ({ datasource, targets }) => datasource?.type === "tempo" && JSON.stringify(targets).includes("_over_time("),
    );
    expect(sums.map(({ timeFrom }) => timeFrom)).toEqual(sums.map(() => "$window"));
    const window = dashboard.templating?.list?.find((variable) => variable.name === "window");
    expect(window?.current?.value).toBe(sums.length > 0 ? "24h" : undefined);
  });

  test("links between dashboards lead to dashboards", () => {
    const uids = all.map(([, { uid }]) => uid);
    const linked = [...JSON.stringify(dashboard).matchAll(/\/d\/([a-z-]+)\?/g)].map(([, uid]) => uid);
    expect(uids).toEqual(expect.arrayContaining(linked));
  });
});

test("the overview leads with money, then with repositories", () => {
  const titles = panelsByDashboard()
    .get("team-overview")
    ?.map(({ title }) => title);
  expect(titles?.slice(0, 7)).toEqual([
    "Cost",
    "Cost, change",
    "Cost so far",
    "Cost per merged change",
    "Budget left",
    "People",
    "Cost by repository",
  ]);
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
