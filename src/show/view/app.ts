import { type Context, Hono } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { cachedFilterValues } from "./data/filter-values.ts";
import { SessionTools } from "./data/tool-times.ts";
import type { ViewDeps } from "./deps.ts";
import type { LiveDrains } from "./live-drains.ts";
import { promptAdder } from "./prompts.ts";
import { READS } from "./reads.ts";
import { RecentDocuments } from "./recent-documents.ts";
import { RecentLines } from "./recent-lines.ts";
import { apiError, type ResponseDeps, respond } from "./respond.ts";
import type { Changes } from "./watch-store.ts";

/**
 * Routes below `base`: the page's files from memory, its data, each response from one snapshot of the store, and the stream that says
 * when the data has changed. The caller has checked access.
 */
export function makeApp(viewDeps: ViewDeps, live: Live, base: string): Hono {
  const deps: ResponseDeps = {
    ...viewDeps,
    addPrompts: promptAdder(viewDeps),
    filterValues: cachedFilterValues(viewDeps),
    recent: new RecentDocuments(),
    recentLines: new RecentLines(viewDeps),
    sessionTools: new SessionTools(viewDeps),
  };
  // Not strict, because the page's address ends with a slash
  const app = new Hono({ strict: false }).basePath(base.replace(/\/$/, ""));
  for (const [name, { type, body }] of deps.files) {
    app.get(name === "index.html" ? "/" : `/${name}`, (c) => c.body(body, 200, { "content-type": type }));
  }
  for (const [path, read] of Object.entries(READS)) app.get(`/api/${path}`, (c) => respond(c, deps, read));
  app.get("/api/live", (c) => streamLive(c, live));
  app.notFound((c) => c.text("Not found.\n", 404));
  app.onError((error, c) => {
    deps.log(`could not respond to ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json(apiError("E_INTERNAL", "Internal error. The terminal shows details; please report it."), 500);
  });
  return app;
}
// --- internal ---

/** What an open page is connected to. */
interface Live {
  readonly changes: Changes;
  readonly drains: LiveDrains;
}

/** Sends an event whenever the store has changed, as long as the page is open. */
const streamLive = (context: Context, live: Live): Response =>
  streamSSE(context, (stream) => untilClosed(stream, live));

/** Shorter than the idle timeouts of proxies. */
const HEARTBEAT_MS = 20_000;

const untilClosed = (stream: SSEStreamingApi, { changes, drains }: Live): Promise<void> =>
  new Promise((done) => {
    const send = (event: string): void => void stream.writeSSE({ event, data: "" }).catch(() => end());
    const unsubscribe = changes.subscribe(() => send("change"));
    const leave = drains.join();
    // Only a write detects a closed connection
    const heartbeat = setInterval(() => send("heartbeat"), HEARTBEAT_MS);
    const end = (): void => {
      clearInterval(heartbeat);
      unsubscribe();
      leave();
      changes.closed.removeEventListener("abort", end);
      done();
    };
    stream.onAbort(end);
    changes.closed.addEventListener("abort", end, { once: true });
    send("connected");
  });
