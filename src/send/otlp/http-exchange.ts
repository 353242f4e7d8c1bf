import type { OtlpSignalSettings } from "#core/model/settings.ts";
import { failureWithoutError, type NetworkFailure, networkFailure } from "../network/network-reason.ts";
import { failureOfProxy, nameOf, PROXY_AUTHENTICATION_REQUIRED, refusalOfProxy } from "../network/proxy.ts";
import { type Agent, type ClientRequest, type IncomingMessage, openRequest } from "../network/request.ts";
import { shownUrl } from "../network/shown-url.ts";
import type { Destination } from "./destination.ts";
import { MAX_ANSWER_BYTES, toResponse } from "./http-response.ts";
import { SendError, type TransportResponse } from "./transport-response.ts";

/** What all requests to one destination share. */
export interface Connection extends Destination {
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
export const exchange = (request: HttpRequest, timeoutMs: number): Promise<TransportResponse> =>
  new Promise((resolve) => new Exchange(request, timeoutMs, resolve).start());

// --- internal ---

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
