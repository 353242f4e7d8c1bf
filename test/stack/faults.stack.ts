// Kills (SIGKILL) each program between the machines and the backends, and Jaeger, while sessions are delivered.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sleep } from "../support/program.ts";
import { type Chain, startChain } from "./chain.ts";
import { arrived, counted, expectSeries, expectTraces } from "./compare.ts";
import { programs } from "./programs.ts";
import { recordings, Team } from "./sessions.ts";

const { collector, jaeger, prometheus, oldPrometheus } = await programs();

describe.skipIf(collector === undefined || jaeger === undefined)("killed in the middle of delivery", () => {
  let chain: Chain;
  let team: Team;
  /** Names of killed programs, in order. */
  const history: string[] = [];

  beforeAll(async () => {
    chain = await startChain({ collector: collector ?? "", jaeger: jaeger ?? "", prometheus, oldPrometheus });
    team = await Team.at((await recordings()).filter((_, index) => index % 3 === 1));
  });
  afterAll(async () => {
    team?.remove();
    await chain?.remove();
  });

  test("the agent's Collector, the gateway and Jaeger, each three times: nothing is lost or duplicated", async () => {
    const victims = [chain.agent.server, chain.gateway.collector.server, chain.jaeger.server];
    let isOver = false;
    const killing = async (): Promise<void> => {
      for (let round = 0; !isOver || round < 3 * victims.length; round++) {
        const victim = victims[round % victims.length];
        // Long enough for requests to complete, short enough to interrupt some
        await sleep(300 + 137 * (round % 5));
        await victim?.kill();
        history.push(victim?.name ?? "");
        await sleep(200);
        await victim?.start();
      }
    };
    const env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: chain.endpoint,
      // Many small requests, so that more are interrupted
      OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "2",
      OPENHOOK_OTEL_OTLP_CONCURRENCY: "2",
    };
    const draining = team.drain(env).finally(() => {
      isOver = true;
    });
    const [first] = await Promise.all([draining, killing()]);
    expect(
      first.reduce((n, { waiting }) => n + waiting, 0),
      "no drain was hit; make the killer faster",
    ).toBeGreaterThan(0);
    await drainUntilEmpty(env);
    expect(history.length).toBeGreaterThanOrEqual(3 * victims.length);

    const truth = team.truth();
    await arrived(chain.jaeger.url, truth);
    await expectTraces(chain.jaeger.url, truth);
  });

  test.skipIf(prometheus === undefined)("a Prometheus that receives OTLP has every series, to the token", async () => {
    const url = chain.receiving?.url ?? "";
    await counted(url, team.truth());
    await expectSeries(url, team.truth());
  });

  // Scraped metrics are only in the gateway's memory. Values between the last scrape and the kill arrive with the next
  // delivery
  test.skipIf((oldPrometheus ?? prometheus) === undefined)(
    "a scraping Prometheus has every series once each machine has drained again",
    async () => {
      const url = chain.scraping?.url ?? "";
      for (const [index, machine] of team.machines.entries()) machine.sessionEnd(`after-the-kill-${index}`, Date.now());
      await drainUntilEmpty({ OPENHOOK_OTEL_OTLP_ENDPOINT: chain.endpoint });
      await counted(url, team.truth());
      await expectSeries(url, team.truth());
    },
  );

  async function drainUntilEmpty(env: Readonly<Record<string, string>>): Promise<void> {
    for (let tries = 0; tries < 5; tries++) {
      const reports = await team.drain(env);
      const open = reports.filter(({ waiting, problems }) => waiting > 0 || problems.length > 0);
      if (open.length === 0) return;
    }
    throw new Error("spans are still queued after five drains with everything running");
  }
});
