import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answers, freePorts, Server } from "./process.ts";

/** A running Collector. */
export interface Collector {
  readonly server: Server;
  /** The folder in which its configuration stores data; removed by `remove`. */
  readonly folder: string;
  remove(): Promise<void>;
}

/**
 * Starts a Collector with configuration files; later ones override earlier ones, as with `--config`.
 *
 * @param options.configs paths, or a configuration as an object with the ports, which comes last
 * @param options.readyUrl of its health_check extension: responds with 200 when it accepts requests
 */
export async function startCollector(
  program: string,
  options: {
    readonly configs: readonly (string | Readonly<Record<string, unknown>>)[];
    readonly readyUrl: string;
    readonly env?: Readonly<Record<string, string>>;
  },
): Promise<Collector> {
  const folder = temporary("collector");
  const paths = options.configs.map((config, index) => {
    if (typeof config === "string") return config;
    const path = join(folder, `config-${index}.yaml`);
    writeFileSync(path, JSON.stringify(config, null, 2)); // JSON is YAML
    return path;
  });
  return held(folder, {
    name: "the Collector",
    program,
    args: paths.map((path) => `--config=${path}`),
    env: options.env ?? {},
    cwd: folder,
    isReady: () => answers(options.readyUrl),
  });
}

/** A running Jaeger. */
export interface Jaeger {
  readonly server: Server;
  /** Base URL of its API. */
  readonly url: string;
  /** For OTLP over HTTP, without a path. */
  readonly otlpHttp: string;
  readonly otlpGrpc: string;
  remove(): Promise<void>;
}

/**
 * Starts Jaeger. @param storage on disk it survives a kill; in memory, Jaeger's own default, it does not @default disk
 */
export async function startJaeger(program: string, storage: "disk" | "memory" = "disk"): Promise<Jaeger> {
  const folder = temporary("jaeger");
  const port = await freePorts("query", "queryGrpc", "http", "grpc");
  const at = (name: keyof typeof port): string => `127.0.0.1:${port[name]}`;
  const [keys, values] = [join(folder, "keys"), join(folder, "values")];
  for (const directory of [keys, values]) mkdirSync(directory);
  const config = {
    extensions: {
      jaeger_storage: {
        backends: {
          disk: { badger: { directories: { keys, values }, ephemeral: false, ttl: { spans: "48h" } } },
          memory: { memory: { max_traces: 100_000 } },
        },
      },
      jaeger_query: {
        storage: { traces: storage },
        http: { endpoint: at("query") },
        grpc: { endpoint: at("queryGrpc") },
      },
    },
    receivers: { otlp: { protocols: { http: { endpoint: at("http") }, grpc: { endpoint: at("grpc") } } } },
    exporters: { jaeger_storage_exporter: { trace_storage: storage } },
    service: {
      extensions: ["jaeger_storage", "jaeger_query"],
      // No batch processor: accepted data is stored immediately, so a kill loses nothing by batching
      pipelines: { traces: { receivers: ["otlp"], exporters: ["jaeger_storage_exporter"] } },
      telemetry: { metrics: { level: "none" } },
    },
  };
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config, null, 2));
  const url = `http://${at("query")}`;
  const { server, remove } = await held(folder, {
    name: "Jaeger",
    program,
    args: [`--config=${join(folder, "config.yaml")}`],
    cwd: folder,
    isReady: () => answers(`${url}/api/services`),
  });
  return { server, remove, url, otlpHttp: `http://${at("http")}`, otlpGrpc: at("grpc") };
}

/** A running Prometheus. */
export interface Prometheus {
  readonly server: Server;
  readonly url: string;
  /** OTLP metrics go to `/v1/metrics` below it; 3.x only. */
  readonly otlp: string;
  remove(): Promise<void>;
}

export interface PrometheusOptions {
  /** `host:port` of targets, scraped with honor_labels. @default none */
  readonly scrape?: readonly string[];
  /** Accepts OTLP, which 2.x cannot. @default false */
  readonly otlp?: boolean;
  readonly rules?: readonly string[];
  /** Between two scrapes, and between two evaluations of rules without an interval. @default 1 */
  readonly everySeconds?: number;
  /** Where its data is or will be. @default a new folder */
  readonly data?: string;
  /** More arguments. @default none */
  readonly args?: readonly string[];
  /** Replaces sections of its configuration. @default nothing */
  readonly config?: Readonly<Record<string, unknown>>;
}

export async function startPrometheus(program: string, options: PrometheusOptions = {}): Promise<Prometheus> {
  const { scrape = [], otlp = false, rules = [], everySeconds = 1, config = {}, args = [] } = options;
  const folder = temporary("prometheus");
  const port = await freePorts("web");
  const settings = {
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    ...(rules.length > 0 && { rule_files: rules }),
    scrape_configs:
      scrape.length === 0 ? [] : [{ job_name: "collector", honor_labels: true, static_configs: [{ targets: scrape }] }],
    ...config,
  };
  writeFileSync(join(folder, "prometheus.yml"), JSON.stringify(settings, null, 2));
  const url = `http://127.0.0.1:${port.web}`;
  const { server, remove } = await held(folder, {
    name: "Prometheus",
    program,
    args: [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${options.data ?? join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port.web}`,
      ...(otlp ? ["--web.enable-otlp-receiver"] : []),
      ...args,
    ],
    cwd: folder,
    isReady: () => answers(`${url}/-/ready`),
  });
  return { server, remove, url, otlp: `${url}/api/v1/otlp` };
}

// --- internal ---

const temporary = (name: string): string => mkdtempSync(join(tmpdir(), `openhook-${name}-`));

async function held(
  folder: string,
  start: Parameters<typeof Server.started>[0],
): Promise<{ readonly server: Server; readonly folder: string; remove(): Promise<void> }> {
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  const server = await Server.started(start).catch((error: unknown) => {
    removeFolder();
    throw error;
  });
  return {
    server,
    folder,
    async remove() {
      await server.kill();
      removeFolder();
    },
  };
}
