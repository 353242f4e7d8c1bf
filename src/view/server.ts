import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { makeApp } from "./app.ts";
import { watchStore } from "./changes.ts";
import type { ViewDeps } from "./deps.ts";
import { type Guard, makeGuard, SECURITY_HEADERS } from "./guard.ts";

/** A server that runs. */
export interface ViewServer {
  readonly port: number;
  /** Good as long as it runs. */
  readonly link: string;
  /** Good once. */
  readonly onceLink: () => string;
  /** Ends it, also for pages that are open. */
  close(): Promise<void>;
}

/**
 * Serves the page on 127.0.0.1, to nobody else.
 *
 * @param port 0: any that is free
 * @throws the system's error when it cannot listen there, e.g. with `code` `EADDRINUSE`
 */
export async function serveView(port: number, deps: ViewDeps): Promise<ViewServer> {
  const server = createServer();
  const listening = await listen(server, port);
  const guard = makeGuard(listening);
  const changes = watchStore(deps.storePath);
  const app = makeApp(deps, changes, guard.base);
  const answer = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: () => new Response("The request could not be read.\n", { status: 400 }),
  });
  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (isAdmitted(guard, request, response)) void answer(request, response);
  });
  return {
    port: listening,
    link: guard.link,
    onceLink: guard.onceLink,
    close: () =>
      new Promise((done) => {
        changes.close();
        server.close(() => done());
        server.closeAllConnections();
      }),
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

/** @returns false where it has been answered here */
function isAdmitted(
  guard: Guard,
  { method = "GET", url = "/", headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const verdict = guard.judge({ method, url, headers });
  if (verdict.kind === "pass") return true;
  if (verdict.kind === "enter") {
    const { cookie, location, isLed } = verdict;
    if (!isLed) response.writeHead(303, { location, "set-cookie": cookie }).end();
    else {
      // A redirect would still be the other site's doing, and the cookie not be sent along
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
