import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Certificates } from "../support/certificates.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { freePorts } from "./process.ts";
import { type Collector, startCollector } from "./servers.ts";

/** A file below `collector-config/`, as it is shipped. */
export const shipped = (name: string): string =>
  fileURLToPath(new URL(`../../collector-config/${name}`, import.meta.url));

export const TOKEN = "a-token-of-payments";
export const OTHER_TOKEN = "a-token-of-search";

export type Env = Readonly<Record<string, string>>;

/** A running gateway, with a TLS certificate from `certificates` and tokens from a file. */
export interface Gateway {
  readonly collector: Collector;
  /** OTLP over HTTP, without a path. */
  readonly url: string;
  /** Its own figures, in Prometheus' format. */
  readonly metricsUrl: string;
  remove(): Promise<void>;
}

/** Starts the shipped gateway on free ports. @param outputs shipped files that follow gateway.yaml and redaction.yaml */
export async function startGateway(
  program: string,
  certificates: Certificates,
  outputs: readonly string[],
  env: Env = {},
  over: Readonly<Record<string, unknown>> = {},
): Promise<Gateway> {
  const port = await freePorts("http", "grpc", "health", "metrics");
  const folder = mkdtempSync(join(tmpdir(), "openhook-gateway-"));
  const tokens = join(folder, "tokens");
  writeFileSync(tokens, `${TOKEN} # payments\n${OTHER_TOKEN} # search\n`);
  const at = (name: keyof typeof port): string => `127.0.0.1:${port[name]}`;
  const collector = await startCollector(program, {
    configs: [
      ...["gateway.yaml", "redaction.yaml", ...outputs].map(shipped),
      {
        receivers: { otlp: { protocols: { http: { endpoint: at("http") }, grpc: { endpoint: at("grpc") } } } },
        extensions: { health_check: { endpoint: at("health") } },
        service: { telemetry: ownMetrics(port.metrics) },
        ...over,
      },
    ],
    readyUrl: `http://${at("health")}/`,
    env: {
      OPENHOOK_TOKENS_FILE: tokens,
      OPENHOOK_TLS_CERT: certificates.server.certPath,
      OPENHOOK_TLS_KEY: certificates.server.keyPath,
      OPENHOOK_GATEWAY_STORAGE: join(folder, "queue"),
      ...env,
    },
  });
  return {
    collector,
    url: `https://${at("http")}`,
    metricsUrl: `http://${at("metrics")}/metrics`,
    async remove() {
      await collector.remove();
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Configuration that serves a Collector's own metrics on a loopback port. */
export const ownMetrics = (port: number): Readonly<Record<string, unknown>> => ({
  metrics: { readers: [{ pull: { exporter: { prometheus: { host: "127.0.0.1", port } } } }] },
});

/** Sends OTLP/JSON by POST. @returns the HTTP status */
export function post(
  url: string,
  body: unknown,
  options: { readonly ca: string; readonly token?: string },
): Promise<number> {
  return new Promise((done, failed) => {
    const headers = {
      "content-type": "application/json",
      ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }),
    };
    const sent = request(url, { method: "POST", ca: options.ca, headers, timeout: 10_000 }, (answer) => {
      answer.resume();
      answer.on("end", () => done(answer.statusCode ?? 0));
    });
    sent.on("error", failed);
    sent.end(JSON.stringify(body));
  });
}

/** A backend that keeps request bodies unchanged. */
export interface Backend {
  readonly url: string;
  /** Bodies, in order. With `RAW` they are JSON. */
  readonly bodies: readonly string[];
  close(): Promise<void>;
}

/** Makes `outputs/otlp.yaml` send uncompressed JSON, which a text search can read. */
export const RAW = { exporters: { "otlp_http/backend": { compression: "none", encoding: "json" } } };

export async function startBackend(): Promise<Backend> {
  const bodies: string[] = [];
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      bodies.push(Buffer.concat(parts).toString("utf8"));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    bodies,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Waits until a condition is true. @throws with `what` after `timeoutMs` */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  for (const endMs = Date.now() + timeoutMs; !(await isSo()); await new Promise((done) => setTimeout(done, 50))) {
    if (Date.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
  }
}
