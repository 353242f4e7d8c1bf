// What happens to machines over weeks: updates, days offline, changed settings, wrong clocks. Totals stay the same.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrainDeps } from "#collect/drain/context.ts";
import { counterValues } from "#store/counters.ts";
import { readStore } from "#store/read-only.ts";
import { sleep } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { query, sum } from "./ask.ts";
import { configuration } from "./dashboards-stand.ts";
import { until } from "./gateway.ts";
import { freePorts } from "./process.ts";
import { programs } from "./programs.ts";
import { type Collector, type Prometheus, startCollector, startPrometheus } from "./servers.ts";

const { collector: collectorPath, prometheus: prometheusPath } = await programs();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOWHERE = "http://127.0.0.1:9";

let collector: Collector;
let scraping: Prometheus;
let receiving: Prometheus;
let endpoint: string;
const machines: Replay[] = [];

const machine = (name: string): Replay => {
  const made = new Replay("claude-code", name);
  machines.push(made);
  return made;
};

/** Drains all of a machine's calls, or a part of them, to an endpoint. */
async function work(of: Replay, calls: Replay["calls"], to = endpoint, deps: Partial<DrainDeps> = {}): Promise<void> {
  for (const call of calls) of.put(call);
  of.env = { ...of.env, OPENHOOK_OTEL_OTLP_ENDPOINT: to };
  await of.drain({ endIdle: true, isEager: true }, { sleep: async () => {}, ...deps });
}

const halves = ({ calls }: Replay): readonly [Replay["calls"], Replay["calls"]] => {
  const middle = Math.floor(calls.length / 2);
  return [calls.slice(0, middle), calls.slice(middle)];
};

const input = ({ places }: Replay): number =>
  (readStore(places.storePath, counterValues) ?? [])
    .filter(
      ({ metric, attributes }) => metric === "openhook.token.usage" && attributes["openhook.token.type"] === "input",
    )
    .reduce((total, { value }) => total + value, 0);

const instanceOf = ({ places }: Replay): string =>
  readStore(places.storePath, (db) =>
    String(db.prepare("SELECT value FROM meta WHERE key = 'instance.id'").get()?.["value"]),
  ) ?? "";

/** Expects the store's sums in both Prometheus servers, and the same totals as on the dashboards. */
async function expectTotal(of: Replay): Promise<void> {
  const selector = `openhook_token_usage_total{openhook_token_type="input",instance="${instanceOf(of)}"}`;
  expect(input(of)).toBeGreaterThan(0);
  for (const { url } of [scraping, receiving]) {
    const total = () => sum(url, `last_over_time(${selector}[1h])`);
    await until("the total is there", async () => (await total()) >= input(of)).catch(() => {});
    expect(await total()).toBe(input(of));
  }
}

describe.skipIf(collectorPath === undefined || prometheusPath === undefined)("over weeks", () => {
  beforeAll(async () => {
    const port = await freePorts("otlp", "scrape", "health");
    scraping = await startPrometheus(prometheusPath ?? "", { scrape: [`127.0.0.1:${port.scrape}`] });
    receiving = await startPrometheus(prometheusPath ?? "", { otlp: true });
    collector = await startCollector(collectorPath ?? "", {
      configs: [configuration(port, receiving.otlp, undefined)],
      readyUrl: `http://127.0.0.1:${port.health}/`,
    });
    endpoint = `http://127.0.0.1:${port.otlp}`;
  });
  afterAll(async () => {
    for (const one of machines) one.remove();
    await collector?.remove();
    for (const server of [scraping, receiving]) await server?.remove();
  });

  test("an update of the program continues the series", async () => {
    const one = machine("multi-turn");
    const [before, after] = halves(one);
    await work(one, before, endpoint, { version: "1.0.0" });
    await expectTotal(one);
    await work(one, after, endpoint, { version: "1.1.0" });
    await expectTotal(one);
    // Time for a scrape
    await sleep(3_000);
    expect(collector.server.log).not.toContain("was collected before");
  });

  test("after three days offline, the totals are complete", async () => {
    const one = machine("multi-turn");
    const [before, after] = halves(one);
    await work(one, before, NOWHERE, { now: () => Date.now() - 3 * DAY_MS });
    await work(one, after, NOWHERE, { now: () => Date.now() - 2 * DAY_MS });
    await work(one, []);
    await expectTotal(one);
  });

  test("after a change of environment and back, each session counts under its environment", async () => {
    const one = machine("multi-turn");
    const another = (number: number) =>
      one.calls
        .filter(({ event }) => event === "SessionStart" || event === "SessionEnd")
        .map((call) => ({
          ...call,
          stdin: { ...call.stdin, session_id: `00000000-0000-4000-8000-00000000000${number}` },
        }));
    await work(one, one.calls);
    one.env = { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=laptops" };
    await work(one, another(1));
    one.env = {};
    await work(one, another(2));
    await expectTotal(one);
    const sessions = await query(
      receiving.url,
      `sum by (deployment_environment_name) (last_over_time(openhook_session_count_total{instance="${instanceOf(one)}"}[1h]))`,
    );
    expect(new Map(sessions.map(({ labels, value }) => [labels["deployment_environment_name"], value]))).toEqual(
      new Map([
        [undefined, 6],
        ["laptops", 3],
      ]),
    );
  });

  test.each([
    ["an hour ahead", HOUR_MS],
    ["three hours behind", -3 * HOUR_MS],
    ["a day ahead", DAY_MS],
  ])("a clock that is %s, beside a machine whose clock is right", async (_, aheadMs) => {
    const [wrong, right] = [machine("multi-turn"), machine("parallel-tools")];
    await Promise.all([
      work(wrong, wrong.calls, endpoint, { now: () => Date.now() + aheadMs }),
      work(right, right.calls),
    ]);
    await expectTotal(right);
    await expectTotal(wrong);
  });
});
