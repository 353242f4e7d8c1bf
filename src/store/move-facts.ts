import type { Event } from "#core/model/event-schema.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { moveContent } from "./content.ts";
import type { Database } from "./database.ts";
import { addEntries, openFacts } from "./facts.ts";
import type { StoredSession } from "./sessions.ts";

/**
 * Unsettled events of a process that reported no session id. They are in sessions of that process, or in sessions whose process
 * is not known.
 */
export const unplacedEvents = (
  db: Database,
  source: string,
  process: string,
): readonly { readonly session: number; readonly event: Event }[] =>
  db
    .prepare(
      `SELECT e.session, e.body FROM events e CROSS JOIN sessions s ON s.id = e.session
       WHERE e.unplaced_process = ?2 AND e.settled = 0 AND s.source = ?1 AND (s.process IS NULL OR s.process = ?2)`,
    )
    .all(source, process)
    .map((row) => ({ session: Number(row["session"]), event: JSON.parse(String(row["body"])) as Event }));

/** Moves one event, with its content, to another session of its source. */
export function moveEvent(db: Database, event: Event, to: StoredSession): void {
  const moved = { ...event, session_id: to.sessionId };
  const from = db.prepare("SELECT session FROM events WHERE id = ?").get(event.id)?.["session"];
  db.prepare("UPDATE events SET session = ?, body = ? WHERE id = ?").run(to.id, JSON.stringify(moved), event.id);
  if (from !== undefined) moveContent(db, Number(from), to.id, event.id);
}

/** Moves the unsettled facts of a subagent's session to the session of its root agent. */
export function moveFacts(db: Database, child: StoredSession, root: StoredSession): void {
  const { events, entries } = openFacts(db, child.id);
  const event = db.prepare("UPDATE events SET session = ?, body = ? WHERE id = ?");
  for (const e of events) event.run(root.id, JSON.stringify(inRoot(e, child, root)), e.id);
  const drop = db.prepare("DELETE FROM entries WHERE session = ? AND key = ?");
  for (const entry of entries) {
    drop.run(child.id, entry.key);
    if (entry.globalKey !== undefined) {
      db.prepare("UPDATE owners SET session = ? WHERE source = ? AND global_key = ? AND session = ?").run(
        root.id,
        root.source,
        entry.globalKey,
        child.id,
      );
    }
  }
  moveContent(db, child.id, root.id);
  addEntries(
    db,
    root,
    entries.map((entry) => ({ ...entry, agentId: entry.agentId ?? child.sessionId })),
  );
}

/** A subagent's event as its root session stores it: under the root's session id, with the subagent's id. */
export const inRoot = (event: Event, child: StoredSession, root: StoredSession): Event => ({
  ...event,
  session_id: root.sessionId,
  extensions: { ...event.extensions, agent_id: extrasOf(event).agent_id ?? child.sessionId },
});
