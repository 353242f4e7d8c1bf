// Tables as written by 0.90.0, read 2026-11-26; what they do not contain: README.md beside this file

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { defined } from "#kit/objects.ts";
import { firstRowsOf, idsByFirstRow } from "../shared/transcript/first-calls.ts";
import { type MessageTable, readMessages, tableMemo } from "../shared/transcript/message-table.ts";
import { type Dated, inOrder, reportProblem } from "../shared/transcript/past.ts";
import { partOf, sessionIn, sessionTree, type TreeSession } from "../shared/transcript/session-tree.ts";
import { columnsOf, openDatabase, queryDatabase, type Row, type View } from "../shared/transcript/sqlite.ts";
import { messagesContent } from "./content.ts";
import { DATABASE, databasesBelow, dataFolders, projectOf } from "./places.ts";
import { callRows, type MessageRow, messageAt, messagesAfter, messagesById, timeMsOf } from "./rows.ts";
import { INITIAL_STATE, type WalkSession, type WalkState, walk } from "./walk.ts";

/** One session of the database. */
interface SessionRow extends TreeSession {
  readonly createdMs: number;
}

const SESSIONS = sessionTree<SessionRow>({
  name: "sessions",
  parent: "parent_session_id",
  columns: "id, parent_session_id, created_at",
  order: "created_at, rowid",
  exists: (db) => columnsOf(db, "sessions").has("parent_session_id"),
  toSession,
});

export default {
  roots: dataFolders,
  /** All sessions of all databases, without subagents. If one database is unreadable, the others are still read. */
  async *locate(query) {
    const sessions = new Map<string, Dated>();
    for (const path of new Set(query.roots.flatMap(databasesBelow))) {
      try {
        for (const { id, createdMs } of await queryIn(path, query.roots, SESSIONS.rootSessions)) {
          if (!sessions.has(id)) sessions.set(id, { sessionId: id, path, startMs: createdMs });
        }
      } catch (error) {
        reportProblem(query, path, error);
      }
    }
    yield* inOrder(sessions.values(), query);
  },
  /** One part per session: the requested one, then its subagents at any depth. If the session was deleted, there is one empty part. */
  async files({ sessionId, path: reported, home, roots }) {
    const usual = (roots ?? dataFolders(home, {})).map((folder) => join(folder, DATABASE));
    const candidates = [...new Set([...(reported === undefined ? [] : [reported]), ...usual])].filter((p) =>
      existsSync(p),
    );
    let failure: unknown;
    for (const path of candidates) {
      try {
        const found = await queryIn(path, roots, (db) => SESSIONS.sessionAndBelow(db, sessionId));
        if (found.length > 0) return found.map(({ id }) => partOf(path, id, id === sessionId ? undefined : id));
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return reported !== undefined && candidates.includes(reported) ? [partOf(reported, sessionId, undefined)] : [];
  },
  async *read(file, from, wanted = {}) {
    const sessionId = sessionIn(file);
    const db = await openDatabase({ path: file.path, roots: file.roots, tables: TABLES });
    try {
      const row = SESSIONS.sessionRow(db, sessionId);
      const place = { idAt: (at: number) => messageAt(db, at), initial: INITIAL_STATE };
      let memo = tableMemo(place, from);
      const parent = row === undefined ? undefined : SESSIONS.parentOf(db, row);
      if (row === undefined || (parent !== undefined && file.agentId === undefined)) {
        const entries = row === undefined || parent === undefined ? [] : [sessionEntry(row, undefined, parent.id)];
        yield { entries, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
        return;
      }
      const root = SESSIONS.rootOf(db, row);
      const session: WalkSession = {
        ...(file.agentId !== undefined && { agentId: file.agentId }),
        callIdOf: uniqueCallIds(db, [root.id, ...SESSIONS.descendants(db, root.id).map(({ id }) => id)]),
      };
      const first = memo.isTold ? [] : [beginning(db, row, parent, root, session, file.path)];
      memo = { ...memo, isTold: true };
      yield { entries: first, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
      const table: MessageTable<MessageRow, WalkState> = {
        ...place,
        agentId: file.agentId,
        after: (at, limit) => messagesAfter(db, sessionId, at, limit),
        byId: (ids) => messagesById(db, sessionId, ids),
        isReadable: (message) => message.isReadable,
        walk: (message, state) => walk(message, state, session),
        ...(wanted.content === true && { content: (rows, entries) => messagesContent(db, rows, entries) }),
      };
      yield* readMessages(table, memo);
    } finally {
      db.close();
    }
  },
} satisfies TranscriptReader;

// --- internal ---

/** Makes call ids unique within these sessions: a session, and all its subagents after it. */
const uniqueCallIds = (db: View, sessionIds: readonly string[]) =>
  idsByFirstRow(() =>
    firstRowsOf(
      sessionIds.flatMap((id) => callRows(db, id).map(({ callId, messageId }) => ({ callId, rowId: messageId }))),
    ),
  );

const TABLES = ["sessions", "messages"];

const queryIn = <T>(path: string, roots: readonly string[] | undefined, select: (db: View) => T): Promise<T> =>
  queryDatabase({ path, roots, tables: TABLES }, select);

/** Once per session: its facts; for a subagent, its identity. */
function beginning(
  db: View,
  row: SessionRow,
  parent: SessionRow | undefined,
  root: SessionRow,
  session: WalkSession,
  path: string,
): TranscriptEntry {
  if (parent === undefined) return sessionEntry(row, projectOf(path), undefined);
  const start = startOf(row.id);
  const call =
    start && callRows(db, parent.id).find((one) => one.messageId === start.messageId && one.callId === start.callId);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${row.id}`,
    timeMs: row.createdMs,
    agentId: row.id,
    agentType: call?.name,
    parentCallId: start === undefined ? undefined : session.callIdOf(start.callId, start.messageId),
    parentAgentId: parent.id === root.id ? undefined : parent.id,
  });
}

const sessionEntry = (
  row: SessionRow,
  cwd: string | undefined,
  parentSessionId: string | undefined,
): EntryOf<"session"> =>
  defined<EntryOf<"session">>({
    kind: "session",
    key: `session:${row.id}`,
    timeMs: row.createdMs,
    cwd,
    parentSessionId,
  });

/** A subagent's session id is the message and the call that started it. */
function startOf(sessionId: string): { readonly messageId: string; readonly callId: string } | undefined {
  const at = sessionId.indexOf("$$");
  return at <= 0 || at + 2 >= sessionId.length
    ? undefined
    : { messageId: sessionId.slice(0, at), callId: sessionId.slice(at + 2) };
}

function toSession(row: Row): SessionRow {
  const parentId = row["parent_session_id"];
  return {
    id: String(row["id"]),
    createdMs: timeMsOf(row["created_at"]) ?? 0,
    ...(typeof parentId === "string" && parentId !== "" && { parentId }),
  };
}
