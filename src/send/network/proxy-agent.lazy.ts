import type { Agent } from "node:http";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import type { TlsFiles } from "./tls-files.ts";

/**
 * Requests in absolute form for http: addresses, CONNECT for https: ones.
 *
 * @param proxy http: or https:, possibly with user and password
 * @param protocol of the address, as in `URL.protocol`
 * @param tls for the connection to the proxy; that to the backend takes its own from the request
 */
export function createProxyAgent(proxy: string, protocol: string, tls: TlsFiles): Agent {
  const options = { keepAlive: true, ...tls };
  return protocol === "https:" ? new HttpsProxyAgent(proxy, options) : new HttpProxyAgent(proxy, options);
}
