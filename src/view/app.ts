import { createHash } from "node:crypto";
import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { DIMENSIONS } from "../report/dimensions.ts";
import { outlineOf, type SessionView, viewOf } from "../report/session-view.ts";
import { type Database, StoreError } from "../store/database.ts";
import { isPacked } from "../store/packed.ts";
import { readStore } from "../store/read-only.ts";
import type { StoredSession } from "../store/sessions.ts";
import { changesOver } from "./change-figures.ts";
import type { ViewDeps } from "./deps.ts";
import { findSession, stampOf, toDocument, toSpanDocument } from "./document.ts";
import { Download, downloadOf } from "./download.ts";
import { toExplanation } from "./explanation.ts";
import { toolsOver, usageOver } from "./figures.ts";
import { cachedFilterValues } from "./filter-values.ts";
import { homeOver } from "./home.ts";
import { listSessions } from "./list.ts";
import type { LiveDrains } from "./live-drains.ts";
import { promptAdder } from "./prompts.ts";
import { BadRequest, queryParams } from "./query-params.ts";
import { KnownBody, RecentDocuments, Tagged } from "./recent-documents.ts";
import { searchSpans } from "./search-spans.ts";
import type { Changes } from "./watch-store.ts";
import {
  type ApiError,
  type ExplanationDocument,
  type NoStore,
  type SessionDocument,
  SORTS,
  SPLITS,
  UNITS,
} from "./wire.ts";
import { CHANGE_GROUPS, CHANGE_SORTS } from "./wire-changes.ts";

/** What an open page is connected to. */
export interface Live {
  readonly changes: Changes;
  readonly drains: LiveDrains;
}

/**
 * Routes below `base`: the page's files from memory, and its data, each response from one snapshot of the store. The caller has checked
 * access.
 */
