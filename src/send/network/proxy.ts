import type { Agent } from "node:http";
import { getProxyForUrl } from "proxy-from-env";
import { isLoopback } from "#kit/loopback.ts";
import type { NetworkFailure } from "./network-reason.ts";
import { createProxyAgent } from "./proxy-agent.lazy.ts";
import { shownUrl } from "./shown-url.ts";
import type { TlsFiles } from "./tls-files.ts";

/** The value of `otlp.proxy` that switches proxies off, even if variables name one. */
const DIRECT = "direct";

/** A proxy to use for one address. */
export interface HttpProxy {
  /** http: or https:, possibly with user and password. */
  readonly url: string;
  /** The setting or variable that names it, e.g. "HTTPS_PROXY". */
  readonly from: string;
}

/**
 * The proxy for an address: the one in the setting, otherwise the one in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY unless NO_PROXY
 * excludes the host. Lower-case names win over upper-case ones. Addresses of this machine are never reached through a proxy, and
 * proxies that are not HTTP (socks5:) are ignored.
 *
 * Reads the process's environment: a drain that a hook starts has removed what may come from a repository.
 *
 * @param setting `otlp.proxy`: a URL or `direct`. Absent for connections other than exports
 * @returns `undefined` for a direct connection
 */
export function proxyFor(url: URL, setting?: string): HttpProxy | undefined {
  // As in Go's HTTP client, and unlike curl: variables for a company's proxy must not divert what stays on this machine
  if (setting === DIRECT || isLoopback(url.hostname)) return undefined;
  if (setting !== undefined) return { url: setting, from: "otlp.proxy" };
  const proxy = getProxyForUrl(url.href);
  if (!/^https?:\/\//i.test(proxy) || !URL.canParse(proxy)) return undefined;
  return { url: proxy, from: variableFor(url.protocol) };
}

/** The agent that connects through a proxy. @param tls also for the connection to a proxy whose address is https: */
export const agentThrough = (proxy: HttpProxy, url: URL, tls: TlsFiles = {}): Agent =>
  createProxyAgent(proxy.url, url.protocol, tls);

/** Adds the proxy to the explanation of a failure before the backend was reached. */
export const failureOfProxy = (
  proxy: HttpProxy,
  { reason, isUntrusted }: Pick<NetworkFailure, "reason" | "isUntrusted">,
): NetworkFailure => ({
  ...(isUntrusted && { isUntrusted }),
  reason: `${nameOf(proxy)}: ${reason}`,
  remedy: `correct the proxy's address, add the backend's host to NO_PROXY, or set otlp.proxy to ${DIRECT}`,
});

/**
 * Explains a proxy's refusal to connect to the backend.
 *
 * @param status of the proxy's response
 * @param host of the backend, with port
 */
export const refusalOfProxy = (proxy: HttpProxy, status: number, host: string): NetworkFailure => ({
  reason: `${nameOf(proxy)} refused the connection to ${host} (${status})`,
  remedy:
    status === PROXY_AUTHENTICATION_REQUIRED
      ? "put user and password into the proxy's address: http://user:password@host:port"
      : `ask the proxy's operator to allow ${host}, or add it to NO_PROXY for a direct connection`,
});

/** The status with which proxies request credentials. */
export const PROXY_AUTHENTICATION_REQUIRED = 407;

/** For messages, without credentials, e.g. "proxy http://proxy.corp:3128 (HTTPS_PROXY)". */
export const nameOf = ({ url, from }: HttpProxy): string => `proxy ${shownUrl(url).replace(/\/$/, "")} (${from})`;

// --- internal ---

/** The variable that `getProxyForUrl` used. @param protocol as in `URL.protocol` */
function variableFor(protocol: string): string {
  const names = [`${protocol.slice(0, -1)}_proxy`, "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  return names.find((name) => (process.env[name] ?? "") !== "") ?? "ALL_PROXY";
}
