import { readMeta, writeMeta } from "../meta.ts";
import { vacuum } from "../vacuum.ts";
import type { CaptureContext } from "./context.ts";
import { reportProblemOnce } from "./report-problem.ts";

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

// --- internal ---

/** Set while pages of the file may contain content that was deleted from all rows. */
const REMNANTS = "capture.remnants";
const YES = "1";
