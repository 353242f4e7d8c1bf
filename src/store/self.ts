import type { Increment, MetricShape } from "#core/model/telemetry.ts";
import { addSteps } from "./counters.ts";
import type { Database } from "./database.ts";
import { streamKeyOf } from "./labels.ts";
import { addToMeta, readMeta, writeMeta } from "./meta.ts";
import { texts } from "./rows.ts";
import { setUnwrittenCounted, unwrittenCounted } from "./unwritten.ts";

// What the program stores about itself

/** A name that an agent sent and this version does not know. */
export interface UnknownName {
  /** `record`: a kind of line in a transcript. `usage`: such a kind, and its lines have token usage. */
  readonly kind: "event" | "field" | "record" | "usage";
  readonly name: string;
}

/** An unknown name of one version of an agent. */
export interface Drift extends UnknownName {
  readonly source: string;
  readonly version: string;
  readonly count: number;
  readonly lastMs: number;
}

/**
 * Adds to the counts of unknown names. Names that are not plain identifiers, and names beyond the limit, are counted as `_other`:
 * agents can send any name.
 *
 * @param version as reported by the agent; anything that is not a version counts as `unknown`
 * @param nowMs milliseconds since the epoch
 */
export function addDrift(
  db: Database,
  source: string,
  version: string | undefined,
  unknown: ReadonlyMap<string, UnknownName & { readonly count: number }>,
  nowMs: number,
): void {
  const known = db.prepare("SELECT 1 FROM drift WHERE source = ? AND version = ? AND kind = ? AND name = ?");
  const held = db.prepare("SELECT count(*) AS n FROM drift WHERE source = ?");
  const add = db.prepare(
    `INSERT INTO drift (source, version, kind, name, count, first_ms, last_ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (source, version, kind, name) DO UPDATE SET count = count + excluded.count, last_ms = excluded.last_ms`,
  );
  const from = isVersion(version) ? version : "unknown";
  for (const { kind, name, count } of unknown.values()) {
    const plain = isPlain(name) ? name : OTHER;
    const isFull = Number(held.get(source)?.["n"] ?? 0) >= NAMES_PER_SOURCE;
    if (isFull && known.get(source, from, kind, plain) === undefined) {
      add.run(source, "unknown", kind, OTHER, count, nowMs, nowMs);
    } else add.run(source, from, kind, plain, count, nowMs, nowMs);
  }
}

/** All unknown names, by source, then by latest occurrence. */
export const readDrift = (db: Database): readonly Drift[] =>
  db
    .prepare("SELECT * FROM drift ORDER BY source, last_ms DESC, kind, name")
    .all()
    .map((row) => ({
      source: String(row["source"]),
      version: String(row["version"]),
      kind: kindOf(row["kind"]),
      name: String(row["name"]),
      count: Number(row["count"]),
      lastMs: Number(row["last_ms"]),
    }));

/** Deletes the names that another version of this program did not know; unknown ones are stored again when they occur. */
export function clearOldDrift(db: Database, version: string): void {
  if (readMeta(db, DRIFT_OF) === version) return;
  db.prepare("DELETE FROM drift").run();
  writeMeta(db, DRIFT_OF, version);
}

/** The version that a source reported last; `undefined` if it reported none. */
export function lastVersionOf(db: Database, source: string): string | undefined {
  const row = db
    .prepare(
      "SELECT agent_version FROM sessions WHERE source = ? AND agent_version IS NOT NULL ORDER BY last_ms DESC LIMIT 1",
    )
    .get(source);
  return typeof row?.["agent_version"] === "string" ? row["agent_version"] : undefined;
}

/** The version that each source reported last, and when a session with it was last active. */
export const lastVersions = (
  db: Database,
): readonly { readonly source: string; readonly version: string; readonly lastMs: number }[] =>
  db
    .prepare(
      // SQLite takes the version from the row with the maximum
      `SELECT source, agent_version, max(last_ms) AS last_ms FROM sessions
       WHERE agent_version IS NOT NULL AND excluded = 0 GROUP BY source`,
    )
    .all()
    .map((row) => ({
      source: String(row["source"]),
      version: String(row["agent_version"]),
      lastMs: Number(row["last_ms"]),
    }));

