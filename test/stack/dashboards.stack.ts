import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Attributes } from "#core/model/telemetry.ts";
import { allPromNames } from "../../dashboards/src/names.ts";
import { either, exactSum, LABEL, type LabelKey, raw } from "../../dashboards/src/promql.ts";
import { allQueries, type Chosen, interpolated, type PanelQuery } from "../dashboards/queries.ts";
import { sleep } from "../support/program.ts";
import { query, sum } from "./ask.ts";
import {
  addOutcomes,
  addTrouble,
  BEFORE,
  configuration,
  EVERY_SECONDS,
  quickened,
  repositoryIn,
  SINCE,
} from "./dashboards-stand.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import {
  type Collector,
  type Jaeger,
  type Prometheus,
  startCollector,
  startJaeger,
  startPrometheus,
} from "./servers.ts";
import { Team, type Truth, totalOf } from "./sessions.ts";

/**
 * Runs every query of every dashboard, and every rule, on real Prometheus servers that got every recorded session from
 * a real Collector: one by the Collector's exporter and a scrape, one by OTLP.
 */

const found = await programs();
const hasStack = found.collector !== undefined && found.oldPrometheus !== undefined;
const FLAVOURS = ["scraped by Prometheus 2", "sent to Prometheus 3 by OTLP"] as const;
type Flavour = (typeof FLAVOURS)[number];
const there = FLAVOURS.filter((name) => name === FLAVOURS[0] || found.prometheus !== undefined);

const servers = new Map<Flavour, Prometheus>();
let collector: Collector | undefined;
let jaeger: Jaeger | undefined;
let team: Team | undefined;
let truth: Truth;
let env: Readonly<Record<string, string>>;
const rules = mkdtempSync(join(tmpdir(), "openhook-rules-"));

