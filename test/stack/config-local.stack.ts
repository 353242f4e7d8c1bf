import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jaegerTrace, query } from "./ask.ts";
import { ownMetrics, shipped, until } from "./gateway.ts";
import { metrics, TRACE, trace } from "./gateway-payload.ts";
import { answers, freePorts, Server } from "./process.ts";
import { programs } from "./programs.ts";

// The local stack without containers: each configuration of compose.yaml in its program, as far as this machine has it.

const { collector, jaeger, prometheus } = await programs();

describe.skipIf(collector === undefined || jaeger === undefined || prometheus === undefined)("the local stack", () => {
  const folder = mkdtempSync(join(tmpdir(), "openhook-local-stack-"));
  const running: Server[] = [];
  let url: { readonly otlp: string; readonly jaeger: string; readonly prometheus: string };
  beforeAll(async () => {
    const port = await freePorts(
      "http",
      "grpc",
      "health",
      "scrape",
      "own",
      "query",
      "queryGrpc",
      "jaeger",
      "jaegerHttp",
      "web",
    );
    const jaegerHealth = (await freePorts("health")).health;
    const at = (name: keyof typeof port): string => `127.0.0.1:${port[name]}`;
    url = { otlp: `http://${at("http")}`, jaeger: `http://${at("query")}`, prometheus: `http://${at("web")}` };
    // In containers the programs find each other by name, here by port; nothing else differs
    const over = (name: string, config: object): string => {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify(config));
      return path;
    };
    const directories = { keys: join(folder, "keys"), values: join(folder, "values") };
    const start = (name: string, program: string, args: readonly string[], ready: string): Promise<Server> =>
      Server.started({ name, program, args, cwd: folder, isReady: () => answers(ready) });
    running.push(
      await start(
        "Jaeger",
        jaeger ?? "",
        [
          `--config=${shipped("compose/jaeger.yaml")}`,
          `--config=${over("jaeger.yaml", {
            receivers: {
              otlp: { protocols: { grpc: { endpoint: at("jaeger") }, http: { endpoint: at("jaegerHttp") } } },
            },
            extensions: {
              healthcheckv2: { http: { endpoint: `127.0.0.1:${jaegerHealth}` } },
              jaeger_query: { http: { endpoint: at("query") }, grpc: { endpoint: at("queryGrpc") } },
              jaeger_storage: { backends: { badger: { badger: { directories } } } },
            },
            service: { telemetry: { metrics: { level: "none", readers: [] } } },
          })}`,
        ],
        // The health checks of compose.yaml
        `http://127.0.0.1:${jaegerHealth}/status`,
      ),
      await start(
        "the Collector",
        collector ?? "",
        [
          `--config=${shipped("compose/collector.yaml")}`,
          `--config=${over("collector.yaml", {
            receivers: { otlp: { protocols: { http: { endpoint: at("http") }, grpc: { endpoint: at("grpc") } } } },
            extensions: {
              health_check: { endpoint: at("health") },
              file_storage: { directory: join(folder, "queue") },
            },
            exporters: { "otlp_grpc/jaeger": { endpoint: at("jaeger") }, prometheus: { endpoint: at("scrape") } },
            service: { telemetry: ownMetrics(port.own) },
          })}`,
        ],
        `http://${at("health")}/`,
      ),
    );
    const text = readFileSync(shipped("compose/prometheus.yaml"), "utf8")
      .replace("collector:9464", at("scrape"))
      .replace("collector:8888", at("own"))
      .replace("/etc/prometheus/rules", shipped("../dashboards/rules"))
      .replaceAll("15s", "1s");
    writeFileSync(join(folder, "prometheus.yaml"), text);
    const args = [
      `--config.file=${join(folder, "prometheus.yaml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=${at("web")}`,
    ];
    running.push(await start("Prometheus", prometheus ?? "", args, `${url.prometheus}/-/ready`));
  });
  afterAll(async () => {
    for (const server of running) await server.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  test("accepts and shows the data of openhook-otel", async () => {
    for (const [path, body] of Object.entries({ "/v1/traces": trace(), "/v1/metrics": metrics() })) {
      const headers = { "content-type": "application/json" };
      const { status } = await fetch(`${url.otlp}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      expect(status).toBe(200);
    }
    await until("Jaeger has the span", async () => (await jaegerTrace(url.jaeger, TRACE)).length === 1);
    const expr = "openhook_token_usage_total";
    await until("Prometheus has the count", async () => (await query(url.prometheus, expr)).length === 1);
    const [sample] = await query(url.prometheus, expr);
    expect(sample).toMatchObject({
      value: 24_873,
      labels: { job: "coding-agents/claude-code", instance: "machine-1" },
    });
    await until("and the Collector's own", async () => (await query(url.prometheus, "up == 1")).length === 2);
  });

  test("has the recording rules and alerts", async () => {
    const answer = await (await fetch(`${url.prometheus}/api/v1/rules`)).text();
    const types = new Set(answer.match(/(?<="type":")(alerting|recording)/g));
    expect([...types].sort()).toEqual(["alerting", "recording"]);
  });
});
