import { makeCertificates } from "../support/certificates.ts";
import { type Env, type Gateway, ownMetrics, shipped, startGateway, TOKEN } from "./gateway.ts";
import { freePorts } from "./process.ts";
import type { Programs } from "./programs.ts";
import {
  type Collector,
  type Jaeger,
  type Prometheus,
  startCollector,
  startJaeger,
  startPrometheus,
} from "./servers.ts";

/** What `startChain` needs; at least one of the two Prometheus programs. */
export type Links = Pick<Programs, "prometheus" | "oldPrometheus"> & {
  readonly [name in "collector" | "jaeger"]: NonNullable<Programs[name]>;
};

/**
 * The whole path with the shipped configurations: an agent's Collector on loopback, TLS and a token to the gateway,
 * redaction, queues on disk, Jaeger, and Prometheus by scrape and by OTLP.
 */
export interface Chain {
  /** For openhook-otel on the machines: OTLP over HTTP, and over gRPC. */
  readonly endpoint: string;
  readonly grpcEndpoint: string;
  readonly agent: Collector;
  readonly gateway: Gateway;
  readonly jaeger: Jaeger;
  /** Scrapes the gateway; Debian's 2.x if it is installed. */
  readonly scraping: Prometheus | undefined;
  /** Receives OTLP, which only 3.x can. */
  readonly receiving: Prometheus | undefined;
  remove(): Promise<void>;
}

export async function startChain(links: Links): Promise<Chain> {
  const port = await freePorts("scrape", "http", "grpc", "health", "metrics");
  const at = (name: keyof typeof port): string => `127.0.0.1:${port[name]}`;
  const certificates = makeCertificates();
  const started: { remove(): Promise<void> | void }[] = [certificates];
  const kept = async <T extends { remove(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
    const one = await starting;
    started.unshift(one);
    return one;
  };
  const remove = async (): Promise<void> => {
    for (const one of started) await one.remove();
  };
  try {
    const jaeger = await kept(startJaeger(links.jaeger));
    const scraper = links.oldPrometheus ?? links.prometheus;
    const scraping =
      scraper === undefined
        ? undefined
        : await kept(startPrometheus(scraper, { scrape: [at("scrape")], everySeconds: 5 }));
    const receiving =
      links.prometheus === undefined
        ? undefined
        : await kept(
            startPrometheus(links.prometheus, {
              otlp: true,
              config: {
                storage: { tsdb: { out_of_order_time_window: "7d" } },
                otlp: { keep_identifying_resource_attributes: true },
              },
            }),
          );
    const outputs = [
      "outputs/jaeger.yaml",
      "outputs/prometheus-scrape.yaml",
      ...(receiving === undefined ? [] : ["outputs/prometheus-otlp.yaml"]),
    ];
    const env: Env = {
      OPENHOOK_JAEGER: jaeger.otlpGrpc,
      OPENHOOK_SCRAPE_ADDRESS: at("scrape"),
      ...(receiving !== undefined && { OPENHOOK_PROMETHEUS: receiving.url }),
    };
    const gateway = await kept(startGateway(links.collector, certificates, outputs, env));
    const agent = await kept(
      startCollector(links.collector, {
        configs: [
          shipped("agent.yaml"),
          {
            receivers: { otlp: { protocols: { http: { endpoint: at("http") }, grpc: { endpoint: at("grpc") } } } },
            extensions: { health_check: { endpoint: at("health") } },
            service: { telemetry: ownMetrics(port.metrics) },
          },
        ],
        readyUrl: `http://${at("health")}/`,
        env: {
          OPENHOOK_GATEWAY: gateway.url,
          OPENHOOK_GATEWAY_TOKEN: TOKEN,
          OPENHOOK_GATEWAY_CA: certificates.ca.certPath,
          OPENHOOK_AGENT_STORAGE: "queue",
        },
      }),
    );
    const endpoints = { endpoint: `http://${at("http")}`, grpcEndpoint: `http://${at("grpc")}` };
    return { ...endpoints, agent, gateway, jaeger, scraping, receiving, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
