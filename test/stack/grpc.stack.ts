// Recorded sessions over OTLP/gRPC: the built program, an agent's Collector, the gateway, Jaeger, Prometheus.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startProxy } from "../support/proxy.ts";
import { sum } from "./ask.ts";
import { type Chain, startChain } from "./chain.ts";
import { arrived, counted, expectSeries, expectTraces, nameOf } from "./compare.ts";
import { programs } from "./programs.ts";
import { recordings, Team, totalOf } from "./sessions.ts";

const { collector, jaeger, prometheus, oldPrometheus } = await programs();

describe.skipIf(collector === undefined || jaeger === undefined)("over gRPC", () => {
  let chain: Chain;
  let team: Team;
  beforeAll(async () => {
    chain = await startChain({ collector: collector ?? "", jaeger: jaeger ?? "", prometheus, oldPrometheus });
    team = await Team.at((await recordings()).filter((_, index) => index % 4 === 0));
  });
  afterAll(async () => {
    team?.remove();
    await chain?.remove();
  });

  const settings = () => ({ OPENHOOK_OTEL_OTLP_PROTOCOL: "grpc", OPENHOOK_OTEL_OTLP_ENDPOINT: chain.grpcEndpoint });

  test("a Collector that is down: everything stays queued", async () => {
    await chain.agent.server.stop();
    const reports = await team.drain(settings());
    expect(reports.reduce((n, { sent }) => n + sent, 0)).toBe(0);
    await chain.agent.server.start();
  });

  test("then every span is in Jaeger once, each trace with its tree", async () => {
    const reports = await team.drain({ ...settings(), OPENHOOK_OTEL_OTLP_MAX_SPANS_PER_REQUEST: "7" });
    const truth = team.truth();
    expect(reports.reduce((n, { sent }) => n + sent, 0)).toBe(truth.spans.length);
    await arrived(chain.jaeger.url, truth);
    await expectTraces(chain.jaeger.url, truth);
  });

  const backends = [
    ["that scrapes", oldPrometheus ?? prometheus, (at: Chain) => at.scraping],
    ["that is sent OTLP", prometheus, (at: Chain) => at.receiving],
  ] as const;

  test.each(backends)("a Prometheus %s has every series, to the token", async (_, program, of) => {
    if (program === undefined) return;
    const url = of(chain)?.url ?? "";
    await counted(url, team.truth());
    await expectSeries(url, team.truth());
    expect(await sum(url, `last_over_time(${nameOf("openhook.token.usage")}[1h])`)).toBe(
      totalOf(team.truth(), "openhook.token.usage"),
    );
  });

  test("a drain sends nothing if there is nothing new", async () => {
    const again = await team.drain(settings());
    expect(again.reduce((n, { sent }) => n + sent, 0)).toBe(0);
  });

  // Last, because Prometheus then has more series
  test.each([
    ["grpc", 1],
    ["http/protobuf", 2],
  ] as const)("other machines' spans are there once too, through a proxy, over %s", async (protocol, offset) => {
    const { port } = new URL(protocol === "grpc" ? chain.grpcEndpoint : chain.endpoint);
    const proxy = await startProxy(Number(port));
    const others = await Team.at((await recordings()).filter((_, index) => index % 16 === offset));
    try {
      // Only the proxy can resolve the name
      const said = await others.drain({
        OPENHOOK_OTEL_OTLP_PROTOCOL: protocol,
        OPENHOOK_OTEL_OTLP_ENDPOINT: `http://collector.example:${port}`,
        OPENHOOK_OTEL_OTLP_PROXY: proxy.url,
      });
      const truth = others.truth();
      expect(said.reduce((n, { sent }) => n + sent, 0)).toBe(truth.spans.length);
      expect(new Set(proxy.seen.map(({ target }) => target.split(" ")[0]))).toEqual(
        new Set([protocol === "grpc" ? "CONNECT" : "POST"]),
      );
      await arrived(chain.jaeger.url, truth);
      await expectTraces(chain.jaeger.url, truth);
    } finally {
      others.remove();
      await proxy.close();
    }
  });
});
