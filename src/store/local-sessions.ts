import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { hostname } from "node:os";
import { sep } from "node:path";
import type { SessionOrigin } from "#core/model/transcript-reader.ts";
import type { Database } from "./database.ts";
import { machineIdOn, type StorePlace } from "./instance.ts";
import { ensureSession, type StoredSession, sessionById } from "./sessions.ts";

// Some agents' session ids are unique only in one database, and are given again after a session was removed. Only this
// file turns such an id into a session. See docs/decisions/0037

/** A mention of a session by its agent's own id. */
interface LocalMention {
  readonly source: string;
  readonly nativeId: string;
  /** Of the event or record that mentions it. */
  readonly timeMs: number;
  /** The sessions that have the id in the agent's databases now; empty if none could be read. */
  readonly origins: readonly SessionOrigin[];
  /** It is the event with which a new session begins. */
  readonly begins?: boolean;
}

/** The session that had the id at that time; it is created if needed. Call it inside a transaction. */
export function localSession(db: Database, place: StorePlace, mention: LocalMention): StoredSession {
  const { source, nativeId, timeMs } = mention;
  const found = planLocalSession(localSessions(db, source, nativeId), place, mention);
  const { id } = ensureSession(db, source, found.sessionId, timeMs);
  setLocalIds(db, id, nativeId, found);
  return sessionById(db, id);
}

/** What is stored of a session with a local id. */
export type LocalSession = Pick<StoredSession, "sessionId" | "firstMs" | "identity" | "local">;

/** Ids of a session with a local id. */
export interface PlannedSession {
  readonly sessionId: string;
  readonly identity: string;
  readonly origin?: SessionOrigin;
}

/**
 * `localSession` without the store: the session that is meant, or a new one.
 *
 * @param known all stored sessions with this id
 */
export function planLocalSession(
  known: readonly LocalSession[],
  place: StorePlace,
  { source, nativeId, timeMs, origins, begins = false }: LocalMention,
): PlannedSession {
  const origin = latest(
    origins.filter(({ createdMs }) => createdMs <= timeMs),
    ({ createdMs }) => createdMs,
  );
  const stored = origin === undefined ? undefined : { ...origin, database: belowHome(origin.database, place) };
  const session = stored === undefined ? sessionAt(known, timeMs, begins, origins) : sessionOf(known, stored, timeMs);
  const identity = session?.identity ?? identityOf(source, nativeId, place, origin, timeMs);
  const isTaken = known.some(({ sessionId }) => sessionId === nativeId);
  return {
    sessionId: session?.sessionId ?? (isTaken ? identity : nativeId),
    // A session from before its agent's ids were known to be local keeps the ids of its spans
    identity: session !== undefined && session.identity === undefined ? session.sessionId : identity,
    ...(stored !== undefined && { origin: stored }),
  };
}

/** All sessions that have or had this id, those from before the agent's ids were known to be local too. */
const localSessions = (db: Database, source: string, nativeId: string): readonly StoredSession[] =>
  db
    .prepare(
      `SELECT id FROM sessions WHERE source = ?1 AND native_id = ?2
       UNION SELECT id FROM sessions WHERE source = ?1 AND session_id = ?2`,
    )
    .all(source, nativeId)
    .map((row) => sessionById(db, Number(row["id"])));

/** All sessions of a source, whose ids are local. */
export const sessionsWithIds = (db: Database, source: string): readonly StoredSession[] =>
  db
    .prepare("SELECT id FROM sessions WHERE source = ?")
    .all(source)
    .map((row) => sessionById(db, Number(row["id"])));

/** Stores the ids of a session. An origin that is known stays. */
export function setLocalIds(
  db: Database,
  id: number,
  nativeId: string,
  { identity, origin }: Pick<PlannedSession, "identity" | "origin">,
): void {
  db.prepare(
    `UPDATE sessions SET native_id = ?, identity = ?, origin_database = coalesce(origin_database, ?),
       origin_ms = coalesce(origin_ms, ?) WHERE id = ? AND (native_id IS NULL OR origin_ms IS NULL)`,
  ).run(nativeId, identity, origin?.database ?? null, origin?.createdMs ?? null, id);
}

/** A path as origins are stored: a home folder that is moved keeps its sessions. */
export function belowHome(path: string, { home }: Pick<StorePlace, "home">): string {
  for (const folder of [home, realPathOf(home)]) {
    if (path.startsWith(`${folder}${sep}`)) return `~${path.slice(folder.length)}`;
  }
  return path;
}

// --- internal ---

/** An event of one session that comes later than this after the first is not the one with which it begins. */
const BEGINS_WITHIN_MS = 2_000;
/** By this much the events of one session can arrive out of order. */
const OUT_OF_ORDER_MS = 600_000;

/** The session with this origin, or the one that was stored while its origin could not be read. */
function sessionOf<T extends LocalSession>(
  known: readonly T[],
  { database, createdMs }: SessionOrigin,
  timeMs: number,
): T | undefined {
  const exact = known.find(({ local }) => local?.origin?.database === database && local.origin.createdMs === createdMs);
  if (exact !== undefined) return exact;
  const unknown = known.filter((one) => one.local?.origin === undefined && one.firstMs >= createdMs);
  return latestUntil(unknown, timeMs) ?? earliest(unknown);
}

/**
 * The session that had the id at a time, if no database shows it: the latest one that had begun by then.
 *
 * @param later the sessions that have the id now; all of them began later
 */
function sessionAt<T extends LocalSession>(
  known: readonly T[],
  timeMs: number,
  begins: boolean,
  later: readonly SessionOrigin[],
): T | undefined {
  const before = latestUntil(known, timeMs);
  if (before !== undefined) return begins && timeMs - before.firstMs > BEGINS_WITHIN_MS ? undefined : before;
  const untilMs = later.reduce((ms, { createdMs }) => Math.min(ms, createdMs), timeMs + OUT_OF_ORDER_MS);
  return earliest(known.filter((one) => one.local?.origin === undefined && one.firstMs < untilMs));
}

const beginMs = ({ local, firstMs }: LocalSession): number => local?.origin?.createdMs ?? firstMs;

const latestUntil = <T extends LocalSession>(known: readonly T[], timeMs: number): T | undefined =>
  latest(
    known.filter((one) => beginMs(one) <= timeMs),
    beginMs,
  );

const earliest = <T extends LocalSession>(known: readonly T[]): T | undefined => latest(known, (one) => -beginMs(one));

const latest = <T>(all: readonly T[], rankOf: (one: T) => number): T | undefined =>
  all.reduce<T | undefined>((a, b) => (a !== undefined && rankOf(a) >= rankOf(b) ? a : b), undefined);

/** The same for the same session of the same database on the same machine, also in a new store. */
function identityOf(
  source: string,
  nativeId: string,
  place: StorePlace,
  origin: SessionOrigin | undefined,
  firstMs: number,
): string {
  const machine = (place.machineId ?? (() => machineIdOn(process.platform)))();
  const begin = origin === undefined ? ["first", firstMs] : [realPathOf(origin.database), origin.createdMs];
  // Images of containers contain a machine id, or none
  const parts = ["local", source, nativeId, machine ?? "", hostname(), place.home, ...begin];
  return `${nativeId}@${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12)}`;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
