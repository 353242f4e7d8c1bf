import { forgetRepository } from "./changes.ts";
import { purgeContent } from "./content.ts";
import type { Database } from "./database.ts";
import type { StoredSession } from "./sessions.ts";

/** The settings of a session's project, as stored. */
interface StoredProject {
  /** Nothing of the session is collected. */
  readonly excluded: boolean;
  /** Added to the session's spans. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** The settings of a session's project; nothing is excluded or added if none were stored. */
export function projectOf(db: Database, sessionNumber: number): StoredProject {
  const row = db.prepare("SELECT excluded, project FROM sessions WHERE id = ?").get(sessionNumber);
  const text = row?.["project"];
  return {
    excluded: row?.["excluded"] === 1,
    attributes: typeof text === "string" ? (JSON.parse(text) as StoredProject["attributes"]) : {},
  };
}

/** Sets the attributes for spans that are settled from now on. */
export function setProjectAttributes(
  db: Database,
  session: Pick<StoredSession, "id">,
  attributes: StoredProject["attributes"],
): void {
  const text = Object.keys(attributes).length === 0 ? null : JSON.stringify(attributes);
  db.prepare("UPDATE sessions SET project = ? WHERE id = ? AND project IS NOT ?").run(text, session.id, text);
}

/**
 * Excludes a session permanently: its rows are deleted and overwritten, and its queued spans are not sent. Its id stays, so that
 * later facts of it are recognised. What was counted stays in the sums. Call it inside a transaction.
 *
 * @returns how many spans were deleted
 */
export function excludeSession(db: Database, { id }: Pick<StoredSession, "id">): number {
  if (projectOf(db, id).excluded) return 0;
  db.prepare("PRAGMA secure_delete = ON").get();
  db.prepare("DELETE FROM outbox WHERE seq IN (SELECT seq FROM spans WHERE session = ?)").run(id);
  db.prepare("DELETE FROM log_outbox WHERE session = ?").run(id);
  const { changes: spans } = db.prepare("DELETE FROM spans WHERE session = ?").run(id);
  for (const table of TABLES) db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(id);
  db.prepare(
    `UPDATE sessions SET excluded = 1, project = NULL, pipeline = NULL, cwd = NULL, transcript_path = NULL, branch = NULL, repository = NULL,
       reported = NULL, context_parts = NULL WHERE id = ?`,
  ).run(id);
  forgetRepository(db, id);
  return spans;
}

/** Deletes and overwrites unsettled content of a session that may keep none. */
export function dropContent(db: Database, { id }: Pick<StoredSession, "id">): void {
  if (db.prepare("SELECT 1 FROM content WHERE session = ? LIMIT 1").get(id) === undefined) return;
  db.prepare("PRAGMA secure_delete = ON").get();
  purgeContent(db, id);
}

// --- internal ---

const TABLES = [
  "packed_usage",
  "packed_tools",
  "packed_turns",
  "packed",
  "content",
  "commits",
  "changes",
  "events",
  "entries",
  "positions",
  "turns",
  "subagents",
  "model_calls",
  "tool_calls",
  "segments",
] as const;
