import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { alertGroups } from "../../dashboards/src/alerts.ts";
import { promName } from "../../dashboards/src/names.ts";
import { LABEL } from "../../dashboards/src/promql.ts";
import { allQueries, interpolated } from "../dashboards/queries.ts";
import { ROOT } from "../support/program.ts";
import { programs } from "./programs.ts";

// Made-up teams whose agents get a new version: what the dashboard and the alert say of it, by promtool

const { promtool, oldPromtool } = await programs();
const tools = [...new Set([promtool, oldPromtool])].filter((path) => path !== undefined);

/** Turns and dollars of one machine, with the version before and the new one; absent: it never had that version. */
interface Machine {
  readonly old?: readonly [turns: number, usd: number];
  readonly new?: readonly [turns: number, usd: number];
}

/** Differences between machines: the same in every run, some more than 1 and some less. */
const around = (i: number): number => 1 + 0.1 * Math.sin(7 * i);
const machines = (many: number, of: (i: number) => Machine): readonly Machine[] =>
  Array.from({ length: many }, (_, i) => of(i));

const TEAMS: Readonly<Record<string, readonly Machine[]>> = {
  "costs more": machines(12, (i) => ({ old: [60, 30 * around(i)], new: [20, 16 * around(i + 3)] })),
  "costs less": machines(12, (i) => ({ old: [60, 30 * around(i)], new: [20, 5 * around(i + 3)] })),
  "the same": machines(12, (i) => ({ old: [60, 30 * around(i)], new: [20, 10 * around(i + 3)] })),
  // Enough if machines were alike
  "on nine machines": machines(9, (i) => ({ old: [60, 30 * around(i)], new: [20, 16 * around(i + 3)] })),
  "one machine": machines(12, (i) => ({ old: [60, 30 * around(i)], new: [20, i === 0 ? 100 : 10] })),
  // What one turn costs differs by a factor of 50, but each machine pays more than before
  "people who differ": machines(12, (i) => ({
    old: [60, 30 * 1.4 ** i * around(i)],
    new: [20 + i, 16 * 1.4 ** i * (1 + i / 20) * around(i + 3)],
  })),
  "some have one of the two": machines(24, (i) => ({
    ...(i < 16 && { old: [60, 30 * around(i)] as const }),
    ...(i > 8 && { new: [20, 16 * around(i + 3)] as const }),
  })),
  "few turns": machines(12, (i) => ({ old: [60, 30 * around(i)], new: [4, 3.2 * around(i + 3)] })),
};

describe.each(tools)("%s", (path) => {
  test.each([
    ["costs more", "more", true],
    ["costs less", "less", false],
    ["the same", "no difference can be shown", false],
    ["on nine machines", "no difference can be shown", false],
    ["one machine", "no difference can be shown", false],
    ["people who differ", "more", true],
    ["some have one of the two", "more", true],
    ["few turns", "more", false],
  ] as const)("a team in which the new version %s: %s, alert %s", (name, shown, alerts) => {
    const { change, error } = changeOf(TEAMS[name] ?? []);
    const samples = (value: number) => [{ labels: "{}", value }];
    check(path, name, [
      [`round(1e6 * sum(openhook:version_change:log{${COST}}))`, samples(Math.round(1e6 * Math.log(1 + change)))],
      [`round(1e6 * sum(openhook:version_change:error{${COST}}))`, samples(Math.round(1e6 * error))],
      [`sum(${verdictQuery()})`, samples({ more: 1, less: -1, "no difference can be shown": 0 }[shown])],
      [`round(1e6 * sum(${tableQuery("Cost per turn")}))`, samples(Math.round(1e6 * costsPerTurn(TEAMS[name] ?? [])))],
      [`round(1e6 * sum(${alert()}))`, alerts ? samples(Math.round(1e6 * change)) : []],
    ]);
  });
});

if (tools.length === 0) test.skip("not covered here: versions by promtool");

// --- internal ---

const COST = `${LABEL.measure}="Cost per turn"`;
const [OLD, NEW] = ["2.1.9", "2.1.10"] as const;

