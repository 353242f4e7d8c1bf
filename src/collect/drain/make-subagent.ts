import type { Database } from "#store/database.ts";
import { moveFacts } from "#store/move-facts.ts";
import { ensureSession, rootOf, type StoredSession, sessionById, setParent } from "#store/sessions.ts";
import type { Drain } from "./context.ts";
import { sessionNamed } from "./local-sessions.ts";

/**
 * Makes a session a subagent of another: its unsettled facts move to the parent's session, and later ones are stored there. What
 * was settled before stays counted in its session. Call it inside a transaction.
 *
 * @param parentId the parent's session id; the session is created if needed
 */
export function makeSubagent(db: Database, child: StoredSession, parentId: string, timeMs: number): void {
  if (parentId === child.sessionId) return;
  const parent = ensureSession(db, child.source, parentId, timeMs);
  if (setParent(db, child, parent)) moveFacts(db, child, rootOf(db, parent));
}

/** Makes the sessions that an agent's record names subagents of a session. Call it inside a transaction. */
export function addSubagents(drain: Drain, parent: number, ids: readonly string[], timeMs: number): void {
  for (const id of ids) {
    const { source, sessionId } = sessionById(drain.db, parent);
    makeSubagent(drain.db, sessionNamed(drain, source, id, timeMs), sessionId, timeMs);
  }
}
