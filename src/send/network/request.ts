import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { type RequestOptions, request as requestHttps } from "node:https";

export type { Agent, ClientRequest, IncomingMessage } from "node:http";

/**
 * Opens every outgoing connection of the program: OTLP exports and the queries of `reconcile`. Anything that applies to all of
 * them belongs here. proxy.ts has the agents for connections through a proxy.
 *
 * @param url http: or https:
 * @returns the request, to be ended by the caller; errors are emitted on it
 */
export const openRequest = (
  url: URL,
  options: RequestOptions,
  onResponse?: (response: IncomingMessage) => void,
): ClientRequest => (url.protocol === "https:" ? requestHttps : requestHttp)(url, options, onResponse);
