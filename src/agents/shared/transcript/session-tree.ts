import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import type { Row, View } from "./sqlite.ts";

/** A session of a database in which subagents are sessions with a parent. */
export interface TreeSession {
  readonly id: string;
  /** The session whose call started it as a subagent. */
  readonly parentId?: string;
}

/** A table of sessions. */
interface SessionTable<T extends TreeSession> {
  readonly name: string;
  /** Column with the parent's id. */
  readonly parent: string;
  /** Selected columns, the id and the parent's id included. */
  readonly columns: string;
  /** Order of creation. */
  readonly order: string;
  /** False until the agent has created the table. */
  exists(db: View): boolean;
  toSession(row: Row): T;
}

/** Queries of a table of sessions. */
interface SessionTree<T extends TreeSession> {
  /** @returns `undefined` if there is none, or the database has no such table */
  sessionRow(db: View, id: string): T | undefined;
  /** All sessions except subagents, oldest first. A subagent is included if its parent is gone. */
  rootSessions(db: View): readonly T[];
  /** Subagents' sessions of this one, at any depth, in order of creation. */
  descendants(db: View, id: string): readonly T[];
  /** `undefined` also if the parent is gone. */
  parentOf(db: View, session: T): T | undefined;
  /** The session above all others. */
  rootOf(db: View, session: T): T;
  /**
   * A session and its subagents; for a subagent's session only itself, because its parent's parts contain the rest.
   * Empty if there is none.
   */
  sessionAndBelow(db: View, id: string): readonly T[];
}

export function sessionTree<T extends TreeSession>(table: SessionTable<T>): SessionTree<T> {
  const { name, parent, order, exists, toSession } = table;
  const select = `SELECT ${table.columns} FROM ${name}`;
  const sessionRow = (db: View, id: string): T | undefined => {
    const row = exists(db) ? db.get(`${select} WHERE id = ?`, id) : undefined;
    return row === undefined ? undefined : toSession(row);
  };
  const parentOf = (db: View, { parentId }: T): T | undefined =>
    parentId === undefined ? undefined : sessionRow(db, parentId);
  const descendants = (db: View, id: string): readonly T[] => {
    // Not by a recursive query: without an index it takes quadratic time, and nothing can interrupt it
    const all = db.all(`SELECT id, ${parent} AS above FROM ${name} WHERE ${parent} IS NOT NULL`);
    const below = idsBelow(id, all);
    if (below.length === 0) return [];
    return db
      .all(`${select} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY ${order}`, JSON.stringify(below))
      .map(toSession);
  };
  return {
    sessionRow,
    descendants,
    parentOf,
    rootSessions: (db) =>
      exists(db)
        ? db
            .all(`${select} WHERE ${parent} IS NULL OR ${parent} NOT IN (SELECT id FROM ${name}) ORDER BY ${order}`)
            .map(toSession)
        : [],
    rootOf(db, session) {
      let root = session;
      for (let depth = 0; depth < MAX_DEPTH; depth++) {
        const above = parentOf(db, root);
        if (above === undefined) return root;
        root = above;
      }
      return root;
    },
    sessionAndBelow(db, id) {
      const main = sessionRow(db, id);
      if (main === undefined) return [];
      return parentOf(db, main) === undefined ? [main, ...descendants(db, id)] : [main];
    },
  };
}

/** One session of a database as a part of a transcript; its key names the session. */
export const partOf = (path: string, sessionId: string, agentId: string | undefined): TranscriptFile => ({
  path,
  key: `${path}#${agentId === undefined ? "" : "agent:"}${sessionId}`,
  watch: [path, `${path}-wal`],
  ...(agentId !== undefined && { agentId }),
});

/** The session that a part of `partOf` names. */
export const sessionIn = ({ path, key, agentId }: TranscriptFile): string =>
  agentId ?? (key ?? "").slice(path.length + 1);

// --- internal ---

/** Ids of the sessions below one, at any depth, without itself. Parents could be a circle. */
function idsBelow(id: string, rows: readonly Row[]): readonly string[] {
  const children = new Map<string, string[]>();
  for (const row of rows) {
    const above = String(row["above"]);
    const siblings = children.get(above);
    if (siblings === undefined) children.set(above, [String(row["id"])]);
    else siblings.push(String(row["id"]));
  }
  const below = new Set([id]);
  for (const one of below) for (const child of children.get(one) ?? []) below.add(child);
  below.delete(id);
  return [...below];
}

/** Parents could be a circle. */
const MAX_DEPTH = 32;
