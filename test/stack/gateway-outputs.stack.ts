import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useCertificates } from "../support/certificates.ts";
import { jaegerTrace, query } from "./ask.ts";
import { type Backend, type Gateway, post, RAW, shipped, startBackend, startGateway, TOKEN, until } from "./gateway.ts";
import { metrics, TRACE, trace } from "./gateway-payload.ts";
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

// The backends behind the gateway, and an agent's Collector before it.

const { collector, jaeger, prometheus } = await programs();

const certificates = useCertificates();

describe.skipIf(collector === undefined || jaeger === undefined || prometheus === undefined)(
  "behind the gateway",
  () => {
    let backends: { readonly jaeger: Jaeger; readonly pushed: Prometheus; readonly scraping: Prometheus };
    let gateway: Gateway;
    beforeAll(async () => {
      const { scrape } = await freePorts("scrape");
      backends = {
        jaeger: await startJaeger(jaeger ?? ""),
        pushed: await startPrometheus(prometheus ?? "", { otlp: true }),
        scraping: await startPrometheus(prometheus ?? "", { scrape: [`127.0.0.1:${scrape}`] }),
      };
      const outputs = ["outputs/jaeger.yaml", "outputs/prometheus-otlp.yaml", "outputs/prometheus-scrape.yaml"];
      gateway = await startGateway(collector ?? "", certificates, outputs, {
        OPENHOOK_JAEGER: backends.jaeger.otlpGrpc,
        OPENHOOK_PROMETHEUS: backends.pushed.url,
        OPENHOOK_SCRAPE_ADDRESS: `127.0.0.1:${scrape}`,
      });
      for (const [path, body] of Object.entries({ "/v1/traces": trace(), "/v1/metrics": metrics() })) {
        expect(await post(`${gateway.url}${path}`, body, { ca: certificates.ca.cert, token: TOKEN })).toBe(200);
      }
    });
    afterAll(async () => {
      await gateway?.remove();
      for (const backend of Object.values(backends ?? {})) await backend.remove();
    });

    test("Jaeger has the trace", async () => {
      await until("the span has come", async () => (await jaegerTrace(backends.jaeger.url, TRACE)).length === 1);
      const [span] = await jaegerTrace(backends.jaeger.url, TRACE);
      expect(span).toMatchObject({
        name: "chat",
        service: "claude-code",
        attributes: { "gen_ai.usage.input_tokens": 24_873 },
      });
    });

    test("Prometheus has the same name, labels and value, pushed or scraped", async () => {
      const expr = "openhook_token_usage_total";
      for (const { url } of [backends.pushed, backends.scraping]) {
        await until("the series has come", async () => (await query(url, expr)).length === 1);
        const [sample] = await query(url, expr);
        expect(sample?.value).toBe(24_873);
        expect(sample?.labels).toEqual({
          __name__: expr,
          job: "coding-agents/claude-code",
          instance: "machine-1",
          service_name: "claude-code",
          openhook_token_type: "input",
        });
      }
    });
  },
);

describe.skipIf(collector === undefined)("an agent before the gateway", () => {
  let backend: Backend;
  let gateway: Gateway;
  let agent: Collector;
  let agentUrl: string;
  beforeAll(async () => {
    backend = await startBackend();
    gateway = await startGateway(
      collector ?? "",
      certificates,
      ["outputs/otlp.yaml"],
      { OPENHOOK_BACKEND: backend.url },
      RAW,
    );
    const port = await freePorts("http", "grpc", "health");
    agentUrl = `http://127.0.0.1:${port.http}`;
    agent = await startCollector(collector ?? "", {
      configs: [
        shipped("agent.yaml"),
        {
          receivers: {
            otlp: {
              protocols: {
                http: { endpoint: `127.0.0.1:${port.http}` },
                grpc: { endpoint: `127.0.0.1:${port.grpc}` },
              },
            },
          },
          extensions: { health_check: { endpoint: `127.0.0.1:${port.health}` } },
          service: { telemetry: { metrics: { level: "none", readers: [] } } },
        },
      ],
      readyUrl: `http://127.0.0.1:${port.health}/`,
      env: {
        OPENHOOK_GATEWAY: gateway.url,
        OPENHOOK_GATEWAY_TOKEN: TOKEN,
        OPENHOOK_GATEWAY_CA: certificates.ca.certPath,
        OPENHOOK_AGENT_STORAGE: `${gateway.collector.folder}/agent`,
      },
    });
  });
  afterAll(async () => {
    await agent?.remove();
    await gateway?.remove();
    await backend?.close();
  });

  const send = async (body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const { status } = await fetch(`${agentUrl}/v1/traces`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(status).toBe(200);
  };
  const spansCome = (): readonly string[] => backend.bodies.join("").match(/"spanId":"[0-9a-f]+"/g) ?? [];

  test("forwards its data to the gateway, with its token", async () => {
    await send(trace("00f067aa0ba902b7"));
    await until("it has come", () => spansCome().length === 1);
  });

  test("keeps the data while the gateway is down, and after it is killed", async () => {
    await gateway.collector.server.kill();
    for (let index = 0; index < 20; index++) await send(trace(`${index}`.padStart(16, "c")));
    await agent.server.kill();
    await agent.server.start();
    await gateway.collector.server.start();
    // A gateway that is killed after sending and before noting it sends the span again, with the same id
    await until("all have come", () => new Set(spansCome()).size === 21);
  });
});
