import type { Database } from "./database.ts";
import type { StoredSession } from "./sessions.ts";

/** What the project that a session runs in asked for, as the store keeps it. */
export interface StoredProject {
  /** Nothing of it is collected. */
  readonly excluded: boolean;
  /** Added to its spans. */
  readonly attributes: Readonly<Record<string, string>>;
}

export function projectOf(db: Database, sessionNumber: number): StoredProject {
  const row = db.prepare("SELECT excluded, project FROM sessions WHERE id = ?").get(sessionNumber);
  const text = row?.["project"];
  return {
    excluded: row?.["excluded"] === 1,
    attributes: typeof text === "string" ? (JSON.parse(text) as StoredProject["attributes"]) : {},
  };
}

/** Attributes for the spans that are still to come. */
export function setProjectAttributes(
  db: Database,
  session: Pick<StoredSession, "id">,
  attributes: StoredProject["attributes"],
): void {
  const text = Object.keys(attributes).length === 0 ? null : JSON.stringify(attributes);
  db.prepare("UPDATE sessions SET project = ? WHERE id = ? AND project IS NOT ?").run(text, session.id, text);
}

/**
 * Takes a session out for good: what is kept of it goes, overwritten and not only unlinked, and what waits is not sent. Its
 * id stays, so that what comes later is known to be of it. What was counted stays in the sums. Call it inside a transaction.
 *
 * @returns how many spans went
 */
export function excludeSession(db: Database, { id }: Pick<StoredSession, "id">): number {
  if (projectOf(db, id).excluded) return 0;
  db.prepare("PRAGMA secure_delete = ON").get();
  db.prepare("DELETE FROM outbox WHERE seq IN (SELECT seq FROM spans WHERE session = ?)").run(id);
  const { changes: spans } = db.prepare("DELETE FROM spans WHERE session = ?").run(id);
  for (const table of TABLES) db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(id);
  db.prepare(
    `UPDATE sessions SET excluded = 1, project = NULL, cwd = NULL, transcript_path = NULL, branch = NULL, repository = NULL,
       reported = NULL WHERE id = ?`,
  ).run(id);
  return spans;
}

/** Content that no turn has taken yet, of a session that may keep none. */
export function dropContent(db: Database, { id }: Pick<StoredSession, "id">): void {
  if (db.prepare("SELECT 1 FROM content WHERE session = ? LIMIT 1").get(id) === undefined) return;
  db.prepare("PRAGMA secure_delete = ON").get();
  db.prepare("DELETE FROM content WHERE session = ?").run(id);
}

// --- internal ---

const TABLES = [
  "packed_usage",
  "packed_tools",
  "packed_turns",
  "packed",
  "content",
  "events",
  "entries",
  "positions",
  "turns",
  "subagents",
  "model_calls",
  "tool_calls",
  "segments",
] as const;
