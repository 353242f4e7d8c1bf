import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import type { OtlpSignalSettings } from "../model/settings.ts";
import { failureWithoutError, type NetworkFailure, networkFailure } from "../network/network-reason.ts";
import {
  agentThrough,
  failureOfProxy,
  nameOf,
  PROXY_AUTHENTICATION_REQUIRED,
  refusalOfProxy,
} from "../network/proxy.ts";
import { type Agent, type ClientRequest, type IncomingMessage, openRequest } from "../network/request.ts";
import { shownUrl } from "../network/shown-url.ts";
import { TlsFileError } from "../network/tls-files.ts";
import { type Destination, readDestination } from "./destination.ts";
import {
  MAX_RETRY_AFTER_MS,
  SendError,
  type Transport,
  type TransportOptions,
  type TransportResponse,
} from "./transport-response.ts";

/**
 * OTLP over node:http and node:https. One attempt per call, and a second one if a kept connection turns out to be closed.
 * Unlike the SDK's transport it goes through a proxy if one is set, returns `Retry-After` and the body of every response,
 * limits the duration of request and response together (a server that sends its response slowly cannot block it), and follows
 * no redirects.
 *
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
        const attempt = (timeoutMs: number) =>
          exchange(connection, settings, headersOf(settings, version, body), body, timeoutMs, signal);
        const response = await attempt(timeoutMillis);
        if (response.isStale !== true) return response;
        return await attempt(Math.max(1, timeoutMillis - (performance.now() - beganMs)));
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

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_SHOWN_PATH = 200;

/** The only statuses after which the OTLP specification allows a retry with the same bytes. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

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

/** What all requests to one destination share. */
interface Connection extends Destination {
  readonly agent: Agent;
}

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

