import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SOURCES } from "../stack/programs.ts";

const FOLDER = fileURLToPath(new URL("../../collector-config/", import.meta.url));
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const load = (name: string) => parse(read(name), { merge: true });
const FILES = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"));

test.each(FILES)("%s is valid YAML without duplicate keys", (name) => {
  for (const document of parseAllDocuments(read(name), { merge: true })) expect(document.errors).toEqual([]);
});

test("the README names every file that is written by hand", () => {
  const readme = read("README.md");
  for (const name of FILES.filter(
    (path) => !/^(compose|kubernetes.config|build)./.test(path) || path === "compose.yaml",
  )) {
    expect(readme, name).toContain(name.replaceAll("\\", "/"));
  }
});

test("one release of the Collector everywhere: the one that the tests build", () => {
  const { version } = load("build/manifest.yaml").dist;
  expect(load("compose.yaml").services.collector.image).toBe(`otel/opentelemetry-collector-contrib:${version}`);
  for (const name of ["kubernetes/values-gateway.yaml", "kubernetes/values-tier-2.yaml"])
    expect(load(name).image.tag).toBe(version);
  expect(read("README.md")).toContain(version);
});

test("the local stack has the Prometheus that the tests run", () => {
  const recipe = SOURCES.find(({ name }) => name === "prometheus")?.recipe;
  // 3.15.0 is v0.315.0 to Go
  const [, minor, patch] = /^v0\.3(\d\d)\.(\d+)$/.exec(recipe?.kind === "go" ? recipe.version : "") ?? [];
  expect(load("compose.yaml").services.prometheus.image).toBe(`prom/prometheus:v3.${Number(minor)}.${patch}`);
});

test("the local stack's Tempo keeps whole sessions, and queries reach everything that it keeps", () => {
  const { distributor, query_frontend, overrides } = load("compose/tempo.yaml");
  expect(distributor.max_attribute_bytes).toBe(0);
  expect(overrides.defaults.global.max_bytes_per_trace).toBe(0);
  const hours = (text: string): number => Number(/^(\d+)h$/.exec(text)?.[1]);
  for (const { max_duration } of [query_frontend.search, query_frontend.metrics]) {
    // Grafana rounds a range up to whole steps
    expect(hours(max_duration)).toBeGreaterThan(hours(overrides.defaults.compaction.block_retention));
  }
});

test("every output to Prometheus has the labels by which dashboards and alerts filter", () => {
  const { processors } = load("outputs/prometheus-scrape.yaml");
  expect(JSON.stringify(processors)).toContain("deployment.environment.name");
  expect(load("outputs/prometheus-otlp.yaml").processors).toEqual(processors);
  expect(load("compose/collector.yaml").processors).toMatchObject(processors);
  for (const name of ["outputs/prometheus-scrape.yaml", "outputs/prometheus-otlp.yaml", "compose/collector.yaml"]) {
    const pipelines = Object.entries<{ processors?: string[] }>(load(name).service.pipelines);
    for (const [pipeline, { processors: used }] of pipelines) {
      if (pipeline.startsWith("metrics")) expect(used, `${name}: ${pipeline}`).toContain("transform/labels");
    }
  }
});

describe("who can reach it", () => {
  test("an agent's Collector and its own metrics: this machine only", () => {
    const { receivers, extensions, service } = load("agent.yaml");
    const { grpc, http } = receivers.otlp.protocols;
    const [reader] = service.telemetry.metrics.readers;
    const addresses = [
      grpc.endpoint,
      http.endpoint,
      extensions.health_check.endpoint,
      reader.pull.exporter.prometheus.host,
    ];
    for (const address of addresses) expect(address).toMatch(/^127\.0\.0\.1/);
  });

  test("the gateway: with TLS and a token, whatever the protocol", () => {
    const { protocols } = load("gateway.yaml").receivers.otlp;
    expect(Object.keys(protocols).sort()).toEqual(["grpc", "http"]);
    for (const name of ["grpc", "http"]) {
      expect(protocols[name]).toMatchObject({
        auth: { authenticator: "bearertokenauth" },
        tls: { min_version: "1.2" },
      });
    }
  });

  test("no file contains a token", () => {
    for (const name of FILES) expect(read(name), name).not.toMatch(/^\s*(token|password|api_key):\s*[^$\s]/m);
  });
});