export function makeApp(viewDeps: ViewDeps, { changes, drains }: Live, base: string): Hono {
  const deps = { ...viewDeps, addPrompts: promptAdder(viewDeps), recent: new RecentDocuments() };
  const { agents, traceLink } = deps;
  const filterValues = cachedFilterValues(deps);
  const withIdle = () => ({
    ...deps,
    filterValues,
    idle: { nowMs: deps.now(), idleTimeoutMs: deps.idleTimeoutMs },
  });
  // Not strict, because the page's address ends with a slash
  const app = new Hono({ strict: false }).basePath(base.replace(/\/$/, ""));

  for (const [name, { type, body }] of deps.files) {
    app.get(name === "index.html" ? "/" : `/${name}`, (c) => c.body(body, 200, { "content-type": type }));
  }

  app.get("/api/home", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      const nowMs = deps.now();
      return homeOver(db, withIdle(), {
        ...params.texts("timeZone"),
        ...params.times("sinceMs", "untilMs", "beforeMs"),
        todayMs: params.number("todayMs", nowMs, 0, nowMs),
        yesterdayMs: params.number("yesterdayMs", nowMs, 0, nowMs),
        unit: params.oneOf("unit", UNITS, "day"),
      });
    }),
  );

  app.get("/api/sessions", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      return listSessions(db, withIdle(), {
        ...params.texts("agent", "repository", "model", "text"),
        ...params.times("fromMs", "toMs"),
        errors: params.flag("errors"),
        sort: params.oneOf("sort", SORTS, "recent"),
        descending: !params.flag("rising"),
        limit: params.number("limit", 50, 1, MAX_ROWS),
      });
    }),
  );

  app.get("/api/session", (c) =>
    respond(c, deps, (db) => {
      const stored = findSession(db, queryParams(c.req.query()).session());
      if (stored === undefined) return NO_SESSION;
      return whenChanged(c, deps, db, stored, (view) => {
        // A packed session is built for its spans, and the explanation asks for the same
        const shown = isPacked(db, stored.id) ? view() : outlineOf(db, stored, { agents }, deps.settings);
        return toDocument(db, shown, withIdle(), traceLink);
      });
    }),
  );

  app.get("/api/span", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      const stored = findSession(db, params.session());
      if (stored === undefined) return NO_SESSION;
      return toSpanDocument(db, stored, params.spanId(), deps) ?? NO_SPAN;
    }),
  );

  app.get("/api/explain", (c) =>
    respond(c, deps, (db) => {
      const stored = findSession(db, queryParams(c.req.query()).session());
      if (stored === undefined) return NO_SESSION;
      return whenChanged(c, deps, db, stored, (view) => toExplanation(db, view(), { agents }));
    }),
  );

  app.get("/api/search", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      const stored = findSession(db, params.session());
      return stored === undefined ? NO_SESSION : searchSpans(db, stored, params.texts("text").text ?? "", deps);
    }),
  );

  app.get("/api/usage", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      return usageOver(db, withIdle(), {
        ...params.texts("agent", "model", "repository", "timeZone"),
        ...params.times("sinceMs", "untilMs"),
        nowMs: deps.now(),
        unit: params.oneOf("unit", UNITS, "day"),
        split: params.oneOf("split", SPLITS, "model"),
      });
    }),
  );

  app.get("/api/tools", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      return toolsOver(db, withIdle(), {
        ...params.texts("agent", "repository"),
        ...params.times("sinceMs", "untilMs"),
        nowMs: deps.now(),
      });
    }),
  );

  app.get("/api/changes", (c) =>
    respond(c, deps, (db) => {
      const params = queryParams(c.req.query());
      const ofSession = params.texts("id").id !== undefined;
      const stored = ofSession ? findSession(db, params.session()) : undefined;
      if (ofSession && stored === undefined) return NO_SESSION;
      return changesOver(db, withIdle(), {
        ...params.texts("agent", "repository", "key", "text"),
        ...(stored !== undefined && { session: stored.id }),
        ...params.times("sinceMs", "untilMs"),
        nowMs: deps.now(),
        by: params.oneOf("by", CHANGE_GROUPS, "change"),
        sort: params.oneOf("sort", CHANGE_SORTS, "cost"),
        limit: params.number("limit", 50, 1, MAX_ROWS),
      });
    }),
  );

  for (const format of ["csv", "json"] as const) {
    app.get(`/api/report.${format}`, (c) =>
      respond(c, deps, (db) => {
        const params = queryParams(c.req.query());
        const query = {
          ...params.texts("agent", "model", "repository", "timeZone"),
          ...params.times("sinceMs", "untilMs"),
          by: params.listOf("by", DIMENSIONS),
        };
        return downloadOf(db, deps, query, format);
      }),
    );
  }

  app.get("/api/live", (c) =>
    streamSSE(c, async (stream) => {
      await new Promise<void>((done) => {
        const send = (event: string): void => void stream.writeSSE({ event, data: "" }).catch(() => done());
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
    }),
  );

  app.notFound((c) => c.text("Not found.\n", 404));
  app.onError((error, c) => {
    deps.log(`could not respond to ${c.req.path}: ${error.stack ?? error.message}`);
    return c.json(apiError("E_INTERNAL", "Internal error. The terminal shows details; please report it."), 500);
  });
  return app;
}

// --- internal ---

/** Shorter than the idle timeouts of proxies. */
const HEARTBEAT_MS = 20_000;

/** Far more than a user loads with fifty rows per click. */
const MAX_ROWS = 100_000;

const NO_SESSION = Symbol("no such session");
const NO_SPAN = Symbol("no such span");
const NOT_MODIFIED = Symbol("not modified");

interface ResponseDeps extends ViewDeps {
  readonly addPrompts: ReturnType<typeof promptAdder>;
  readonly recent: RecentDocuments;
}

/** @param read reads from one snapshot of the store; a symbol is the reason why there is no object */
async function respond(c: Context, deps: ResponseDeps, read: (db: Database) => object | symbol): Promise<Response> {
  try {
    const result = readStore(deps.storePath, read);
    if (result === undefined) {
      return c.json({ kind: "no-store", hint: await deps.noStoreMessage() } satisfies NoStore);
    }
    if (result === NOT_MODIFIED) return c.body(null, 304);
    if (result === NO_SESSION) return c.json(apiError("E_SESSION", NO_SESSION_MESSAGE), 404);
    if (result instanceof Download) return c.body(result.body, 200, result.headers);
    if (result === NO_SPAN) return c.json(apiError("E_SPAN", "This session no longer has this span."), 404);
    if (typeof result === "symbol") throw new Error(`no response for ${String(result)}`);
    if (result instanceof KnownBody) return jsonOf(c, result.body);
    const { document, isComplete } = await deps.addPrompts(result instanceof Tagged ? result.document : result);
    // Without a tag the page fetches it again, not only after the session has changed
    if (!isComplete) c.header("etag", undefined);
    const body = JSON.stringify(document);
    if (isComplete && result instanceof Tagged && result.canBeKept) deps.recent.keep(result.key, result.tag, body);
    return jsonOf(c, body);
  } catch (error) {
    if (error instanceof StoreError) return c.json(apiError(error.code, deps.describeStoreError(error)), 503);
    if (error instanceof BadRequest || error instanceof RangeError) {
      return c.json(apiError("E_USAGE", error.message), 400);
    }
    throw error;
  }
}

const jsonOf = (c: Context, body: string): Response => c.body(body, 200, { "content-type": "application/json" });

/** The session's data, unless the page has it already. */
function whenChanged(
  c: Context,
  { recent, agents, settings }: ResponseDeps,
  db: Database,
  stored: StoredSession,
  read: (view: () => SessionView) => SessionDocument | ExplanationDocument,
): object | symbol {
  // At another capture level the response has fewer names, and no prompt
  const stamp = `${stampOf(db, stored)} ${stored.capture}`;
  const tag = `"${createHash("sha256").update(stamp).digest("base64url")}"`;
  c.header("etag", tag);
  if (c.req.header("if-none-match") === tag) return NOT_MODIFIED;
  const key = JSON.stringify([c.req.path, stored.source, stored.sessionId]);
  const body = recent.body(key, tag);
  if (body !== undefined) return new KnownBody(body);
  const viewKey = JSON.stringify([stored.source, stored.sessionId, tag]);
  const view = () => recent.view(viewKey, () => viewOf(db, stored, { agents }, settings));
  return new Tagged(read(view), key, tag);
}

const NO_SESSION_MESSAGE = "The store does not have this session. It may have been pruned, or its project is excluded.";

const apiError = (code: string, message: string): ApiError => ({ kind: "error", code, message });
