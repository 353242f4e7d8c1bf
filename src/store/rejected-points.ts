import type { Database } from "./database.ts";
import { addToMeta, readMeta, removeMeta } from "./meta.ts";

/** Points of deltas that a backend rejected in a partial success. They are not sent again. */
export interface RejectedPoints {
  /** Over all time. */
  readonly total: number;
  /** Since the backend last accepted all cumulative sums: its counters are too small by these points. */
  readonly missing: number;
}

/**
 * Counts rejected deltas. A backend says how many points it rejects and not which; sending all of them again would count the
 * accepted ones twice.
 */
export function addRejectedPoints(db: Database, points: number): void {
  addToMeta(db, TOTAL, points);
  addToMeta(db, MISSING, points);
}

/** A backend accepted the whole sum of every counter, which includes whatever it rejected before. */
export function clearMissingPoints(db: Database): void {
  if (readMeta(db, MISSING) !== undefined) removeMeta(db, MISSING);
}

export const rejectedPoints = (db: Database): RejectedPoints => ({
  total: Number(readMeta(db, TOTAL) ?? "0"),
  missing: Number(readMeta(db, MISSING) ?? "0"),
});

// --- internal ---

const TOTAL = "metrics.rejected_points_total";
const MISSING = "metrics.rejected_points_missing";
