import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VariableModel } from "@grafana/grafana-foundation-sdk/dashboard";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dashboards } from "../../dashboards/src/index.ts";
import { recordingGroups } from "../../dashboards/src/recording.ts";
import { allQueries, interpolated } from "../dashboards/queries.ts";
import { sleep } from "../support/program.ts";
import { query, type Sample, sum } from "./ask.ts";
import { addTrouble, configuration, EVERY_SECONDS, quickened, repositoryIn } from "./dashboards-stand.ts";
import { nativeBodies, ofToday, sendNative } from "./native.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import { type Collector, type Prometheus, startCollector, startPrometheus } from "./servers.ts";
import { recordings, runProgram, Team, totalOf } from "./sessions.ts";

/**
 * Two Prometheus servers behind one Collector: one gets what openhook-otel sends, the other also the agents' own telemetry
 * of the same sessions, which no filter keeps apart. Every panel, rule and alert, and `reconcile`, must agree.
 */

const { collector: program, prometheus } = await programs();
const hasStack = program !== undefined && prometheus !== undefined;

let collector: Collector | undefined;
let alone: Prometheus | undefined;
let both: Prometheus | undefined;
let team: Team | undefined;
let env: Readonly<Record<string, string>>;
const rules = mkdtempSync(join(tmpdir(), "openhook-rules-"));

describe.skipIf(!hasStack)("with the agents' own telemetry in the same Prometheus", () => {
  beforeAll(async () => {
    const port = await freePorts("otlp", "scrape", "health");
    const having = { otlp: true, rules: quickened(rules), everySeconds: EVERY_SECONDS };
    alone = await startPrometheus(prometheus ?? "", having);
    both = await startPrometheus(prometheus ?? "", having);
    collector = await startCollector(program ?? "", {
      configs: [configuration(port, both.otlp, undefined), withOursAlone(alone.otlp)],
      readyUrl: `http://127.0.0.1:${port.health}/`,
    });
    env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: `http://127.0.0.1:${port.otlp}`,
      OPENHOOK_OTEL_IDENTITY_USER: "hash",
      OPENHOOK_OTEL_IDENTITY_SALT: "the salt of a team in a test",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,team=harbour",
    };
    await native(port.otlp);
    team = await Team.at(await someRecordings(), { runsHooks: false });
    for (const [index, machine] of team.machines.entries()) {
      if (index % 3 > 0) repositoryIn(machine.home, index % 3 === 1 ? "lighthouse" : "harbour");
    }
    addTrouble(team);
    await team.drain(env);
    await native(port.otlp);
    await settled();
  });

  afterAll(async () => {
    await collector?.remove();
    for (const server of [alone, both]) await server?.remove();
    team?.remove();
    rmSync(rules, { recursive: true, force: true, maxRetries: 10 });
  });

  test("it is there, under our names and in sums that do not know it", async () => {
    const naive = "sum(last_over_time(gen_ai_execute_tool_duration_seconds_count[1h]))";
    const [ours, all] = await Promise.all([alone, both].map((server) => sum(server?.url ?? "", naive)));
    expect(ours).toBeGreaterThan(0);
    expect(all).toBeGreaterThan(ours ?? 0);
    const services = await query(both?.url ?? "", 'group by (service_name) ({__name__!=""})');
    expect(services.map(({ labels }) => labels["service_name"])).toEqual(
      expect.arrayContaining(["claude-code", "codex_exec", "copilot", "github-copilot", "qwen-code"]),
    );
  });

  test.each(["_", ":"] as const)("every panel shows the same, series %s", async (series) => {
    const differing: string[] = [];
    let values = 0;
    for (const { dashboard, panel, refId, text, language } of allQueries()) {
      if (language !== "promql") continue;
      const nowMs = Date.now();
      const [ours, all] = await Promise.all(
        [alone, both].map(async (server) => {
          const url = server?.url ?? "";
          const all = text.replaceAll(/\$agent\b/g, await allAgentsOf(dashboard, url));
          return lines(
            await query(url, interpolated(all, { series, range: "1h", interval: "5m", cohort: "1" }), nowMs),
          );
        }),
      );
      values += ours?.length ?? 0;
      if (JSON.stringify(ours) !== JSON.stringify(all)) differing.push(`${dashboard}: ${panel.title} ${refId}`);
    }
    expect(differing).toEqual([]);
    expect(values).toBeGreaterThan(500);
  });

  test("every recorded sum is the same", async () => {
    const names = recordingGroups().flatMap((group) => group.rules.map(({ record }) => record));
    const nowMs = Date.now();
    const differing: string[] = [];
    let values = 0;
    for (const name of new Set(names)) {
      const [ours, all] = await Promise.all(
        [alone, both].map(async (server) => lines(await query(server?.url ?? "", `{__name__="${name}"}`, nowMs))),
      );
      values += ours?.length ?? 0;
      if (JSON.stringify(ours) !== JSON.stringify(all)) differing.push(name);
    }
    expect(differing).toEqual([]);
    expect(values).toBeGreaterThan(200);
  });

  test("the same alerts fire", async () => {
    const [ours, all] = await Promise.all([alone, both].map((server) => alertsOf(server?.url ?? "")));
    expect(ours).not.toEqual([]);
    expect(all).toEqual(ours);
  });

  test("reconcile finds the same on every machine", async () => {
    const verdicts: unknown[] = [];
    for (const machine of team?.machines ?? []) {
      const [ours, all] = await Promise.all(
        [alone, both].map(async (server) => {
          const args = ["reconcile", "--json", "--since", "2020-01-01", "--prometheus", server?.url ?? ""];
          const { stdout } = await runProgram(machine.home, args, env);
          return JSON.parse(stdout);
        }),
      );
      expect({ ...all, backends: [] }, machine.source).toEqual({ ...ours, backends: [] });
      verdicts.push(all.verdict);
    }
    expect(verdicts).toContain("agree");
  });
});

