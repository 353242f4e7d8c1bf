import { Hono } from "hono";
import { cachedFilterValues } from "./data/filter-values.ts";
import type { ViewDeps } from "./deps.ts";
import { type Live, streamLive } from "./live-events.ts";
import { promptAdder } from "./prompts.ts";
import { READS } from "./reads.ts";
import { RecentDocuments } from "./recent-documents.ts";
import { apiError, type ResponseDeps, respond } from "./respond.ts";

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
