import { sessionTree, type TreeSession } from "../shared/transcript/session-tree.ts";
import { columnsOf, type Row } from "../shared/transcript/sqlite.ts";
import { timeMsOf } from "./rows.ts";

/** One session of the database. */
export interface SessionRow extends TreeSession {
  readonly createdMs: number;
}

export const SESSIONS = sessionTree<SessionRow>({
  name: "sessions",
  parent: "parent_session_id",
  columns: "id, parent_session_id, created_at",
  order: "created_at, rowid",
  exists: (db) => columnsOf(db, "sessions").has("parent_session_id"),
  toSession,
});

/** A subagent's session id is the message and the call that started it. */
export function startOf(sessionId: string): { readonly messageId: string; readonly callId: string } | undefined {
  const at = sessionId.indexOf("$$");
  return at <= 0 || at + 2 >= sessionId.length
    ? undefined
    : { messageId: sessionId.slice(0, at), callId: sessionId.slice(at + 2) };
}

// --- internal ---

function toSession(row: Row): SessionRow {
  const parentId = row["parent_session_id"];
  return {
    id: String(row["id"]),
    createdMs: timeMsOf(row["created_at"]) ?? 0,
    ...(typeof parentId === "string" && parentId !== "" && { parentId }),
  };
}