describe.skipIf(!hasStack)("dashboards and rules on all recorded sessions", () => {
  beforeAll(async () => {
    const port = await freePorts("otlp", "scrape", "health");
    const having = { rules: quickened(rules), everySeconds: EVERY_SECONDS };
    servers.set(
      FLAVOURS[0],
      await startPrometheus(found.oldPrometheus ?? "", { scrape: [`127.0.0.1:${port.scrape}`], ...having }),
    );
    if (found.prometheus !== undefined) {
      servers.set(FLAVOURS[1], await startPrometheus(found.prometheus, { otlp: true, ...having }));
    }
    const otlp = servers.get(FLAVOURS[1])?.otlp;
    if (found.jaeger !== undefined) jaeger = await startJaeger(found.jaeger);
    collector = await startCollector(found.collector ?? "", {
      configs: [configuration(port, otlp, jaeger?.otlpHttp)],
      readyUrl: `http://127.0.0.1:${port.health}/`,
    });
    env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: `http://127.0.0.1:${port.otlp}`,
      OPENHOOK_OTEL_IDENTITY_USER: "hash",
      OPENHOOK_OTEL_IDENTITY_SALT: "the salt of a team in a test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,team=harbour",
    };
    // pipeline.stack.ts runs the hook program for every recorded call
    team = await Team.at(undefined, { runsHooks: false });
    for (const [index, machine] of team.machines.entries()) {
      writeFileSync(join(machine.home, ".gitconfig"), `[user]\n\temail = dev${index % 7}@example.org\n`);
      // Every third machine works outside any repository
      if (index % 3 > 0) repositoryIn(machine.home, index % 3 === 1 ? "lighthouse" : "harbour");
    }
    addTrouble(team);
    await team.drain(env);
    const changed = addOutcomes(team);
    // A drain's metrics about itself are sent with the next delivery. Some machines have done that, others not yet
    await team.drain(env, [...new Set([...changed, ...someOf(team)])]);
    truth = team.truth();
    await settled();
  });

  afterAll(async () => {
    await collector?.remove();
    await jaeger?.remove();
    for (const server of servers.values()) await server.remove();
    team?.remove();
    rmSync(rules, { recursive: true, force: true, maxRetries: 10 });
  });

  describe.each(there)("%s", (flavour) => {
    const url = (): string => servers.get(flavour)?.url ?? "";

    test("metrics have the names that the dashboards use", async () => {
      // A late scrape interrupts all series for a moment
      const names = await query(url(), 'count by (__name__) (last_over_time({__name__=~"(openhook|gen_ai)_.+"}[10m]))');
      const known = allPromNames();
      expect(names.map(({ labels }) => labels["__name__"] ?? "").filter((name) => !known.has(name))).toEqual([]);
      expect(names.length).toBeGreaterThan(40);
    });

    describe.each(["_", ":"] as const)("series %s", (series) => {
      test("totals equal those of the stores, to the token", () => compareAll(url(), series));

      test.each(QUERIES)("%s: the panel's query has valid values", async (_, panelQuery) => {
        const samples = await answer(url(), panelQuery, { series });
        // Machines whose clocks agree with the backend report no difference
        if (columnOf(panelQuery) === "Clock ahead" && samples.length === 0) return;
        // Everything arrived in this period, so there is nothing to compare with. rules.stack.ts tests changes
        if (isChange(panelQuery)) return expect(samples).toEqual([]);
        expect(samples.length, "samples").toBeGreaterThan(0);
        expect(samples.filter((value) => Number.isNaN(value) && !mayBeUnknown(panelQuery))).toEqual([]);
        const mayBeLess = /Clock/.test(columnOf(panelQuery)) || panelQuery.panel.title === "What the difference shows";
        expect(samples.filter((value) => value < -1e-6 && !mayBeLess)).toEqual([]);
      });

      test.each(["claude-code", "codex", "gemini-cli", "copilot", "cline", "opencode"])("%s alone", async (agent) => {
        for (const [metric, having] of COUNTED) {
          const more = matchers({ ...having });
          const expr = interpolated(exactSum(`${either(metric)}{${LABEL.agent}=~"$agent"${more}}`), { series, agent });
          expect(await sum(url(), expr), `${metric} ${more}`).toBeCloseTo(
            totalOfAgent(truth, metric, agent, having),
            6,
          );
        }
      });
    });

    test("with one value for each variable, every panel with matching data shows it", async () => {
      const chosen: Chosen = {
        agent: "claude-code",
        environment: "test",
        cohort: "1",
        ...(await somethingOf("claude-code", url())),
      };
      const empty: string[] = [];
      for (const [name, panelQuery] of QUERIES) {
        if (panelQuery.dashboard === "collector-health" || isChange(panelQuery)) continue;
        // With one repository and one agent, groups have fewer people than the default minimum
        if ((await answer(url(), panelQuery, chosen)).length === 0) empty.push(name);
      }
      // Panels that must be empty: the model has a price, the tool is built in, and no edit was reported in that
      // repository
      expect(empty.filter((name) => !/[Ww]ithout a price|MCP servers|Skills|Lines changed/.test(name))).toEqual([]);
      const having = {
        "gen_ai.request.model": chosen.model ?? "",
        "vcs.repository.name": chosen.repository ?? "",
        "openhook.token.type": "input",
      };
      const input = QUERIES.find(([name]) => name === "cost-and-tokens: Input tokens A")?.[1];
      expect(input === undefined ? [] : await answer(url(), input, chosen)).toEqual([
        totalOfAgent(truth, "openhook.token.usage", "claude-code", having),
      ]);
    });

    test("sums by version are those of the stores, and both versions are compared", async () => {
      for (const version of [BEFORE, SINCE]) {
        for (const metric of ["turn.count", "cost.usage", "tool.call.count", "token.usage"]) {
          const name = `openhook.version.${metric}`;
          const having = { "openhook.source.version": version };
          const total = totalOfAgent(truth, name, "claude-code", having);
          expect(total, `${name} ${version}`).toBeGreaterThan(0);
          const expr = exactSum(`${raw(name)}{${LABEL.agent}="claude-code"${matchers(having)}}`, [], "1h");
          expect(await sum(url(), expr), `${name} ${version}`).toBeCloseTo(total, 6);
        }
      }
      const columns = QUERIES.filter(([, { panel }]) => panel.title === "What the difference shows");
      for (const [, one] of columns) expect([-1, 0, 1]).toContain((await answer(url(), one, {}))[0]);
      expect(columns).toHaveLength(3);
    });

    test("rate limits of which nothing is used are 0, and each row has all its numbers", async () => {
      const columns = QUERIES.filter(([name]) => name.startsWith("tools-and-reliability: Rate limits "));
      const answers = await Promise.all(columns.map(([, one]) => answer(url(), one, {})));
      const used = columns.findIndex(([name]) => name.endsWith("Used at most"));
      expect(answers[used]).toContain(0);
      expect(answers.map(({ length }) => length)).toEqual(columns.map(() => answers[used]?.length));
    });

    test("a repository with merged commits, none of them reverted, shows 0 reverted commits", async () => {
      const column = (name: string): PanelQuery | undefined =>
        QUERIES.find(([title]) => title === `people-and-outcomes: By repository and agent ${name}`)?.[1];
      const [merged, reverted] = [column("Merged"), column("Reverted")];
      if (merged === undefined || reverted === undefined) throw new Error("the columns are not there");
      const chosen: Chosen = { cohort: "1" };
      expect(await answer(url(), reverted, chosen)).toHaveLength((await answer(url(), merged, chosen)).length);
    });

    test("every recording rule has a result, and no rule failed", async () => {
      const groups = await rulesOf(url());
      expect(groups.filter(({ lastError }) => (lastError ?? "") !== "")).toEqual([]);
      // Versions are compared after a week: versions.stack.ts
      const recorded = groups.filter(
        ({ name, type }) => type === "recording" && !/:version_(old|change|worse)/.test(name),
      );
      for (const { name, type } of recorded) {
        expect((await query(url(), `count({__name__="${name}"})`))[0]?.value ?? 0, `${type} ${name}`).toBeGreaterThan(
          0,
        );
      }
    });

    test("descriptions of firing alerts are complete sentences", async () => {
      const alerts = await alertsOf(url());
      // The recordings contain killed sessions and quarantined payloads
      expect(alerts.map(({ labels }) => labels["alertname"])).toContain("OpenhookQuarantineGrowing");
      for (const { annotations } of alerts) {
        expect(JSON.stringify(annotations)).not.toMatch(/<error|no value|\{\{/);
      }
    });
  });

  test.skipIf(found.jaeger === undefined)("the session explorer's lists find every session in Jaeger", async () => {
    const panel = allQueries().find(({ language, text }) => language === "jaeger" && text.includes("session"));
    const [, key = "", value = ""] = /(\S+)=(\S+)$/.exec(panel?.text ?? "") ?? [];
    const sessions = truth.spans.filter((span) => span.attributes[key] === value);
    for (const agent of new Set(sessions.map(({ resource }) => String(resource["service.name"])))) {
      const traceIds = await jaegerTraces(jaeger?.url ?? "", {
        service: agent,
        tags: JSON.stringify({ [key]: value }),
      });
      const ours = sessions.filter(({ resource }) => resource["service.name"] === agent);
      expect([...traceIds].sort(), agent).toEqual(ours.map(({ traceId }) => traceId).sort());
    }
  });

  test("the same after the Collector was restarted, and after everything was sent again", async () => {
    await collector?.server.stop();
    await collector?.server.start();
    // Idle machines send nothing: their counters keep their values
    for (const flavour of there) await compareAll(servers.get(flavour)?.url ?? "", "_");
    if (team !== undefined) await team.drain(env, someOf(team));
    await settled();
    for (const flavour of there) {
      for (const series of ["_", ":"] as const) await compareAll(servers.get(flavour)?.url ?? "", series);
    }
  });
});

if (!hasStack) test.skip("not covered here: dashboards and rules against a real Collector and Prometheus");

// --- internal ---

/** Needs a period before this one. */
const isChange = ({ panel, text }: PanelQuery): boolean =>
  panel.title?.endsWith(", change") === true || text.includes("@ start() offset");

const someOf = ({ machines }: Team) => machines.filter((_, index) => index % 9 === 0 || index % 11 === 0);

/** Every metric that panels add up, with the attributes of its streams. */
const COUNTED: readonly (readonly [string, Attributes])[] = [
  ...["input", "output", "cache_read", "cache_write", "reasoning"].map(
    (type) => ["openhook.token.usage", { "openhook.token.type": type }] as const,
  ),
  ["openhook.token.usage", { "openhook.token.type": "input", "openhook.subagent": true }],
  ["openhook.session.count", {}],
  ["openhook.session.count", { "openhook.session.end_reason": "timeout" }],
  ["openhook.turn.count", {}],
  ["openhook.turn.count", { "openhook.turn.origin": "human" }],
  ["openhook.model.call.count", {}],
  ["openhook.model.error.count", {}],
  ["openhook.tool.call.count", {}],
  ["openhook.tool.call.count", { "openhook.tool.status": "error" }],
  ["openhook.tool.call.count", { "openhook.tool.status": "denied" }],
  ["openhook.tool.call.count", { "gen_ai.skill.name": "release-notes" }],
  ["openhook.cost.usage", {}],
  ["openhook.cost.unpriced.count", {}],
  ["openhook.subagent.count", {}],
  ["openhook.code.lines", {}],
  ["openhook.compaction.count", {}],
  ["openhook.native.retry.count", {}],
  ["openhook.native.refusal.count", {}],
  ["openhook.reported.cost", {}],
];

const QUERIES = allQueries()
  .filter(({ language }) => language === "promql")
  .map(
    (panelQuery) => [`${panelQuery.dashboard}: ${panelQuery.panel.title} ${columnOf(panelQuery)}`, panelQuery] as const,
  );

function columnOf({ panel, refId }: PanelQuery): string {
  const organize = panel.transformations?.find(({ id }) => id === "organize")?.options as
    | { readonly renameByName: Readonly<Record<string, string>> }
    | undefined;
  return organize?.renameByName[`Value #${refId}`] ?? refId;
}

/** Queries that may return NaN: a quantile without values, e.g. of a tool that was only denied. */
const mayBeUnknown = ({ text }: PanelQuery): boolean => text.includes("histogram_quantile");

async function compareAll(url: string, series: "_" | ":"): Promise<void> {
  for (const [metric, having] of COUNTED) {
    const expr = interpolated(exactSum(`${either(metric)}{${matchers(having).slice(2)}}`), { series });
    expect(await sum(url, expr), `${metric} ${JSON.stringify(having)}`).toBeCloseTo(totalOf(truth, metric, having), 6);
  }
}

const matchers = (having: Attributes): string =>
  Object.entries(having)
    .map(([name, value]) => `, ${name.replaceAll(".", "_")}="${String(value)}"`)
    .join("");

const totalOfAgent = (of: Truth, metric: string, agent: string, having: Attributes): number =>
  totalOf({ ...of, streams: of.streams.filter(({ resource }) => resource["service.name"] === agent) }, metric, having);

/** The numbers that a panel's query returns, without their labels. */
async function answer(url: string, { text, instant }: PanelQuery, chosen: Chosen): Promise<readonly number[]> {
  const versions = { compared: "claude-code", version: SINCE, before: BEFORE };
  const expr = interpolated(text, { ...versions, ...chosen, range: "1h", interval: "5m" });
  if (instant) return (await query(url, expr)).map(({ value }) => value);
  // A few points of a range query
  const now = Date.now();
  const points = await Promise.all([0, 10_000].map((agoMs) => query(url, expr, now - agoMs)));
  return points.flat().map(({ value }) => value);
}

/** An agent's most frequent model, repository and tool. */
async function somethingOf(agent: string, url: string): Promise<Chosen> {
  const most = async (metric: string, label: LabelKey): Promise<string> => {
    const by = `sum by (${LABEL[label]}) (last_over_time(${metric}{${LABEL.agent}="${agent}", ${LABEL[label]}!=""}[1h]))`;
    return (await query(url, `topk(1, ${by})`))[0]?.labels[LABEL[label]] ?? "";
  };
  return {
    model: await most("openhook_token_usage_total", "model"),
    repository: await most("openhook_token_usage_total", "repository"),
    tool: await most("openhook_tool_call_count_total", "tool"),
  };
}

/** Waits until the last sums are scraped and the rules have used them: three levels of rules, one after the other. */
async function settled(): Promise<void> {
  const input = totalOf(truth, "openhook.token.usage", { "openhook.token.type": "input" });
  for (const endMs = Date.now() + 240_000; Date.now() < endMs; await sleep(500)) {
    const sums = await Promise.all(
      [...servers.values()].map(({ url }) =>
        sum(url, `sum(openhook:token_usage_total{${LABEL.tokenType}="input"})`).catch(() => 0),
      ),
    );
    if (sums.every((value) => value === input)) break;
  }
  await sleep(3 * EVERY_SECONDS * 1_000 + 1_000);
}

/** Queries Jaeger as Grafana's data source does. @returns ids of traces */
async function jaegerTraces(url: string, words: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const lookback = { start: "1", end: String(Date.now() * 1000), limit: "1000" };
  const response = await fetch(`${url}/api/traces?${new URLSearchParams({ ...words, ...lookback })}`);
  const { data } = (await response.json()) as { data: readonly { traceID: string }[] | null };
  return (data ?? []).map(({ traceID }) => traceID);
}

interface RuleState {
  readonly name: string;
  readonly type: string;
  readonly lastError?: string;
}
interface AlertState {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

async function rulesOf(url: string): Promise<readonly RuleState[]> {
  const response = await fetch(`${url}/api/v1/rules`);
  const { data } = (await response.json()) as { data: { groups: readonly { rules: readonly RuleState[] }[] } };
  return data.groups.flatMap((group) => group.rules);
}

async function alertsOf(url: string): Promise<readonly AlertState[]> {
  const response = await fetch(`${url}/api/v1/alerts`);
  return ((await response.json()) as { data: { alerts: readonly AlertState[] } }).data.alerts;
}
