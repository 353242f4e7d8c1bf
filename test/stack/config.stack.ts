import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { isTree, merged, type Tree } from "../../collector-config/src/helm.ts";
import { shipped } from "./gateway.ts";
import { programs } from "./programs.ts";

// Every configuration is checked by its program.

const { collector, jaeger, promtool } = await programs();
const folder = mkdtempSync(join(tmpdir(), "openhook-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

/** Variables that the configurations require, and those that differ between machines. */
const ENV = {
  PATH: process.env["PATH"],
  OPENHOOK_GATEWAY: "https://otel.example.com:4318",
  OPENHOOK_GATEWAY_TOKEN: "a-token",
  OPENHOOK_TOKENS_FILE: join(folder, "tokens"),
  OPENHOOK_TIER_2: "[127.0.0.1:4317, 127.0.0.2:4317]",
  OPENHOOK_BACKEND: "https://backend.example.com",
  OPENHOOK_LOKI: "https://loki.example.com",
  OPENHOOK_KAFKA: "[kafka.example.com:9092]",
};
writeFileSync(ENV.OPENHOOK_TOKENS_FILE, "a-token\n");

/** @returns why the program refuses the configuration; empty if it accepts it */
function refusal(program: string, paths: readonly string[], env: Readonly<Record<string, string | undefined>> = ENV) {
  const args = ["validate", ...paths.map((path) => `--config=${path}`)];
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: "utf8", timeout: 60_000 });
  const output = `${stdout}${stderr}`;
  // A deprecated setting counts as refused
  return status === 0 && !/deprecat/i.test(output) ? "" : `exit code ${status}: ${output}`;
}

const GATEWAY = ["gateway.yaml", "redaction.yaml"];
const OUTPUTS = ["outputs/tempo.yaml", "outputs/prometheus-otlp.yaml"];
const TIER_2 = ["gateway-scaled/tier-2.yaml", ...OUTPUTS];

/** Files that are used together, as the comments and the README say. */
const TOGETHER: Readonly<Record<string, readonly string[]>> = {
  agent: ["agent.yaml"],
  "gateway to Jaeger, Prometheus scrapes": [...GATEWAY, "outputs/jaeger.yaml", "outputs/prometheus-scrape.yaml"],
  "gateway to Tempo and Prometheus": [...GATEWAY, ...OUTPUTS],
  "gateway to any OTLP backend": [...GATEWAY, "outputs/otlp.yaml"],
  "gateway to any OTLP backend, with log records": [
    ...GATEWAY,
    "logs.yaml",
    "outputs/otlp.yaml",
    "outputs/otlp-logs.yaml",
  ],
  "gateway with log records to Loki": [...GATEWAY, "logs.yaml", ...OUTPUTS, "outputs/loki.yaml"],
  "gateway to everything at once": [
    ...GATEWAY,
    "logs.yaml",
    ...readdirSync(shipped("outputs")).map((name) => `outputs/${name}`),
  ],
  "gateway that keeps the agents' own telemetry apart": [...GATEWAY, "native.yaml", ...OUTPUTS],
  "first tier": [...GATEWAY, "gateway-scaled/tier-1.yaml"],
  "first tier to Kafka": [...GATEWAY, "gateway-scaled/tier-1-kafka.yaml"],
  "second tier": TIER_2,
  "second tier from Kafka": ["gateway-scaled/tier-2.yaml", "gateway-scaled/tier-2-kafka.yaml", ...OUTPUTS],
  "local stack": ["compose/collector.yaml"],
};

describe.skipIf(collector === undefined)("the Collector accepts", () => {
  test.each(Object.entries(TOGETHER))("%s", (_, files) => {
    expect(refusal(collector ?? "", files.map(shipped))).toBe("");
  });

  test("every configuration file is tested", () => {
    const all = ["", "outputs/", "gateway-scaled/", "compose/"].flatMap((below) =>
      readdirSync(shipped(below))
        .filter((name) => name.endsWith(".yaml"))
        .map((name) => `${below}${name}`),
    );
    const others = ["compose.yaml", "compose/jaeger.yaml", "compose/tempo.yaml", "compose/prometheus.yaml"];
    expect([...new Set([...Object.values(TOGETHER).flat(), ...others])].sort()).toEqual(all.sort());
  });

  test("an unknown setting is reported", () => {
    const path = join(folder, "slip.yaml");
    writeFileSync(path, readFileSync(shipped("agent.yaml"), "utf8").replace("num_consumers:", "num_consumer:"));
    expect(refusal(collector ?? "", [path])).toContain("num_consumer");
  });

  test("the gateway does not start without its redaction or without an output", () => {
    const without = (files: readonly string[]): string => refusal(collector ?? "", files.map(shipped));
    expect(without(["gateway.yaml", "outputs/otlp.yaml"])).toContain("redaction/");
    expect(without(GATEWAY)).toContain("no exporter");
    expect(without([...GATEWAY, "outputs/tempo.yaml"])).toContain("[metrics]");
  });

  test("an agent does not start without a token", () => {
    expect(refusal(collector ?? "", [shipped("agent.yaml")], { ...ENV, OPENHOOK_GATEWAY_TOKEN: "" })).toMatch(/token/);
  });
});

