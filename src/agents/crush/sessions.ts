import { columnsOf, type Row, type View } from "../shared/transcript/sqlite.ts";
import { timeMsOf } from "./rows.ts";

/** One session of the database. */
export interface SessionRow {
  readonly id: string;
  /** The session whose call started it as a subagent. */
  readonly parentId?: string;
  readonly createdMs: number;
}

/** @returns `undefined` if there is none, or the database has no such table */
export function sessionRow(db: View, id: string): SessionRow | undefined {
  if (!hasSessions(db)) return undefined;
  const row = db.get(`${SELECT} WHERE id = ?`, id);
  return row === undefined ? undefined : toSession(row);
}

/** Sessions that are no subagents, oldest first. */
export const rootSessions = (db: View): readonly SessionRow[] =>
  hasSessions(db)
    ? db
        .all(
          `${SELECT} WHERE parent_session_id IS NULL OR parent_session_id NOT IN (SELECT id FROM sessions)
            ORDER BY created_at, rowid`,
        )
        .map(toSession)
    : [];

/** Subagents' sessions of this one, at any depth, in order of creation. */
export const descendants = (db: View, id: string): readonly SessionRow[] =>
  db
    .all(
      `WITH RECURSIVE below(id) AS (
         SELECT id FROM sessions WHERE parent_session_id = ?1
         UNION SELECT sessions.id FROM sessions JOIN below ON sessions.parent_session_id = below.id
       ) ${SELECT} WHERE id IN below AND id <> ?1 ORDER BY created_at, rowid`,
      id,
    )
    .map(toSession);

/** A subagent's session id is the message and the call that started it. */
export function startOf(sessionId: string): { readonly messageId: string; readonly callId: string } | undefined {
  const at = sessionId.indexOf("$$");
  return at <= 0 || at + 2 >= sessionId.length
    ? undefined
    : { messageId: sessionId.slice(0, at), callId: sessionId.slice(at + 2) };
}

// --- internal ---

const SELECT = "SELECT id, parent_session_id, created_at FROM sessions";

const hasSessions = (db: View): boolean => columnsOf(db, "sessions").has("parent_session_id");

function toSession(row: Row): SessionRow {
  const parentId = row["parent_session_id"];
  return {
    id: String(row["id"]),
    createdMs: timeMsOf(row["created_at"]) ?? 0,
    ...(typeof parentId === "string" && parentId !== "" && { parentId }),
  };
}