if (!hasStack) test.skip("not covered here: dashboards and rules with the agents' own telemetry beside ours");

// --- internal ---

/** A second pipeline for what openhook-otel sends. */
const withOursAlone = (otlp: string) => ({
  processors: { "filter/ours": { error_mode: "propagate", metric_conditions: ['scope.name != "openhook-otel"'] } },
  exporters: { "otlp_http/ours": { metrics_endpoint: `${otlp}/v1/metrics`, sending_queue: { num_consumers: 1 } } },
  service: {
    pipelines: {
      "metrics/ours": {
        receivers: ["otlp"],
        processors: ["filter/ours", "transform/labels"],
        exporters: ["otlp_http/ours"],
      },
    },
  },
});

async function native(port: number): Promise<void> {
  for (const body of nativeBodies().filter(({ signal }) => signal !== "logs")) {
    expect(await sendNative(`http://127.0.0.1:${port}`, ofToday(body)), body.name).toBe(200);
  }
}

/** Two of each agent that has telemetry of its own. */
async function someRecordings() {
  const seen = new Map<string, number>();
  return (await recordings()).filter(({ source }) => {
    const count = seen.get(source) ?? 0;
    seen.set(source, count + 1);
    return count < (WITH_NATIVE.has(source) ? 3 : 0);
  });
}
const WITH_NATIVE = new Set(["claude-code", "codex", "copilot", "gemini-cli", "goose", "opencode", "qwen-code"]);

/** "All" of a dashboard's variable, as Grafana inserts it: its own value, or every value of its query. */
async function allAgentsOf(dashboard: string, url: string): Promise<string> {
  const { list = [] } = dashboards()[dashboard]?.templating ?? {};
  const variable = list.find(({ name }: VariableModel) => name === "agent");
  if (variable?.allValue !== undefined) return variable.allValue;
  const [, selector = '{__name__=~"openhook_.+"}', label = "service_name"] =
    /^label_values\((.+), (\w+)\)$/.exec(variable?.definition ?? "") ?? [];
  const samples = await query(url, `group by (${label}) (last_over_time(${selector}[1h]))`);
  return samples.map(({ labels }) => labels[label]).join("|");
}

const lines = (samples: readonly Sample[]): readonly string[] =>
  samples
    .map(({ labels, value }) => `${JSON.stringify(Object.entries(labels).sort())} ${value.toPrecision(10)}`)
    .sort();

async function alertsOf(url: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/v1/alerts`);
  const { data } = (await response.json()) as {
    data: { alerts: readonly { readonly labels: Readonly<Record<string, string>> }[] };
  };
  return data.alerts.map(({ labels }) => JSON.stringify(Object.entries(labels).sort())).sort();
}

/** Waits until the rules of both servers have used everything: three levels of rules, one after the other. */
async function settled(): Promise<void> {
  const having = { "openhook.token.type": "input" };
  const input = team === undefined ? 0 : totalOf(team.truth(), "openhook.token.usage", having);
  const expr = 'sum(openhook:token_usage_total{openhook_token_type="input"})';
  for (const endMs = Date.now() + 240_000; Date.now() < endMs; await sleep(500)) {
    const sums = await Promise.all([alone, both].map((server) => sum(server?.url ?? "", expr).catch(() => 0)));
    if (sums.every((value) => value === input)) break;
  }
  await sleep(3 * EVERY_SECONDS * 1_000 + 1_000);
}
