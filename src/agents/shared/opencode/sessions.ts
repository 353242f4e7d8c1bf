import type { Row, View } from "../transcript/sqlite.ts";

/** One session of the database. */
export interface SessionRow {
  readonly id: string;
  /** The session whose task tool created it. */
  readonly parentId?: string;
  readonly directory?: string;
  /** OpenCode's version when the session was created. */
  readonly version?: string;
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
        .all(`${SELECT} WHERE parent_id IS NULL OR parent_id NOT IN (SELECT id FROM session) ORDER BY time_created, id`)
        .map(toSession)
    : [];

/** Subagent sessions of this one, at any depth, in order of creation. */
export const descendants = (db: View, id: string): readonly SessionRow[] =>
  db
    .all(
      `WITH RECURSIVE below(id) AS (
         SELECT id FROM session WHERE parent_id = ?1
         UNION SELECT session.id FROM session JOIN below ON session.parent_id = below.id
       ) ${SELECT} WHERE id IN below AND id <> ?1 ORDER BY time_created, id`,
      id,
    )
    .map(toSession);

/**
 * Number of sessions that OpenCode 2 created or continued. It has separate tables, which we do not read. Sessions that it only
 * migrated are still in the tables that we read.
 */
export function countVersion2Sessions(db: View): number {
  if (!hasTable(db, "session_v2")) return 0;
  const isOurs = "id IN (SELECT id FROM session WHERE session.time_updated >= session_v2.time_updated)";
  const rest = hasSessions(db) ? `WHERE NOT ${isOurs}` : "";
  return Number(db.get(`SELECT count(*) AS sessions FROM session_v2 ${rest}`)?.["sessions"]);
}

// --- internal ---

const SELECT = "SELECT id, parent_id, directory, version, time_created FROM session";

/** The file is empty until OpenCode's first start is complete. */
const hasSessions = (db: View): boolean => hasTable(db, "session");

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
