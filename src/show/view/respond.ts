import { createHash } from "node:crypto";
import type { Context } from "hono";
import { type Database, StoreError } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type SessionView, viewOf } from "../report/session-view.ts";
import { type SessionDocument, stampOf } from "./data/document.ts";
import { Download } from "./data/download.ts";
import type { ExplanationDocument } from "./data/explanation.ts";
import type { FilterValues } from "./data/filter-values.ts";
import type { RowDeps } from "./data/rows.ts";
import type { SessionTools } from "./data/tool-times.ts";
import type { ViewDeps } from "./deps.ts";
import type { promptAdder } from "./prompts.ts";
import { BadRequest, type QueryParams, queryParams } from "./query-params.ts";
import { KnownBody, type RecentDocuments, Tagged } from "./recent-documents.ts";
import type { RecentLines } from "./recent-lines.ts";
import { type ApiError, HAS_MORE, type NoStore } from "./wire/api.ts";

/** What all responses share. */
export interface ResponseDeps extends ViewDeps {
  readonly addPrompts: ReturnType<typeof promptAdder>;
  readonly filterValues: (db: Database) => FilterValues;
  readonly recent: RecentDocuments;
  readonly recentLines: RecentLines;
  readonly sessionTools: SessionTools;
}

/** A request, and the snapshot of the store that its response is read from. */
export interface Reading {
  readonly context: Context;
  readonly params: QueryParams;
  readonly db: Database;
  readonly deps: ResponseDeps & Pick<RowDeps, "idle">;
}

/** @returns what the response is made of, or the reason why there is nothing */
export type Read = (reading: Reading) => object | Missing;

export const NO_SESSION = Symbol("no such session");
export const NO_SPAN = Symbol("no such span");
const NOT_MODIFIED = Symbol("not modified");
type Missing = typeof NO_SESSION | typeof NO_SPAN | typeof NOT_MODIFIED;

/** The response to a request for data; for a request that cannot be answered, one with the reason. */
export async function respond(context: Context, deps: ResponseDeps, read: Read): Promise<Response> {
  try {
    const idle = { nowMs: deps.now(), idleTimeoutMs: deps.idleTimeoutMs };
    const params = queryParams(context.req.query());
    const result = readStore(deps.storePath, (db) => read({ context, params, db, deps: { ...deps, idle } }));
    if (result === undefined) {
      return context.json({ kind: "no-store", hint: await deps.noStoreMessage() } satisfies NoStore);
    }
    if (typeof result === "symbol") return missing(context, result);
    if (result instanceof Download) return context.body(result.body, 200, result.headers);
    if (result instanceof KnownBody) return jsonOf(context, result.body);
    if (!(result instanceof Later)) return await respondWithPrompts(context, deps, result);
    const document = await result.document();
    let prompted = await deps.addPrompts(document);
    // The page does not ask again for these
    while (prompted.hasMore) prompted = await deps.addPrompts(prompted.document);
    const body = JSON.stringify(prompted.document);
    result.keep?.(body, document);
    return jsonOf(context, body);
  } catch (error) {
    if (error instanceof StoreError) return context.json(apiError(error.code, deps.describeStoreError(error)), 503);
    if (error instanceof BadRequest || error instanceof RangeError) {
      return context.json(apiError("E_USAGE", error.message), 400);
    }
    throw error;
  }
}

/** The document about a session, unless the page has it already. */
export function whenChanged<T extends SessionDocument | ExplanationDocument>(
  reading: Reading,
  stored: StoredSession,
  read: (view: () => SessionView) => T,
): Tagged<T> | KnownBody | typeof NOT_MODIFIED {
  const found = bodyWhenChanged(reading, stored);
  return "tag" in found
    ? new Tagged(
        read(() => recentView(reading, stored)),
        found.key,
        found.tag,
      )
    : found.response;
}

/**
 * What is read from the agent's own files, unless the page has it already: they are not read again for what happens in other sessions.
 *
 * @param read starts reading; what it returns is called after the store was closed
 * @param isWorthKeeping false: the next request reads the files again
 */
