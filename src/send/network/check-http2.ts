import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { failureWithoutError, type NetworkFailure, networkFailure, notHttp2 } from "./network-reason.ts";
import { failureOfProxy, type HttpProxy, refusalOfProxy } from "./proxy.ts";
import { openRequest } from "./request.ts";
import { shownUrl } from "./shown-url.ts";
import type { TlsFiles } from "./tls-files.ts";

/**
 * Finds out why there is no HTTP/2 connection. A gRPC library reports that only as text; this connects again in the same way and has
 * the codes.
 *
 * @returns `undefined` if a server responds in HTTP/2
 */
export async function http2Failure(
  url: URL,
  { proxy, tls, timeoutMs }: { readonly proxy?: HttpProxy; readonly tls: TlsFiles; readonly timeoutMs: number },
): Promise<NetworkFailure | undefined> {
  const opened: Opened = [];
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<NetworkFailure>((resolve) => {
    timer = setTimeout(
      () =>
        resolve(failureWithoutError(`no answer from ${shownUrl(url.href)} within ${timeoutMs} ms`, url.href, "grpc")),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([tooLate, check(url, proxy, tls, opened)]);
  } finally {
    clearTimeout(timer);
    for (const one of opened) one.destroy();
  }
}

// --- internal ---

/** Is closed when the check is over. Requests for a tunnel too: a proxy that answers them later would open a connection that stays. */
type Opened = { destroy(): unknown }[];

async function check(
  url: URL,
  proxy: HttpProxy | undefined,
  tls: TlsFiles,
  opened: Opened,
): Promise<NetworkFailure | undefined> {
  try {
    const tunnel = proxy === undefined ? await openTcp(url, opened) : await openTunnel(url, proxy, opened);
    if (!("write" in tunnel)) return tunnel;
    const socket = url.protocol === "https:" ? await openTls(url, tunnel, tls, opened) : tunnel;
    if ("alpnProtocol" in socket && socket.alpnProtocol !== "h2") return notHttp2(url.href);
    return await firstBytes(url, socket, tls);
  } catch (error) {
    const failure = error instanceof Error ? error : new Error("unknown error");
    // The alert says that the server knows none of the protocols we offer: it has no HTTP/2
    if ("code" in failure && /NO_APPLICATION_PROTOCOL$/.test(String(failure.code))) return notHttp2(url.href);
    return networkFailure(failure, url.href, { over: "grpc", tls });
  }
}

function openTcp(url: URL, opened: Opened): Promise<Socket> {
  const socket = connectTcp({ host: hostOf(url), port: portOf(url) });
  opened.push(socket);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => resolve(socket));
    socket.on("error", reject);
  });
}

function openTunnel(url: URL, proxy: HttpProxy, opened: Opened): Promise<Socket | NetworkFailure> {
  const { username, password } = new URL(proxy.url);
  const target = `${url.hostname}:${portOf(url)}`;
  const userAndPassword = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return new Promise((resolve) => {
    const request = openRequest(new URL(proxy.url), {
      method: "CONNECT",
      path: target,
      auth: "",
      headers: {
        host: target,
        ...(userAndPassword !== ":" && {
          "proxy-authorization": `Basic ${Buffer.from(userAndPassword).toString("base64")}`,
        }),
      },
    });
    opened.push(request);
    request.on("connect", ({ statusCode = 0 }, socket) => {
      opened.push(socket);
      resolve(statusCode === 200 ? socket : refusalOfProxy(proxy, statusCode, target));
    });
    request.on("response", ({ statusCode = 0, socket }) => {
      opened.push(socket);
      resolve(refusalOfProxy(proxy, statusCode, target));
    });
    request.on("error", (error) => resolve(failureOfProxy(proxy, networkFailure(error, proxy.url))));
    request.on("close", () =>
      resolve(failureOfProxy(proxy, { reason: "the connection was closed without an answer" })),
    );
    request.end();
  });
}

function openTls(url: URL, socket: Socket, tls: TlsFiles, opened: Opened): Promise<TLSSocket> {
  const host = hostOf(url);
  // An address is no server name (RFC 6066); newer versions of Node refuse it
  const name = isIP(host) === 0 ? { servername: host } : {};
  const secured = connectTls({ socket, host, ...name, ALPNProtocols: ["h2"], ...tls });
  opened.push(secured);
  return new Promise((resolve, reject) => {
    secured.once("secureConnect", () => resolve(secured));
    secured.on("error", reject);
  });
}

/** Begins HTTP/2 and reads what the server responds first. */
function firstBytes(url: URL, socket: Socket, tls: TlsFiles): Promise<NetworkFailure | undefined> {
  return new Promise((resolve) => {
    socket.once("data", (bytes: Buffer) =>
      resolve(bytes.subarray(0, 5).toString("latin1") === "HTTP/" ? notHttp2(url.href) : undefined),
    );
    socket.on("error", (error) => resolve(networkFailure(error, url.href, { over: "grpc", tls })));
    socket.on("close", () =>
      resolve(
        failureWithoutError(`the connection to ${shownUrl(url.href)} was closed without an answer`, url.href, "grpc"),
      ),
    );
    socket.write(Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), EMPTY_SETTINGS]));
  });
}

/** Length 0 (3 bytes), type 4, no flags, stream 0. */
const EMPTY_SETTINGS = Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0);

/** Without the brackets of an IPv6 address. */
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port));