const alert = (): string =>
  alertGroups()
    .flatMap(({ rules }) => rules)
    .find((rule) => rule.alert === "OpenhookVersionWorse")?.expr ?? "";

const query = (panelTitle: string, column: string): string => {
  const found = allQueries().find(({ panel, refId }) => {
    const options = panel.transformations?.find(({ id }) => id === "organize")?.options as
      | { readonly renameByName: Readonly<Record<string, string>> }
      | undefined;
    return panel.title === panelTitle && options?.renameByName[`Value #${refId}`] === column;
  });
  const chosen = { compared: "claude-code", version: NEW, before: OLD, range: "10d" };
  if (found === undefined) throw new Error(`no column ${column} in ${panelTitle}`);
  return interpolated(found.text, chosen);
};
const verdictQuery = (): string => query("What the difference shows", "Cost per turn");
const tableQuery = (column: string): string => query("Two versions", column);

const total = (team: readonly Machine[], version: keyof Machine, at: 0 | 1): number =>
  team.reduce((sum, machine) => sum + (machine[version]?.[at] ?? 0), 0);
const costPerTurn = (team: readonly Machine[], version: keyof Machine): number =>
  total(team, version, 1) / total(team, version, 0);
const costsPerTurn = (team: readonly Machine[]): number => costPerTurn(team, "old") + costPerTurn(team, "new");

/** The change of a ratio, and the error of its logarithm: what it changes by if a machine counts a little more. */
function changeOf(team: readonly Machine[]): { readonly change: number; readonly error: number } {
  const change = costPerTurn(team, "new") / costPerTurn(team, "old") - 1;
  const logOf = (version: keyof Machine, nth: number, weight: number): number => {
    const weighted = team.flatMap((machine, i) => {
      const [turns, usd] = machine[version] ?? [0, 0];
      const w = i === nth ? 1 + weight : 1;
      return [{ [version]: [turns * w, usd * w] as const }];
    });
    return Math.log(costPerTurn(weighted, version));
  };
  const slope = (nth: number): number => {
    const at = (weight: number): number => logOf("new", nth, weight) - logOf("old", nth, weight);
    return (at(1e-5) - at(-1e-5)) / 2e-5;
  };
  return { change, error: Math.sqrt(team.reduce((sum, _, nth) => sum + slope(nth) ** 2, 0)) };
}

type Sample = { readonly labels: string; readonly value: number };

/** Evaluates expressions nine days after a team began, two after the new version. */
function check(path: string, name: string, expected: readonly (readonly [string, readonly Sample[]])[]): void {
  const folder = mkdtempSync(join(tmpdir(), "openhook-versions-"));
  const file = join(folder, "versions.yaml");
  const rules = ["recording", "alerts"].map((rule) => join(ROOT, "dashboards", "rules", `${rule}.yaml`));
  const series = (TEAMS[name] ?? []).flatMap((machine, i) =>
    (["old", "new"] as const).flatMap((version) =>
      (["openhook.version.turn.count", "openhook.version.cost.usage"] as const).flatMap((metric, at) => {
        const value = machine[version]?.[at];
        if (value === undefined) return [];
        const labels = `${LABEL.agent}="claude-code", ${LABEL.sourceVersion}="${version === "old" ? OLD : NEW}", instance="m${i}", job="j"`;
        return [
          { series: `${promName(metric)}{${labels}}`, values: `${version === "old" ? "" : "_x168 "}${value}x230` },
        ];
      }),
    ),
  );
  const promql = expected.map(([expr, samples]) => ({ expr, eval_time: "216h", exp_samples: samples }));
  const tests = [{ name, interval: "1h", input_series: series, promql_expr_test: promql }];
  writeFileSync(file, JSON.stringify({ rule_files: rules, evaluation_interval: "12h", tests }));
  const { status, stdout, stderr } = spawnSync(path, ["test", "rules", file], { encoding: "utf8" });
  rmSync(folder, { recursive: true, force: true });
  // Expressions of dashboards are pages long
  expect(status, `${stdout}${stderr}`.replaceAll(/(expr: .{60}).+?(,\s+time)/g, "$1…$2")).toBe(0);
}
