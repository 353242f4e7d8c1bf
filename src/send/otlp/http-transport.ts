import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { agentThrough } from "../network/proxy.ts";
import { shownUrl } from "../network/shown-url.ts";
import { TlsFileError } from "../network/tls-files.ts";
import { readDestination } from "./destination.ts";
import { type Connection, exchange } from "./http-exchange.ts";
import { SendError, type Transport, type TransportOptions, type TransportResponse } from "./transport-response.ts";

/**
 * OTLP over node:http and node:https. One attempt per call, and a second one if a kept connection turns out to be closed.
 * Unlike the SDK's transport it goes through a proxy if one is set, returns `Retry-After` and the body of every response,
 * limits the duration of request and response together (a server that sends its response slowly cannot block it), and follows
 * no redirects.
 */
export function createHttpTransport(
  settings: OtlpSignalSettings,
  { version, abort: signal, authorities }: TransportOptions,
): Transport {
  let ready: ReturnType<typeof prepare> | undefined;
  let closed = false;
  return {
    async send(data, timeoutMillis) {
      if (closed || signal?.aborted) return stopped(settings);
      ready ??= prepare(settings, authorities);
      try {
        const connection = await ready;
        const body = settings.compression === "gzip" ? await compress(data) : data;
        if (signal?.aborted) return stopped(settings);
        const beganMs = performance.now();
        const request = { connection, settings, headers: headersOf(settings, version, body), body, signal };
        const response = await exchange(request, timeoutMillis);
        if (response.isStale !== true) return response;
        return await exchange(request, Math.max(1, timeoutMillis - (performance.now() - beganMs)));
      } catch (error) {
        return { status: "failure", error: toSendError(error) };
      }
    },
    shutdown() {
      closed = true;
      ready?.then(
        ({ agent }) => agent.destroy(),
        () => {},
      );
    },
  };
}

// --- internal ---

/** Headers that describe the message framing; settings must not contradict them. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "transfer-encoding",
]);

const compress = promisify(gzip);

async function prepare(settings: OtlpSignalSettings, authorities: string[] | undefined): Promise<Connection> {
  const { url, tls, proxy } = await readDestination(settings, authorities);
  if (proxy !== undefined) return { url, proxy, tls, agent: agentThrough(proxy, url, tls) };
  const agent = await httpAgentFactoryFromOptions({ keepAlive: true, ...tls })(url.protocol);
  return { url, tls, agent };
}

function headersOf(settings: OtlpSignalSettings, version: string, body: Uint8Array): Record<string, string | number> {
  const chosen = Object.entries(settings.headers).filter(([name]) => !FRAMING_HEADERS.has(name.toLowerCase()));
  return {
    "user-agent": `openhook-otel/${version}`,
    ...Object.fromEntries(chosen.map(([name, value]) => [name.toLowerCase(), value])),
    "content-type": settings.protocol === "http/json" ? "application/json" : "application/x-protobuf",
    "content-length": body.length,
    ...(settings.compression === "gzip" ? { "content-encoding": "gzip" } : {}),
  };
}

function stopped(settings: OtlpSignalSettings): TransportResponse {
  return { status: "retryable", error: new SendError(`sending to ${shownUrl(settings.url)} was stopped`) };
}

/** Failures before the first byte. Node's messages about headers are not shown, because they can contain header values. */
function toSendError(error: unknown): SendError {
  if (error instanceof SendError) return error;
  if (error instanceof TlsFileError) return new SendError(error.message, { cause: error });
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const isHeader =
    code === "ERR_INVALID_CHAR" || code === "ERR_INVALID_HTTP_TOKEN" || code === "ERR_HTTP_INVALID_HEADER_VALUE";
  const message = isHeader
    ? `one of the headers set for OTLP is not a valid HTTP header (${code})`
    : `the OTLP request cannot be made (${code})`;
  return new SendError(message, { cause: error });
}
