import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { makeApp } from "./app.ts";
import type { ViewDeps } from "./deps.ts";
import { type Guard, makeGuard, SECURITY_HEADERS } from "./guard.ts";
import { liveDrains } from "./live-drains.ts";
import { watchStore } from "./watch-store.ts";

/** A running server. */
export interface ViewServer {
  readonly port: number;
  /** Valid while it runs. */
  readonly link: string;
  /** Valid once. @param onUsed called when it is used */
  readonly onceLink: (onUsed?: () => void) => string;
  /** Stops it and closes the connections of open pages. */
  close(): Promise<void>;
}

/**
 * Serves the page on 127.0.0.1 only.
 *
 * @param port 0: any free one
 * @throws the system's error if it cannot listen, e.g. with `code` `EADDRINUSE`
 */
export async function serveView(port: number, deps: ViewDeps): Promise<ViewServer> {
  const server = createServer();
  const listening = await listen(server, port);
  const guard = makeGuard(listening, deps.hosts);
  const changes = watchStore(deps.storePath);
  const drains = liveDrains(deps.drain);
  const app = makeApp(deps, { changes, drains }, guard.base);
  const respond = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => new Response("The request could not be read.\n", { status: 400 }),
  });
  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (isAdmitted(guard, request, response)) void respond(request, response);
  });
  return {
    port: listening,
    link: guard.link,
    onceLink: guard.onceLink,
    async close() {
      changes.close();
      await new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      });
      await drains.close();
    },
  };
}

// --- internal ---

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((done, failed) => {
    server.once("error", failed);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      server.off("error", failed);
      done((server.address() as AddressInfo).port);
    });
  });

/** @returns false if this function has sent the response */
function isAdmitted(
  guard: Guard,
  { method = "GET", url = "/", headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const verdict = guard.decide({ method, url, headers });
  if (verdict.kind === "pass") return true;
  if (verdict.kind === "enter") {
    const { cookie, location, isFromOtherSite } = verdict;
    if (!isFromOtherSite) response.writeHead(303, { location, "set-cookie": cookie }).end();
    else {
      // After a redirect the request would still count as one from the other site, without the cookie
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "set-cookie": cookie });
      response.end(
        `<!doctype html><meta http-equiv="refresh" content="0;url=${location}"><title>openhook-otel</title>`,
      );
    }
  } else {
    const allow = verdict.status === 405 ? { allow: "GET" } : {};
    response.writeHead(verdict.status, { "content-type": "text/plain; charset=utf-8", ...allow });
    response.end(`${verdict.text}\n`);
  }
  return false;
}
