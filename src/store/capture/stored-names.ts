import { keepsNames } from "#core/rules/capture.ts";
import { readMeta, removeMeta, writeMeta } from "../meta.ts";
import { sessionById, sessionsWithNames } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";
import { forgetNamesOfSession } from "./forget-names.ts";
import { markRemnants } from "./remnants.ts";

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

/** The last session number without names; those after it may have some. */
const DONE_UP_TO = "capture.names_removed_up_to";
/** In one commit. */
const SESSIONS_AT_ONCE = 10;
