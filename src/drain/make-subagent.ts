import type { Database } from "../store/database.ts";
import { moveFacts } from "../store/move-facts.ts";
import { ensureSession, rootOf, type StoredSession, setParent } from "../store/sessions.ts";

/**
 * Makes a session a subagent of another: what it told and is not settled moves there, what it tells from now on goes there.
 * What was settled before anybody named the parent stays counted where it was. Call it inside a transaction.
 *
 * @param parentId the parent's session id; the parent need not be known yet
 */
export function makeSubagent(db: Database, child: StoredSession, parentId: string, timeMs: number): void {
  if (parentId === child.sessionId) return;
  const parent = ensureSession(db, child.source, parentId, timeMs);
  if (setParent(db, child, parent)) moveFacts(db, child, rootOf(db, parent));
}