export function laterWhenChanged<T extends object>(
  reading: Reading,
  stored: StoredSession,
  read: (view: SessionView) => () => Promise<T>,
  isWorthKeeping: (document: T) => boolean,
): Later<T> | KnownBody | typeof NOT_MODIFIED {
  const found = bodyWhenChanged(reading, stored);
  if (!("tag" in found)) return found.response;
  const view = recentView(reading, stored);
  const { key, tag } = found;
  // More can be added to the file of an open session before a drain notices
  const isOver = view.segments.every(({ endMs }) => endMs !== undefined);
  return new Later(read(view), (body, document) => {
    if (isOver && isWorthKeeping(document)) reading.deps.recent.keep(key, tag, body);
  });
}

/** The view of a session, which is not built again for the next request about it. */
export function recentView({ db, deps: { recent, agents, settings } }: Reading, stored: StoredSession): SessionView {
  const key = JSON.stringify([stored.source, stored.sessionId, tagOf(db, stored)]);
  return recent.view(key, () => viewOf(db, stored, { agents }, settings));
}

export const apiError = (code: string, message: string): ApiError => ({ kind: "error", code, message });

/** A document that is completed after the store was read, from the agent's own files. */
export class Later<T extends object = object> {
  readonly document: () => Promise<T>;
  readonly keep: ((body: string, document: T) => void) | undefined;

  /** @param keep keeps the response for the next request. @default it is read again */
  constructor(document: () => Promise<T>, keep?: (body: string, document: T) => void) {
    this.document = document;
    this.keep = keep;
  }
}

// --- internal ---

/** The response that is known already, or the place of the one that has to be made. */
function bodyWhenChanged(
  { context, db, deps: { recent } }: Reading,
  stored: StoredSession,
): { readonly key: string; readonly tag: string } | { readonly response: KnownBody | typeof NOT_MODIFIED } {
  const tag = tagOf(db, stored);
  context.header("etag", tag);
  if (context.req.header("if-none-match") === tag) return { response: NOT_MODIFIED };
  const key = JSON.stringify([context.req.path, stored.source, stored.sessionId]);
  const body = recent.body(key, tag);
  return body === undefined ? { key, tag } : { response: new KnownBody(body) };
}

/** The tag of what is shown of a session now. */
function tagOf(db: Database, stored: StoredSession): string {
  // At another capture level the response has fewer names, and no prompt
  const stamp = `${stampOf(db, stored)} ${stored.capture}`;
  return `"${createHash("sha256").update(stamp).digest("base64url")}"`;
}

function missing(context: Context, reason: Missing): Response {
  switch (reason) {
    case NOT_MODIFIED:
      return context.body(null, 304);
    case NO_SESSION:
      return context.json(apiError("E_SESSION", NO_SESSION_MESSAGE), 404);
    case NO_SPAN:
      return context.json(apiError("E_SPAN", "This session no longer has this span."), 404);
  }
}

const NO_SESSION_MESSAGE = "The store does not have this session. It may have been pruned, or its project is excluded.";

/** The document with the first prompt lines of its sessions; kept for the next request if it stays as it is. */
async function respondWithPrompts(context: Context, deps: ResponseDeps, result: object): Promise<Response> {
  const { document, isComplete, hasMore } = await deps.addPrompts(result instanceof Tagged ? result.document : result);
  // Without a tag the page fetches it again, not only after the session has changed
  if (!isComplete) context.header("etag", undefined);
  // The page shows the rows and asks again at once: what takes long to read is not worth a wait
  if (hasMore || ("hasMore" in document && document.hasMore === true)) context.header(HAS_MORE, "1");
  const body = JSON.stringify(document);
  if (isComplete && result instanceof Tagged && result.canBeKept) deps.recent.keep(result.key, result.tag, body);
  return jsonOf(context, body);
}

const jsonOf = (context: Context, body: string): Response =>
  context.body(body, 200, { "content-type": "application/json" });
