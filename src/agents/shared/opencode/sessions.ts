import { sessionTree, type TreeSession } from "../transcript/session-tree.ts";
import type { Row, View } from "../transcript/sqlite.ts";

/** One session of the database. */
export interface SessionRow extends TreeSession {
  readonly directory?: string;
  /** OpenCode's version when the session was created. */
  readonly version?: string;
  readonly createdMs: number;
}

/** The file is empty until OpenCode's first start is complete. */
export const SESSIONS = sessionTree<SessionRow>({
  name: "session",
  parent: "parent_id",
  columns: "id, parent_id, directory, version, time_created",
  order: "time_created, id",
  exists: (db) => hasTable(db, "session"),
  toSession,
});

/**
 * Number of sessions that OpenCode 2 created or continued. It has separate tables, which we do not read. Sessions that it only
 * migrated are still in the tables that we read.
 */
export function countVersion2Sessions(db: View): number {
  if (!hasTable(db, "session_v2")) return 0;
  const isOurs = "id IN (SELECT id FROM session WHERE session.time_updated >= session_v2.time_updated)";
  const rest = hasTable(db, "session") ? `WHERE NOT ${isOurs}` : "";
  return Number(db.get(`SELECT count(*) AS sessions FROM session_v2 ${rest}`)?.["sessions"]);
}

// --- internal ---

const hasTable = (db: View, name: string): boolean =>
  db.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name) !== undefined;

function toSession(row: Row): SessionRow {
  const text = (name: string) => (typeof row[name] === "string" && row[name] !== "" ? row[name] : undefined);
  const [parentId, directory, version] = [text("parent_id"), text("directory"), text("version")];
  return {
    id: String(row["id"]),
    createdMs: Number(row["time_created"]),
    ...(parentId !== undefined && { parentId }),
    ...(directory !== undefined && { directory }),
    ...(version !== undefined && { version }),
  };
}
