import { forgetProcesses } from "./ancestors.ts";
import { forgetRepository } from "./changes.ts";
import type { Database } from "./database.ts";
import { forgetNative } from "./native.ts";
import { packedFacts } from "./packed.ts";
import { markPruned } from "./pruned-facts.ts";
import { isOpen } from "./sessions.ts";

/** A session that can be pruned. */
export interface Prunable {
  readonly id: number;
  readonly source: string;
  readonly sessionId: string;
  readonly lastMs: number;
}

/**
 * Sessions with their last activity before a time, the oldest first: closed, settled, and with nothing in the outbox.
 *
 * @param limit maximum number of sessions
 * @param only restrict the search to this session
 * @param isOnRequest include imported sessions, which are pruned only on request
 */
export const prunableSessions = (
  db: Database,
  beforeMs: number,
  limit: number,
  { only, isOnRequest = true }: { readonly only?: number; readonly isOnRequest?: boolean } = {},
): readonly Prunable[] =>
  db
    .prepare(
      `SELECT id, source, session_id, last_ms FROM sessions s WHERE last_ms < ?1 AND pruned_ms IS NULL AND (?3 IS NULL OR id = ?3)
         AND (?4 OR NOT EXISTS (SELECT 1 FROM packed p WHERE p.session = s.id))
         AND NOT ${isOpen("s.id")}
         AND NOT EXISTS (SELECT 1 FROM spans p JOIN outbox o ON o.seq = p.seq WHERE p.session = s.id)
         AND NOT EXISTS (SELECT 1 FROM log_outbox o WHERE o.session = s.id)
       ORDER BY last_ms, id LIMIT ?2`,
    )
    .all(beforeMs, limit, only ?? null, isOnRequest ? 1 : 0)
    .map((row) => ({
      id: Number(row["id"]),
      source: String(row["source"]),
      sessionId: String(row["session_id"]),
      lastMs: Number(row["last_ms"]),
    }));

/** How many sessions are old enough but have to stay, because they are not settled or not sent. */
export const keptSessions = (db: Database, beforeMs: number, prunable: number): number =>
  Number(
    db.prepare("SELECT count(*) AS n FROM sessions WHERE last_ms < ? AND pruned_ms IS NULL").get(beforeMs)?.["n"] ?? 0,
  ) - prunable;

/**
 * Removes a session from the store, in one transaction. What is left prevents counting it again, and allows resuming it: a
 * digest of every settled fact, the positions of its files, its number and its last segment. None of it reveals content. The sums
 * of counters stay as they are.
 *
 * @returns how many rows were deleted
 */
export function pruneSession(db: Database, { id, source, sessionId }: Prunable, nowMs: number): number {
  return db.transaction(() => {
    // Keys of counted facts, which the same transcript or payload can contain again
    const [from, to] = countedRange(source, sessionId);
    let rows = 0;
    const each = (
      table: string,
      where: string,
      values: readonly (string | number)[],
      key: string,
      forgotten: (key: string) => void,
    ): void => {
      const some = db.prepare(`SELECT ${key} AS key FROM ${table} WHERE ${where} LIMIT ${ROWS_AT_ONCE}`);
      const remove = db.prepare(`DELETE FROM ${table} WHERE ${key} = ? AND ${where}`);
      // In batches: a session can have more rows than fit into memory
      for (let found = some.all(...values); found.length > 0; found = some.all(...values)) {
        for (const row of found) {
          forgotten(String(row["key"]));
          rows += remove.run(String(row["key"]), ...values).changes;
        }
      }
    };
    for (const { key, globalKey } of packedFacts(db, id) ?? []) {
      markPruned(db, "entry", source, sessionId, key);
      if (globalKey !== undefined) markPruned(db, "owner", source, globalKey);
    }
    each("events", "session = ?", [id], "id", (key) => markPruned(db, "event", key));
    each("entries", "session = ?", [id], "key", (key) => markPruned(db, "entry", source, sessionId, key));
    each("owners", "source = ? AND session = ?", [source, id], "global_key", (key) =>
      markPruned(db, "owner", source, key),
    );
    each("spans", "session = ?", [id], "key", (key) => markPruned(db, "span", key));
    each("increments", "key >= ? AND key < ?", [from, to], "key", (key) => markPruned(db, "increment", key));
    forgetProcesses(db, id);
    forgetNative(db, id);
    for (const table of SESSION_TABLES) {
      rows += db.prepare(`DELETE FROM ${table} WHERE session = ?`).run(id).changes;
    }
    rows += db
      .prepare(
        "DELETE FROM segments WHERE session = ?1 AND ordinal < (SELECT max(ordinal) FROM segments WHERE session = ?1)",
      )
      .run(id).changes;
    db.prepare(
      `UPDATE sessions SET pruned_ms = ?, cwd = NULL, transcript_path = NULL, branch = NULL, repository = NULL,
         reported = NULL, context_parts = NULL, process = NULL, pipeline = NULL WHERE id = ?`,
    ).run(nowMs, id);
    forgetRepository(db, id);
    return rows;
  });
}

/** Makes a pruned session an ordinary one again, because it has new facts. */
export function revive(db: Database, sessionNumber: number): void {
  db.prepare("UPDATE sessions SET pruned_ms = NULL WHERE id = ? AND pruned_ms IS NOT NULL").run(sessionNumber);
}

/** Tables whose rows belong to one session and are deleted with it. The last row of `segments`, `positions` and `sessions` stay. */
export const SESSION_TABLES = [
  "content",
  "failures",
  "open_work",
  "session_processes",
  "launches",
  "agent_processes",
  "commits",
  "changes",
  "events",
  "entries",
  "owners",
  "turns",
  "subagents",
  "model_calls",
  "tool_calls",
  "log_outbox",
  "spans",
  "packed_usage",
  "packed_tools",
  "packed_turns",
  "packed",
] as const;

// --- internal ---

const ROWS_AT_ONCE = 2_000;

/** Range of the keys of a session's counted facts. They begin with source and session, as JSON; see telemetry/metrics.ts. */
function countedRange(source: string, sessionId: string): readonly [string, string] {
  const prefix = JSON.stringify([source, sessionId]).slice(0, -1);
  return [`${prefix},`, `${prefix}-`];
}