function exchange(
  connection: Connection,
  settings: OtlpSignalSettings,
  headers: Readonly<Record<string, string | number>>,
  body: Uint8Array,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<TransportResponse> {
  const { proxy } = connection;
  const shown = shownUrl(settings.url);
  return new Promise((resolve) => {
    let request: ClientRequest | undefined;
    // Once the status is known, a broken body changes nothing: a 200 means that the records were accepted
    let responseSoFar: (() => TransportResponse) | undefined;

    const finish = (result: TransportResponse) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      resolve(result);
    };
    const cutShort = ({ reason, remedy, isUntrusted }: NetworkFailure, cause?: unknown, isStale = false) => {
      const error = new SendError(reason, { cause, remedy, isUntrusted });
      finish(responseSoFar?.() ?? { status: "retryable", error, ...(isStale && { isStale }) });
      request?.destroy();
    };
    const onAbort = () => cutShort({ reason: `sending to ${shown} was stopped` });
    const without = (reason: string) => failureWithoutError(reason, settings.url);
    const by = proxy === undefined ? "" : ` through ${nameOf(proxy)}`;
    const timer = setTimeout(() => cutShort(without(`no answer from ${shown}${by} within ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });

    try {
      request = openRequest(connection.url, {
        method: "POST",
        agent: connection.agent,
        headers: { ...headers },
        // An agent for a proxy takes the backend's certificates from here
        ...(connection.proxy !== undefined && connection.tls),
      });
    } catch (error) {
      return finish({ status: "failure", error: toSendError(error) });
    }
    let isThroughProxy = false;
    request.on("proxyConnect", ({ statusCode = 200 }: { readonly statusCode?: number }) => {
      isThroughProxy = true;
      if (statusCode !== 200 && proxy !== undefined) cutShort(refusalOfProxy(proxy, statusCode, connection.url.host));
    });
    request.on("error", (error) => {
      const isStale = request?.reusedSocket === true && isBroken(error);
      if (proxy === undefined || isThroughProxy || request?.reusedSocket === true) {
        return cutShort(networkFailure(error, settings.url), error, isStale);
      }
      cutShort(failureOfProxy(proxy, networkFailure(error, proxy.url)), error);
    });
    request.on("close", () => cutShort(without(`the connection to ${shown}${by} was closed without an answer`)));
    request.on("response", (response) => {
      if (response.statusCode === PROXY_AUTHENTICATION_REQUIRED && proxy !== undefined) {
        return cutShort(refusalOfProxy(proxy, response.statusCode, connection.url.host));
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      responseSoFar = () => toResponse(response, Buffer.concat(chunks), false, settings);
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
        else cutShort({ reason: `the answer of ${shown} is too long` });
      });
      response.on("end", () => finish(toResponse(response, Buffer.concat(chunks), response.complete, settings)));
      response.on("error", (error) => cutShort(networkFailure(error, settings.url), error));
    });
    request.end(body);
  });
}

function toResponse(
  response: IncomingMessage,
  data: Buffer,
  complete: boolean,
  settings: OtlpSignalSettings,
): TransportResponse {
  const httpStatus = response.statusCode ?? 0;
  const dateMs = Date.parse(response.headers.date ?? "");
  return { ...verdictOf(response, data, complete, settings), httpStatus, ...(Number.isFinite(dateMs) && { dateMs }) };
}

function verdictOf(
  response: IncomingMessage,
  data: Buffer,
  complete: boolean,
  settings: OtlpSignalSettings,
): TransportResponse {
  const httpStatus = response.statusCode ?? 0;
  const shown = shownUrl(settings.url);
  if (httpStatus >= 200 && httpStatus < 300) {
    const contentType = response.headers["content-type"] ?? "";
    const unpacked = unpack(data, response.headers["content-encoding"]);
    if (isWebPage(contentType, unpacked ?? data)) {
      const message = `${shown} answered ${httpStatus} with a web page, which no OTLP receiver does`;
      return { status: "failure", error: new SendError(message, { httpStatus }) };
    }
    return { status: "success", data: unpacked ?? data, complete: complete && unpacked !== undefined, contentType };
  }
  if (httpStatus >= 300 && httpStatus < 400) {
    const target = redirectTarget(response.headers.location, settings.url);
    const message = `${shown} redirects to ${target} (${httpStatus}), and redirects are not followed`;
    return { status: "failure", error: new SendError(message, { httpStatus }) };
  }
  const error = new SendError(`${shown} answered ${httpStatus}`, { httpStatus, body: data });
  if (!RETRYABLE_STATUSES.has(httpStatus)) return { status: "failure", error };
  const retryInMillis = retryAfterMs(response.headers["retry-after"]);
  return { status: "retryable", error, ...(retryInMillis === undefined ? {} : { retryInMillis }) };
}

/**
 * A web page means that the response is not from an OTLP endpoint, but from a login portal, a proxy or the backend's user
 * interface.
 */
const isWebPage = (contentType: string, data: Uint8Array): boolean =>
  /^\s*text\/html\b/i.test(contentType) ||
  /^\s*<(?:!doctype html|html)\b/i.test(Buffer.from(data.subarray(0, 200)).toString());

/** We request no compression, but some servers compress. @returns `undefined` if it cannot be decompressed */
function unpack(data: Buffer, encoding: string | undefined): Buffer | undefined {
  if (data.length === 0 || !/^\s*(?:x-)?gzip\s*$/i.test(encoding ?? "")) return data;
  try {
    return gunzipSync(data, { maxOutputLength: MAX_ANSWER_BYTES });
  } catch {
    return undefined;
  }
}

const isBroken = (error: Error): boolean => "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** Origin and path: credentials and the query of a Location may be secret. */
function redirectTarget(location: string | undefined, base: string): string {
  if (location === undefined || !URL.canParse(location, base)) return "an address it does not name";
  const { origin, protocol, pathname } = new URL(location, base);
  if (origin === "null") return `a ${protocol} address`;
  return `${origin}${pathname.length > MAX_SHOWN_PATH ? `${pathname.slice(0, MAX_SHOWN_PATH)}…` : pathname}`;
}

/** Seconds or an HTTP date, as milliseconds from now, at most an hour; undefined if absent or unreadable. */
function retryAfterMs(header: string | undefined): number | undefined {
  const text = header?.trim() ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
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
