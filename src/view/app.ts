import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { type Database, StoreError } from "../store/database.ts";
import { readStore } from "../store/read-only.ts";
import type { Changes } from "./changes.ts";
import { cachedFilterValues } from "./choices.ts";
import type { ViewDeps } from "./deps.ts";
import { findSession, stampOf, toDocument, toSpanDocument } from "./document.ts";
import { toolsOver, usageOver } from "./figures.ts";
import { listSessions } from "./list.ts";
import { BadRequest, queryParams } from "./query-params.ts";
import { type NothingYet, SORTS, SPLITS, type Trouble, UNITS } from "./wire.ts";

/**
 * Everything that is served below `base`: the page's files from memory, and its data, each response from one snapshot of the store.
 * Access was checked before.
 */
export function makeApp(deps: ViewDeps, changes: Changes, base: string): Hono {
  const figures = { agents: deps.agents, known: cachedFilterValues(deps) };
  // Not strict, because the page's address ends with a slash
  const app = new Hono({ strict: false }).basePath(base.replace(/\/$/, ""));

  for (const [name, { type, body }] of deps.files) {
    app.get(name === "index.html" ? "/" : `/${name}`, (c) => c.body(body, 200, { "content-type": type }));
  }

  app.get("/api/sessions", (c) =>
    answer(c, deps, (db) => {
      const ask = queryParams(c.req.query());
      return listSessions(db, figures, {
        ...ask.texts("agent", "repository", "model", "text"),
        ...ask.times("fromMs", "toMs"),
        errors: ask.flag("errors"),
        sort: ask.oneOf("sort", SORTS, "recent"),
        falling: !ask.flag("rising"),
        limit: ask.number("limit", 50, 1, MAX_ROWS),
      });
    }),
  );

  app.get("/api/session", (c) =>
    answer(c, deps, (db) => {
      const stored = findSession(db, queryParams(c.req.query()).session());
      if (stored === undefined) return NO_SESSION;
      const tag = `"${createHash("sha256").update(stampOf(db, stored)).digest("base64url")}"`;
      c.header("etag", tag);
      return c.req.header("if-none-match") === tag ? NOT_MODIFIED : toDocument(db, stored, deps);
    }),
  );

  app.get("/api/span", (c) =>
    answer(c, deps, (db) => {
      const ask = queryParams(c.req.query());
      const stored = findSession(db, ask.session());
      if (stored === undefined) return NO_SESSION;
      return toSpanDocument(db, stored, ask.spanId(), deps) ?? NO_SPAN;
    }),
  );

  app.get("/api/usage", (c) =>
    answer(c, deps, (db) => {
      const ask = queryParams(c.req.query());
      return usageOver(db, figures, {
        ...ask.texts("agent", "model", "repository", "timeZone"),
        ...ask.times("sinceMs"),
        nowMs: deps.now(),
        unit: ask.oneOf("unit", UNITS, "day"),
        split: ask.oneOf("split", SPLITS, "model"),
      });
    }),
  );

  app.get("/api/tools", (c) =>
    answer(c, deps, (db) => {
      const ask = queryParams(c.req.query());
      return toolsOver(db, figures, {
        ...ask.texts("agent", "repository"),
        ...ask.times("sinceMs"),
        nowMs: deps.now(),
      });
    }),
  );

  app.get("/api/live", (c) =>
    streamSSE(c, async (stream) => {
      await new Promise<void>((done) => {
        const send = (event: string): void => void stream.writeSSE({ event, data: "" }).catch(() => done());
        const stop = changes.subscribe(() => send("change"));
        // A closed connection is only noticed when writing to it
        const beat = setInterval(() => send("beat"), BEAT_MS);
        const end = (): void => {
          clearInterval(beat);
          stop();
          changes.closed.removeEventListener("abort", end);
          done();
        };
        stream.onAbort(end);
        changes.closed.addEventListener("abort", end, { once: true });
        send("here");
      });
    }),
  );

  app.notFound((c) => c.text("Not found.\n", 404));
  app.onError((error, c) => {
    deps.log(`could not respond to ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json(troubleOf("E_INTERNAL", "Internal error. The terminal shows details; please report it."), 500);
  });
  return app;
}

// --- internal ---

/** Shorter than the idle timeouts of proxies. */
const BEAT_MS = 20_000;

/** Far more than a user loads, at fifty rows a click. */
const MAX_ROWS = 100_000;

const NO_SESSION = Symbol("no such session");
const NO_SPAN = Symbol("no such span");
const NOT_MODIFIED = Symbol("not modified");

/** @param look reads one snapshot of the store; returns a symbol if there is no such object */
async function answer(c: Context, deps: ViewDeps, look: (db: Database) => object | symbol): Promise<Response> {
  try {
    const found = readStore(deps.storePath, look);
    if (found === undefined) {
      return c.json({ kind: "nothing", advice: await deps.nothingYet() } satisfies NothingYet);
    }
    if (found === NOT_MODIFIED) return c.body(null, 304);
    if (found === NO_SESSION) return c.json(troubleOf("E_SESSION", GONE), 404);
    if (found === NO_SPAN) return c.json(troubleOf("E_SPAN", "This session no longer has this span."), 404);
    return c.json(found);
  } catch (error) {
    if (error instanceof StoreError) return c.json(troubleOf(error.code, deps.describeStoreError(error)), 503);
    if (error instanceof BadRequest || error instanceof RangeError) {
      return c.json(troubleOf("E_USAGE", error.message), 400);
    }
    throw error;
  }
}

const GONE = "The store does not have this session. It may have been pruned, or its project is excluded.";

const troubleOf = (code: string, message: string): Trouble => ({ kind: "trouble", code, message });
