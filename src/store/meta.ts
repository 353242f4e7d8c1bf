import type { Database } from "./database.ts";
import { texts } from "./rows.ts";

/** A value that the program stored for later runs. @returns `undefined` if it was never written */
export function readMeta(db: Database, key: string): string | undefined {
  const value = db.prepare("SELECT value FROM meta WHERE key = ?").get(key)?.["value"];
  return typeof value === "string" ? value : undefined;
}

/** All keys that begin with a prefix. */
export const metaKeys = (db: Database, prefix: string): readonly string[] =>
  texts(db, "SELECT key FROM meta WHERE substr(key, 1, length(?1)) = ?1", prefix);

/** Stores a value under a key, instead of the former one. */
export function writeMeta(db: Database, key: string, value: string): void {
  db.prepare("INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value").run(
    key,
    value,
  );
}

/** Removes a value; does nothing if there is none. */
export function removeMeta(db: Database, key: string): void {
  db.prepare("DELETE FROM meta WHERE key = ?").run(key);
}

/** Adds to a stored number; one that was never written counts as 0. */
export function addToMeta(db: Database, key: string, amount: number): void {
  if (amount !== 0) writeMeta(db, key, String(Number(readMeta(db, key) ?? "0") + amount));
}

/** Milliseconds that this machine's clock is ahead of the backend's, from the last response with a `Date`. */
export const CLOCK_SKEW = "clock.skew_ms";
/** Duration of the last drain in milliseconds. */
export const LAST_DRAIN_MS = "drain.took_ms";
/** The last completed drain: its time and its report, as JSON. */
export const LAST_DRAIN = "last_drain";
/** The coverage of this machine's agents and when it was determined, as JSON. */
export const COVERAGE = "coverage";
/** The prices with which calls that had none were looked up last. */
export const PRICES_TRIED = "prices.tried";
/** Time of the last daily pruning, in milliseconds since the epoch. */
export const LAST_PRUNE = "prune.last_ms";
/** Number of sessions pruned so far. */
export const PRUNED_SESSIONS = "prune.sessions_total";
/** When this program last checked what became of commits, in milliseconds since the epoch. */
export const LAST_OUTCOMES = "outcomes.last_ms";
/** How far this version is with retrying quarantined payloads, as JSON. */
export const RETRIED_QUARANTINE = "quarantine.retried";
/** `transcripts.folders` when transcripts were read last. */
export const ALLOWED_FOLDERS = "transcripts.folders";
/** Files that exceed a limit or during which drains died, as JSON: pairs of the position's key and why. */
export const FILES_SET_ASIDE = "files.set_aside";
/** Records of agents' own telemetry that are not needed. */
export const NATIVE_DROPPED = "native.dropped_total";
/** What the last drain was reading when it died, as JSON. */
export const DRAIN_DEATH = "drain.death";
