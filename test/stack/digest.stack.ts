// The digest of a team from a real Prometheus has the totals of the machines' stores.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { digest } from "#commands/digest.ts";
import { usage } from "#show/report/usage.ts";
import { readStore } from "#store/read-only.ts";
import { contextAt } from "../support/context.ts";
import { ROOT } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { query, sum } from "./ask.ts";
import { addOutcomes, configuration, repositoryIn } from "./dashboards-stand.ts";
import { until } from "./gateway.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import { type Collector, type Prometheus, startCollector, startPrometheus } from "./servers.ts";

const { collector: collectorPath, prometheus: prometheusPath } = await programs();
const agents = await allAgents();
/** In the week after this one, in which the points are: `digest` is about whole weeks. */
const NEXT_WEEK_MS = Date.now() + 7 * 86_400_000;

let prometheus: Prometheus;
let collector: Collector;
const machines: Replay[] = [];

async function digestJson(nowMs: number) {
  const { context, out } = contextAt((machines[0] as Replay).places, { now: () => nowMs });
  expect(await digest("week", { markdown: false, json: true, from: prometheus.url }, context)).toBe(0);
  return JSON.parse(out());
}

describe.skipIf(collectorPath === undefined || prometheusPath === undefined)("digest of a team", () => {
  beforeAll(async () => {
    const port = await freePorts("otlp", "scrape", "health");
    prometheus = await startPrometheus(prometheusPath ?? "", { otlp: true });
    collector = await startCollector(collectorPath ?? "", {
      configs: [configuration(port, prometheus.otlp, undefined)],
      readyUrl: `http://127.0.0.1:${port.health}/`,
    });
    const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: `http://127.0.0.1:${port.otlp}`, OPENHOOK_OTEL_SELF_TELEMETRY: "false" };
    for (const name of ["multi-turn", "nested-subagents", "killed", "permission-denied"]) {
      const machine = new Replay("claude-code", name);
      machines.push(machine);
      machine.env = { ...machine.env, ...env };
      if (name !== "killed") repositoryIn(machine.home, name === "multi-turn" ? "harbour" : "lighthouse");
      for (const call of machine.calls) machine.put(call);
      await machine.drain({ endIdle: true, isEager: true });
    }
    addOutcomes({ machines });
    for (const machine of machines) await machine.drain({ isEager: true });
    const there = () => sum(prometheus.url, "openhook_change_merged_count_total");
    await until("all metrics are there", async () => (await there()) === machines.length);
  });
  afterAll(async () => {
    for (const one of machines) one.remove();
    await collector?.remove();
    await prometheus?.remove();
  });

  test("all figures are those of the stores", async () => {
    const rows = machines.flatMap(
      ({ places }) => readStore(places.storePath, (db) => usage(db, { agents }, { by: [] })) ?? [],
    );
    const total = (figure: (row: (typeof rows)[number]) => number | undefined): number =>
      rows.reduce((all, row) => all + (figure(row) ?? 0), 0);
    const { figures, before, repositories, models, of, unknown } = await digestJson(NEXT_WEEK_MS);
    expect(figures.cost_usd).toBeCloseTo(total(({ calls }) => calls?.costNanoUsd) / 1e9, 9);
    expect(figures).toMatchObject({
      turns: total(({ turns }) => turns?.turns),
      failed_turns: total(({ turns }) => (turns?.failed ?? 0) + (turns?.interrupted ?? 0)),
      tool_calls: total(({ tools }) => tools?.calls),
      tool_errors: total(({ tools }) => tools?.errors),
      merged_changes: machines.length,
      work_ms: null,
    });
    expect(figures.sessions).toBeGreaterThanOrEqual(machines.length);
    expect(before).toMatchObject({ cost_usd: null, sessions: null });
    expect(repositories.map(({ name }: { readonly name: string }) => name).sort()).toEqual([
      "(no repository)",
      "harbour",
      "lighthouse",
    ]);
    expect(models.length).toBeGreaterThan(0);
    expect([of, unknown[0]]).toEqual([prometheus.url, "the time at work"]);
  });

  test("in a later week nothing has grown", async () => {
    expect((await digestJson(NEXT_WEEK_MS + 7 * 86_400_000)).figures).toMatchObject({
      cost_usd: 0,
      sessions: 0,
      turns: 0,
    });
  });

  // Records the responses that `npm test` reads: OPENHOOK_STACK_RECORD=1 npm run test:stack -- digest
  test.runIf(process.env["OPENHOOK_STACK_RECORD"] === "1")("records responses", async () => {
    const { digestQueries } = await import("#check/team-digest.ts");
    const answers: Record<string, unknown> = {};
    for (const [name, text] of Object.entries(digestQueries("604800s"))) {
      const samples = await query(prometheus.url, text);
      const result = samples.map(({ labels, value }) => ({ metric: labels, value: [0, String(value)] }));
      answers[name] = { status: "success", data: { resultType: "vector", result } };
    }
    writeFileSync(join(ROOT, "test/commands/digest-prometheus.json"), `${JSON.stringify(answers, null, 2)}\n`);
  });
});