/** Names of claimed files whose events are committed and which may not be removed yet. */
export const committedFiles = (db: Database): ReadonlySet<string> => new Set(texts(db, "SELECT name FROM taken"));

/**
 * Stores names of claimed files in the commit of their events: if the drain is killed before they are removed, the next one knows them.
 *
 * @param removed files of earlier commits that are removed by now
 */
export function markCommitted(db: Database, names: readonly string[], removed: readonly string[]): void {
  const add = db.prepare("INSERT INTO taken (name) VALUES (?) ON CONFLICT DO NOTHING");
  const remove = db.prepare("DELETE FROM taken WHERE name = ?");
  for (const name of removed) remove.run(name);
  for (const name of names) add.run(name);
}

/** Events that were lost because the disk was full; nothing else is known about them. */
export interface LostEvents {
  readonly total: number;
  /** Time of the latest one, in milliseconds since the epoch; absent if there is none. */
  readonly lastMs?: number;
}

/** Counts lost events, in the commit that takes their files. @param timesMs their times, in milliseconds since the epoch */
export function addLostEvents(db: Database, timesMs: readonly number[]): void {
  if (timesMs.length === 0) return;
  addToMeta(db, LOST, timesMs.length);
  writeMeta(db, LOST_LAST, String(timesMs.reduce((last, ms) => Math.max(last, ms), lostEvents(db).lastMs ?? 0)));
}

/**
 * Counts the events for which no file could be created. @param total of them, over all time @returns how many are new
 */
export function addUnwrittenEvents(db: Database, total: number, lastMs: number): number {
  return db.transaction(() => {
    const fresh = total - unwrittenCounted(db);
    if (fresh === 0) return 0;
    setUnwrittenCounted(db, total);
    addLostEvents(
      db,
      Array.from({ length: Math.max(0, fresh) }, () => lastMs),
    );
    return Math.max(0, fresh);
  });
}

export function lostEvents(db: Database): LostEvents {
  const lastMs = readMeta(db, LOST_LAST);
  return { total: Number(readMeta(db, LOST) ?? "0"), ...(lastMs !== undefined && { lastMs: Number(lastMs) }) };
}

/**
 * Raises counters to totals that are kept elsewhere: each stream grows by what was not counted yet, under any
 * `service.instance.id`.
 */
export function raiseCounters(
  db: Database,
  totals: readonly { readonly step: Increment; readonly total: number }[],
  shapes: ReadonlyMap<string, MetricShape>,
  nowMs: number,
): void {
  db.transaction(() => {
    for (const { step, total } of totals) {
      if (total === 0) continue;
      const key = `${COUNTED}${streamKeyOf(step)}`;
      const counted = Number(readMeta(db, key) ?? "0");
      if (total <= counted) continue;
      addSteps(db, [{ ...step, amount: total - counted }], shapes, nowMs);
      writeMeta(db, key, String(total));
    }
  });
}

// --- internal ---

/** Limit for all versions of a source together. */
const NAMES_PER_SOURCE = 200;
const OTHER = "_other";
const DRIFT_OF = "drift.version";
const COUNTED = "counted.";
const [LOST, LOST_LAST] = ["intake.lost_total", "intake.lost_last_ms"] as const;

/** Words of letters, as vendors name fields and events. Digits and long words could be secrets or ids. */
const isPlain = (name: string): boolean =>
  name.length <= 48 && /^[A-Za-z]{1,20}(?:[_.:/-][A-Za-z]{1,20})*$/.test(name.replace(/([a-z])(?=[A-Z])/g, "$1_"));

const isVersion = (version: string | undefined): version is string =>
  version !== undefined && /^v?\d{1,6}(?:\.\d{1,6}){0,3}(?:-[0-9a-z.]{1,16})?$/.test(version);

const KINDS = ["event", "field", "record", "usage"] as const;
const kindOf = (value: unknown): UnknownName["kind"] => KINDS.find((kind) => kind === value) ?? "field";
