import { once } from "node:events";
import type { RequestListener, Server } from "node:http";
import { createServer, request } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";

/** A forward proxy on this machine for tests. It resolves every host name to one backend. */
export interface TestProxy {
  readonly url: string;
  /** Method and target of each request, and the credentials that came with it. */
  readonly seen: { readonly target: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

/**
 * @param backendPort where all connections go
 * @param options.port a free one if not given
 * @param options.refuse responds to everything with this status
 * @param options.tls serves the proxy itself over TLS
 */
export async function startProxy(
  backendPort: number,
  {
    port: wanted = 0,
    refuse,
    tls,
  }: {
    readonly port?: number;
    readonly refuse?: number;
    readonly tls?: { readonly cert: string; readonly key: string };
  } = {},
): Promise<TestProxy> {
  const seen: TestProxy["seen"][number][] = [];
  const forward: RequestListener = (incoming, response) => {
    seen.push({ target: `${incoming.method} ${incoming.url}`, authorization: incoming.headers["proxy-authorization"] });
    if (refuse !== undefined) return response.writeHead(refuse).end();
    const { pathname } = new URL(incoming.url ?? "");
    const { method, headers } = incoming;
    const onward = request({ host: "127.0.0.1", port: backendPort, path: pathname, method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers);
      upstream.pipe(response);
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  };
  const server: Server = tls === undefined ? createServer(forward) : createTlsServer(tls, forward);
  const tunnels = new Set<Duplex>();
  server.on("connect", (incoming, socket) => {
    tunnels.add(socket.on("close", () => tunnels.delete(socket)));
    seen.push({ target: `CONNECT ${incoming.url}`, authorization: incoming.headers["proxy-authorization"] });
    if (refuse !== undefined) return socket.end(`HTTP/1.1 ${refuse} Refused\r\ncontent-length: 0\r\n\r\n`);
    const backend = connect(backendPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      backend.pipe(socket).pipe(backend);
    });
    backend.on("error", () => socket.destroy());
    socket.on("error", () => backend.destroy()).on("close", () => backend.destroy());
  });
  server.listen(wanted, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    seen,
    async close() {
      server.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
