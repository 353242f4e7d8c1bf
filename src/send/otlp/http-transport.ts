import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { httpAgentFactoryFromOptions } from "@opentelemetry/otlp-exporter-base/node-http";
import type { OtlpSignalSettings } from "#core/model/settings.ts";
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
 */
export function createHttpTransport(
  settings: OtlpSignalSettings,
  { version, abort: signal, authorities, isCompressed = false }: TransportOptions,
): Transport {
  let ready: ReturnType<typeof prepare> | undefined;
  let closed = false;
  return {
    async send(data, timeoutMillis) {
      if (closed || signal?.aborted) return stopped(settings);
      ready ??= prepare(settings, authorities);
      try {
        const connection = await ready;
        const body = settings.compression === "gzip" && !isCompressed ? await compress(data) : data;
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

/** What all requests to one destination share. */
interface Connection extends Destination {
  readonly agent: Agent;
}

/** A request that can be sent more than once. */
interface HttpRequest {
  readonly connection: Connection;
  readonly settings: OtlpSignalSettings;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
  /** Ends the exchange early. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Sends a request once and reads the response.
 *
 * @param timeoutMs for request and response together
 * @returns rejects only if the request cannot be made, with Node's error
 */
const exchange = (request: HttpRequest, timeoutMs: number): Promise<TransportResponse> =>
  new Promise((resolve) => new Exchange(request, timeoutMs, resolve).start());

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

/** Longer responses are not read, nor unpacked. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * What a backend's response means.
 *
 * @param complete `data` is the whole body
 */
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

class Exchange {
  readonly #whole: HttpRequest;
  readonly #timeoutMs: number;
  readonly #resolve: (result: TransportResponse) => void;
  #timer: NodeJS.Timeout | undefined;
  #request: ClientRequest | undefined;
  #isThroughProxy = false;
  /** Once the status is known, a broken body changes nothing: a 200 means that the records were accepted. */
  #responseSoFar: (() => TransportResponse) | undefined;

  constructor(whole: HttpRequest, timeoutMs: number, resolve: (result: TransportResponse) => void) {
    this.#whole = whole;
    this.#timeoutMs = timeoutMs;
    this.#resolve = resolve;
  }

  /** @throws Node's error if the request cannot be made, e.g. for an invalid header */
  start(): void {
    const { connection, headers, body, signal } = this.#whole;
    const request = openRequest(connection.url, {
      method: "POST",
      agent: connection.agent,
      headers: { ...headers },
      // An agent for a proxy takes the backend's certificates from here
      ...(connection.proxy !== undefined && connection.tls),
    });
    this.#request = request;
    this.#timer = setTimeout(this.#onTimeout, this.#timeoutMs);
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    request.on("proxyConnect", this.#onProxyConnect);
    request.on("error", this.#onError);
    request.on("close", this.#onClose);
    request.on("response", this.#onResponse);
    request.end(body);
  }

  readonly #onTimeout = (): void =>
    this.#cutShort(this.#failure(`no answer from ${this.#shown} within ${this.#timeoutMs} ms`));

  readonly #onAbort = (): void =>
    this.#cutShort({ reason: `sending to ${shownUrl(this.#whole.settings.url)} was stopped` });

  readonly #onProxyConnect = ({ statusCode = 200 }: { readonly statusCode?: number }): void => {
    const { proxy, url } = this.#whole.connection;
    this.#isThroughProxy = true;
    if (statusCode !== 200 && proxy !== undefined) this.#cutShort(refusalOfProxy(proxy, statusCode, url.host));
  };

  readonly #onError = (error: Error): void => {
    const { connection, settings } = this.#whole;
    const { proxy } = connection;
    const isReused = this.#request?.reusedSocket === true;
    if (proxy === undefined || this.#isThroughProxy || isReused) {
      this.#cutShort(networkFailure(error, settings.url, connection), error, isReused && isBroken(error));
    } else this.#cutShort(failureOfProxy(proxy, networkFailure(error, proxy.url, connection)), error);
  };

  readonly #onClose = (): void =>
    this.#cutShort(this.#failure(`the connection to ${this.#shown} was closed without an answer`));

  readonly #onResponse = (response: IncomingMessage): void => {
    const { connection, settings } = this.#whole;
    const { proxy, url } = connection;
    if (response.statusCode === PROXY_AUTHENTICATION_REQUIRED && proxy !== undefined) {
      this.#cutShort(refusalOfProxy(proxy, response.statusCode, url.host));
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    this.#responseSoFar = () => toResponse(response, Buffer.concat(chunks), false, settings);
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_ANSWER_BYTES) chunks.push(chunk);
      else this.#cutShort({ reason: `the answer of ${shownUrl(settings.url)} is too long` });
    });
    response.on("end", () => this.#finish(toResponse(response, Buffer.concat(chunks), response.complete, settings)));
    response.on("error", (error) => this.#cutShort(networkFailure(error, settings.url, connection), error));
  };

  /** Ends the exchange with what is known of the response, or with the failure. */
  #cutShort({ reason, remedy, isUntrusted }: NetworkFailure, cause?: unknown, isStale = false): void {
    const error = new SendError(reason, { cause, remedy, isUntrusted });
    this.#finish(this.#responseSoFar?.() ?? { status: "retryable", error, ...(isStale && { isStale }) });
    this.#request?.destroy();
  }

  #finish(result: TransportResponse): void {
    clearTimeout(this.#timer);
    this.#whole.signal?.removeEventListener("abort", this.#onAbort);
    this.#resolve(result);
  }

  #failure(reason: string): NetworkFailure {
    return failureWithoutError(reason, this.#whole.settings.url);
  }

  /** The destination, and the proxy on the way to it. */
  get #shown(): string {
    const { connection, settings } = this.#whole;
    const by = connection.proxy === undefined ? "" : ` through ${nameOf(connection.proxy)}`;
    return `${shownUrl(settings.url)}${by}`;
  }
}

const isBroken = (error: Error): boolean => "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

const MAX_SHOWN_PATH = 200;

/** The only statuses after which the OTLP specification allows a retry with the same bytes. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

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