describe.skipIf(collector === undefined)("the Collector accepts the Helm chart for", () => {
  const config = (name: string): Tree => parse(readFileSync(shipped(`kubernetes/config/${name}.yaml`), "utf8")).config;
  const tempo = ["output-tempo", "output-prometheus-otlp"];

  test.each([
    ["gateway", ["gateway", ...tempo]],
    ["gateway, any backend", ["gateway", "output-otlp"]],
    ["gateway, Jaeger and a scrape", ["gateway", "output-jaeger", "output-prometheus-scrape"]],
    ["gateway, the agents' own telemetry apart", ["gateway", "native", ...tempo]],
    ["first tier", ["gateway", "tier-1"]],
    ["first tier to Kafka", ["gateway", "tier-1-kafka"]],
    ["second tier", ["tier-2", ...tempo]],
    ["second tier from Kafka", ["tier-2", "tier-2-kafka", ...tempo]],
  ])("%s", (_, names) => {
    // The chart's own values have receivers that our Collector lacks; our values remove them
    const relay = withoutNull(names.map(config).reduce(merged, CHART));
    const path = join(folder, "relay.yaml");
    writeFileSync(path, JSON.stringify(relay));
    const env = { ...ENV, MY_POD_IP: "127.0.0.1", OPENHOOK_TIER_2: "tier-2.example.com" };
    expect(refusal(collector ?? "", [path], env)).toBe("");
  });
});

describe.skipIf(jaeger === undefined)("Jaeger", () => {
  test("accepts the local stack's configuration", () => {
    expect(refusal(jaeger ?? "", [shipped("compose/jaeger.yaml")])).toBe("");
  });
});

describe.skipIf(promtool === undefined)("promtool", () => {
  test("accepts the local stack's configuration", () => {
    const rules = fileURLFolder("../dashboards/rules");
    const path = join(folder, "prometheus.yaml");
    const text = readFileSync(shipped("compose/prometheus.yaml"), "utf8");
    writeFileSync(path, text.replaceAll("/etc/prometheus/rules", rules));
    const { status, stdout, stderr } = spawnSync(promtool ?? "", ["check", "config", path], { encoding: "utf8" });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});

// --- internal ---

const fileURLFolder = (fromConfig: string): string => shipped(fromConfig);

/** The chart's default values (0.162). */
const CHART: Tree = {
  exporters: { debug: {} },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the Collector's own
  extensions: { health_check: { endpoint: "${env:MY_POD_IP}:13133" } },
  processors: {
    batch: {},
    memory_limiter: { check_interval: "5s", limit_percentage: 80, spike_limit_percentage: 25 },
  },
  receivers: {
    jaeger: { protocols: { grpc: { endpoint: "127.0.0.1:14250" } } },
    otlp: { protocols: { grpc: { endpoint: "127.0.0.1:4317" }, http: { endpoint: "127.0.0.1:4318" } } },
    prometheus: { config: { scrape_configs: [] } },
    zipkin: { endpoint: "127.0.0.1:9411" },
  },
  service: {
    telemetry: { resource: { "k8s.pod.name": "pod" }, metrics: { readers: [] } },
    extensions: ["health_check"],
    pipelines: {
      logs: { exporters: ["debug"], processors: ["memory_limiter", "batch"], receivers: ["otlp"] },
      metrics: { exporters: ["debug"], processors: ["memory_limiter", "batch"], receivers: ["otlp", "prometheus"] },
      traces: {
        exporters: ["debug"],
        processors: ["memory_limiter", "batch"],
        receivers: ["otlp", "jaeger", "zipkin"],
      },
    },
  },
};

/** For Helm, `null` removes a member. */
const withoutNull = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree)
      .filter(([, value]) => value !== null)
      .map(([key, value]) => [key, isTree(value) ? withoutNull(value) : value]),
  );
