import { keepsNames } from "#core/rules/capture.ts";
import { readMeta, removeMeta, writeMeta } from "../meta.ts";
import { sessionById, sessionsWithNames } from "../sessions.ts";
import { vacuum } from "../vacuum.ts";
import { type CaptureContext, reportProblemOnce } from "./context.ts";
import { forgetNamesOfSession } from "./names.ts";

// SQLite leaves deleted rows in the pages of its file until it needs the space. Deleted content must not stay there.

/** Notes that the store's file may still contain deleted content, until `removeRemnants`. Call it inside a transaction. */
export const markRemnants = (db: CaptureContext["db"]): void => writeMeta(db, REMNANTS, YES);

/**
 * Rewrites the store's file if it may contain deleted content; does nothing otherwise. If that fails (no room on the disk), it
 * reports a problem, and the next drain tries again.
 */
export function removeRemnants(drain: CaptureContext): void {
  const { db, places } = drain;
  if (readMeta(db, REMNANTS) !== YES) return;
  const done = vacuum(db, places.storePath);
  if (typeof done === "string") {
    const line = `content that was deleted may still be found in ${JSON.stringify(places.storePath)}: ${done}`;
    reportProblemOnce(drain, line);
    return;
  }
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  writeMeta(db, REMNANTS, "0");
}

/**
 * At the user's own `capture: none`, removes names from all stored sessions: those that were stored at a higher level. As a
 * project's level does, see `applyProjectSettings`. Does nothing at other levels, and almost nothing once it is done.
 *
 * @param limitMs how long this may take; the next drain continues
 */
export function forgetStoredNames(drain: CaptureContext, limitMs: number): void {
  const { db } = drain;
  if (keepsNames(drain.loaded.config.capture)) {
    // A later change to none starts with the first session
    if (readMeta(db, DONE_UP_TO) !== undefined) removeMeta(db, DONE_UP_TO);
    return;
  }
  const startMs = performance.now();
  while (performance.now() - startMs < limitMs) {
    const sessions = sessionsWithNames(db, Number(readMeta(db, DONE_UP_TO) ?? "0"), SESSIONS_AT_ONCE);
    if (sessions.length === 0) return;
    db.transaction(() => {
      for (const id of sessions) {
        if (forgetNamesOfSession(drain, sessionById(db, id))) markRemnants(db);
        writeMeta(db, DONE_UP_TO, String(id));
      }
    });
  }
}

// --- internal ---

/** Set while pages of the file may contain content that was deleted from all rows. */
const REMNANTS = "capture.remnants";
const YES = "1";

/** The last session number without names; those after it may have some. */
const DONE_UP_TO = "capture.names_removed_up_to";
/** In one commit. */
const SESSIONS_AT_ONCE = 10;
