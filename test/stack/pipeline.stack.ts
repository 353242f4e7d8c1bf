// Every recorded session of every agent: the built program, an agent's Collector, the gateway, Jaeger, Prometheus.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sum } from "./ask.ts";
import { type Chain, startChain } from "./chain.ts";
import { arrived, counted, expectSeries, expectTraces, nameOf } from "./compare.ts";
import { startLossyWay } from "./lossy.ts";
import { programs } from "./programs.ts";
import { type DrainReport, recordings, Team, type Truth, totalOf } from "./sessions.ts";

const { collector, jaeger, prometheus, oldPrometheus } = await programs();

describe.skipIf(collector === undefined || jaeger === undefined)("from the agents' hooks to the backends", () => {
  let chain: Chain;
  /** Two halves of the recordings; each has recordings of every agent. */
  let [early, late]: readonly (Team | undefined)[] = [];
  beforeAll(async () => {
    const all = await recordings();
    chain = await startChain({ collector: collector ?? "", jaeger: jaeger ?? "", prometheus, oldPrometheus });
    early = await Team.at(all.filter((_, index) => index % 2 === 0));
    late = await Team.at(all.filter((_, index) => index % 2 === 1));
  });
  afterAll(async () => {
    for (const team of [early, late]) team?.remove();
    await chain?.remove();
  });

  const endpoint = (url: string) => ({ OPENHOOK_OTEL_OTLP_ENDPOINT: url });
  const both = (): Truth => joined([early, late].flatMap((team) => team?.truth() ?? []));

  test("every drained span is in Jaeger, each trace with its tree", async () => {
    const reports = (await early?.drain(endpoint(chain.endpoint))) ?? [];
    const truth = joined([early?.truth() ?? NOTHING]);
    expect(spansSent(reports)).toBe(truth.spans.length);
    await arrived(chain.jaeger.url, truth);
    await expectTraces(chain.jaeger.url, truth);
  });

  const backends = [
    ["that scrapes", oldPrometheus ?? prometheus, (at: Chain) => at.scraping],
    ["that receives OTLP", prometheus, (at: Chain) => at.receiving],
  ] as const;

  describe.each(backends)("a Prometheus %s", (_, program, of) => {
    test.skipIf(program === undefined)("has every series, to the token", async () => {
      const url = of(chain)?.url ?? "";
      const truth = joined([early?.truth() ?? NOTHING]);
      await counted(url, truth);
      await expectSeries(url, truth);
      expect(await sum(url, `last_over_time(${nameOf("openhook.token.usage")}[1h])`)).toBe(
        totalOf(truth, "openhook.token.usage"),
      );
    });
  });

  test("after a restart of both Collectors, and with every request sent twice, Jaeger has each span once", async () => {
    for (const { server } of [chain.agent, chain.gateway.collector]) await server.stop();
    for (const { server } of [chain.gateway.collector, chain.agent]) await server.start();
    const way = await startLossyWay(chain.endpoint);
    const unsure = (await late?.drain(endpoint(way.url))) ?? [];
    const expected = late?.truth().spans.length ?? 0;
    expect(spansSent(unsure)).toBe(0);
    expect(way.lost).toBeGreaterThanOrEqual(late?.machines.length ?? 0);
    await way.close();
    // Jaeger has everything now
    await arrived(chain.jaeger.url, both());
    const again = (await late?.drain(endpoint(chain.endpoint))) ?? [];
    expect(spansSent(again)).toBe(expected);
    // When this has passed through the same queues, so has everything that was sent twice
    await counted((chain.receiving ?? chain.scraping)?.url ?? "", both());
    await expectTraces(chain.jaeger.url, both());
    const agents = new Set((await recordings()).map(({ source }) => source));
    expect(new Set(both().spans.map(({ resource }) => resource["service.name"]))).toEqual(agents);
  });

  describe.each(backends)("afterwards, a Prometheus %s", (_, program, of) => {
    test.skipIf(program === undefined)("has every series, to the token", async () => {
      const url = of(chain)?.url ?? "";
      await counted(url, both());
      await expectSeries(url, both());
    });
  });
});

// --- internal ---

const NOTHING: Truth = { spans: [], streams: [], sessions: 0 };

const spansSent = (reports: readonly DrainReport[]): number => reports.reduce((n, { sent }) => n + sent, 0);

const joined = (truths: readonly Truth[]): Truth => ({
  spans: truths.flatMap(({ spans }) => spans),
  streams: truths.flatMap(({ streams }) => streams),
  sessions: truths.reduce((n, { sessions }) => n + sessions, 0),
});