describe("order and queues", () => {
  test.each(["agent.yaml", "gateway.yaml", "gateway-scaled/tier-2.yaml", "compose/collector.yaml"])(
    "%s: memory is limited first, and nothing is batched before it is on disk",
    (name) => {
      for (const { processors } of Object.values<{ processors: readonly string[] }>(load(name).service.pipelines)) {
        expect(processors[0]).toBe("memory_limiter");
        expect(processors).not.toContain("batch");
      }
    },
  );

  test("every exporter that sends keeps its queue on disk and never gives up", () => {
    for (const name of FILES.filter((path) => !/^(build|kubernetes)/.test(path))) {
      for (const [exporter, settings] of Object.entries<Record<string, unknown>>(load(name)?.exporters ?? {})) {
        if (!/^(otlp|load_balancing|kafka)/.test(exporter)) continue;
        expect(settings, `${name}: ${exporter}`).toMatchObject({
          sending_queue: { storage: "file_storage", sizer: "bytes" },
          retry_on_failure: { enabled: true, max_elapsed_time: 0 },
        });
      }
    }
  });

  test("counters have one writer at a time, so that they arrive in order", () => {
    expect(load("agent.yaml").exporters["otlp_http/gateway"].sending_queue.num_consumers).toBe(1);
    const queue = load("outputs/prometheus-otlp.yaml").exporters["otlp_http/prometheus"].sending_queue;
    expect(queue.num_consumers).toBe(1);
    // Prometheus refuses a whole request for one bad point, so a request must contain one machine's points only
    expect(queue.batch).toBeUndefined();
    const { exporters } = load("gateway-scaled/tier-1.yaml");
    expect(exporters["load_balancing/metrics"]).toMatchObject({
      routing_key: "streamID",
      sending_queue: { num_consumers: 1 },
    });
    expect(exporters["load_balancing/traces"].routing_key).toBe("traceID");
  });
});

describe("the local stack", () => {
  const { services, volumes } = load("compose.yaml");
  const all = Object.entries<{
    readonly image: string;
    readonly ports?: readonly string[];
    readonly volumes?: readonly string[];
    readonly healthcheck?: { readonly test: readonly string[] };
  }>(services);

  test.each(all)(
    "%s: a fixed version, ports on loopback only, mounts of existing files",
    (_, { image, ports = [], volumes: mounts = [] }) => {
      expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{OPENHOOK_STACK_[A-Z]+_PORT:-\d+\}:\d+$/);
      for (const mount of mounts) {
        const [from = ""] = mount.split(":");
        if (!from.startsWith(".")) expect(Object.keys(volumes)).toContain(from);
        else {
          expect(existsSync(join(FOLDER, from)), from).toBe(true);
          expect(mount).toMatch(/:ro$/);
        }
      }
    },
  );

  test("all data is in named volumes, and every service has a health check", () => {
    for (const name of ["collector", "jaeger", "tempo", "prometheus", "grafana"]) {
      expect(
        services[name].volumes.some((mount: string) => mount.startsWith(`${name}:`)),
        name,
      ).toBe(true);
    }
    const tests = all.flatMap(([, { healthcheck }]) => healthcheck?.test ?? []).join(" ");
    for (const place of ["127.0.0.1:9090", "127.0.0.1:3000", "collector:13133", "jaeger:13133", "tempo:3200"])
      expect(tests).toContain(place);
  });

  test("data sources have the uids that the dashboards use", () => {
    const { datasources } = load("compose/grafana/datasources/openhook.yaml");
    const uids = new Map<string, string>(
      datasources.map(({ uid, type }: { uid: string; type: string }) => [uid, type]),
    );
    expect(Object.fromEntries(uids)).toEqual({ prometheus: "prometheus", tempo: "tempo", jaeger: "jaeger" });
    for (const { url } of datasources) expect(Object.keys(services)).toContain(new URL(url).hostname);
  });

  test("Grafana's folder of dashboards is the one that is mounted, with its home page in it", () => {
    const { providers } = load("compose/grafana/dashboards/openhook.yaml");
    const { environment, volumes: mounts } = services.grafana;
    const path = providers[0].options.path;
    expect(mounts).toContain(`../dashboards:${path}:ro`);
    const home: string = environment.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH;
    expect(dirname(home)).toBe(path);
    expect(existsSync(join(FOLDER, "../dashboards", home.slice(path.length)))).toBe(true);
  });

  test("Prometheus scrapes the Collector, and keeps the machines' own labels", () => {
    const [machines] = load("compose/prometheus.yaml").scrape_configs;
    expect(machines).toMatchObject({ honor_labels: true, static_configs: [{ targets: ["collector:9464"] }] });
    expect(load("compose/collector.yaml").exporters.prometheus.endpoint).toBe("0.0.0.0:9464");
  });
});
