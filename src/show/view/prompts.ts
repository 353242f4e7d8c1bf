import { readStore } from "#store/read-only.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { changesOver } from "./data/changes.ts";
import { findSession, type SessionDocument } from "./data/document.ts";
import type { foundOver } from "./data/found.ts";
import type { homeOver } from "./data/home.ts";
import type { SessionRow } from "./data/rows.ts";
import type { listSessions } from "./data/sessions.ts";
import type { ViewDeps } from "./deps.ts";

/** A document, with first prompt lines if it has rows of sessions. */
interface Prompted {
  readonly document: object;
  /** False: not all could be read in time, so the next response can have more. */
  readonly isComplete: boolean;
  /** Lines were read, and some are left for the next request. */
  readonly hasMore: boolean;
}

/** Adds first prompt lines to documents. Lines stay in this process's memory. */
export function promptAdder({
  storePath,
  promptLines,
}: Pick<ViewDeps, "storePath" | "promptLines">): (document: object) => Promise<Prompted> {
  const cache = new Map<number, Cached>();
  const isFresh = ({ id, lastMs }: StoredSession): boolean => {
    const cached = cache.get(id);
    return cached !== undefined && (cached.line !== undefined || cached.lastMs === lastMs);
  };
  return async (document) => {
    if (promptLines === undefined || !hasRows(document)) return { document, isComplete: true, hasMore: false };
    const rows = rowsOf(document);
    const sessions =
      readStore(storePath, (db) =>
        rows.flatMap((row) => findSession(db, { source: row.source, sessionId: row.session_id }) ?? []),
      ) ?? [];
    const wanted = sessions.filter(({ capture }) => capture !== "none");
    const unread = wanted.filter((session) => !isFresh(session));
    let read = 0;
    if (unread.length > 0) {
      // A title that cannot be read must not break the page, e.g. while another program replaces the store
      const lines = await promptLines(unread).catch(() => new Map<number, undefined>());
      for (const { id, lastMs } of unread) if (lines.has(id)) cache.set(id, { line: lines.get(id), lastMs });
      read = lines.size;
    }
    const shown = new Map(
      wanted.map((session) => [keyOf(session.source, session.sessionId), cache.get(session.id)?.line ?? null]),
    );
    const withPrompt = <R extends Titled>(row: R): R => ({
      ...row,
      prompt: shown.get(keyOf(row.source, row.session_id)) ?? null,
    });
    const isComplete = wanted.every(isFresh);
    return { document: mapRows(document, withPrompt), isComplete, hasMore: read > 0 && !isComplete };
  };
}

// --- internal ---

interface Cached {
  /** `undefined`: there was none when the session's last activity was at `lastMs`. */
  readonly line: string | undefined;
  readonly lastMs: number;
}

/** What shows the first prompt line of a session. */
type Titled = Pick<SessionRow, "source" | "session_id" | "prompt">;

type WithRows =
  | ReturnType<typeof homeOver>
  | ReturnType<typeof listSessions>
  | ReturnType<typeof changesOver>
  | Awaited<ReturnType<ReturnType<typeof foundOver>>>
  | SessionDocument;

const KINDS: ReadonlySet<unknown> = new Set<WithRows["kind"]>(["home", "sessions", "found", "changes", "session"]);

const hasRows = (document: object): document is WithRows => "kind" in document && KINDS.has(document.kind);

function mapRows(document: WithRows, map: <R extends Titled>(row: R) => R): WithRows {
  switch (document.kind) {
    case "home":
      return {
        ...document,
        running: document.running.map((running) => ({ ...running, row: map(running.row) })),
        recent: document.recent.map(map),
      };
    case "sessions":
      return { ...document, rows: document.rows.map(map) };
    case "found":
      return { ...document, rows: document.rows.map((found) => ({ ...found, row: map(found.row) })) };
    case "changes":
      return { ...document, rows: document.rows.map((row) => ({ ...row, sessions: row.sessions.map(map) })) };
    case "session":
      return { ...document, row: map(document.row) };
  }
}

function rowsOf(document: WithRows): readonly Titled[] {
  const rows: Titled[] = [];
  mapRows(document, (row) => {
    rows.push(row);
    return row;
  });
  return rows;
}

const keyOf = (source: string, sessionId: string): string => JSON.stringify([source, sessionId]);
