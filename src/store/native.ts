import type { NativeRecord } from "#core/model/native.ts";
import type { Database, Row } from "./database.ts";
import { NATIVE_DROPPED, readMeta } from "./meta.ts";
import { numbers, texts } from "./rows.ts";
import type { StoredSession } from "./sessions.ts";

// What is kept of agents' own telemetry. It refers to sessions by their agent's id, because it can come first

/** A record's state: not on a span yet, on one and counted, or counted as belonging to nothing. */
export const NATIVE = { pending: 0, joined: 1, unjoined: 2 } as const;

/** Stores records. One that is stored already stays as it is. @returns how many were new. Call it inside a transaction */
export function putNative(db: Database, source: string, records: readonly NativeRecord[], nowMs: number): number {
  const put = db.prepare(
    `INSERT INTO native_records (source, session_id, key, time_ms, received_ms, span_id, body)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  let added = 0;
  for (const record of records) {
    const { sessionId, key, timeMs, span } = record;
    added += put.run(source, sessionId, key, timeMs, nowMs, span?.spanId ?? null, JSON.stringify(record)).changes;
  }
  return added;
}

/**
 * A session's records that are not on a span yet, in any order. Most sessions have none.
 *
 * @param agentIds of subagents that are not settled
 */
export const pendingNative = (
  db: Database,
  session: StoredSession,
  agentIds: readonly string[] = [],
): readonly NativeRecord[] =>
  db
    .prepare(`SELECT body FROM native_records WHERE ${OF_SESSION} AND state = 0`)
    .all(...placeOf(session, agentIds))
    .map(toRecord);

/** Of a session's records that are not on a span yet, the keys of those that came before a time. */
export const pendingNativeBefore = (db: Database, session: StoredSession, receivedMs: number): ReadonlySet<string> =>
  new Set(
    texts(
      db,
      `SELECT key FROM native_records WHERE ${OF_SESSION} AND state = 0 AND received_ms < ?3`,
      ...placeOf(session),
      receivedMs,
    ),
  );

/** The record of a native span. */
export function nativeOfSpan(db: Database, session: StoredSession, spanId: string): NativeRecord | undefined {
  const row = db
    .prepare(`SELECT body FROM native_records WHERE ${OF_SESSION} AND span_id = ?3`)
    .get(...placeOf(session), spanId);
  return row === undefined ? undefined : toRecord(row);
}

/** The records of a session, in any order. @param isJoined only those that are on a span */
export const nativeRecordsOf = (db: Database, session: StoredSession, isJoined = false): readonly NativeRecord[] =>
  db
    .prepare(`SELECT body FROM native_records WHERE ${OF_SESSION}${isJoined ? " AND state = 1" : ""}`)
    .all(...placeOf(session))
    .map(toRecord);

/** Call it inside a transaction. */
export function setNativeState(
  db: Database,
  source: string,
  records: readonly Pick<NativeRecord, "sessionId" | "key">[],
  state: (typeof NATIVE)[keyof typeof NATIVE],
): void {
  const set = db.prepare("UPDATE native_records SET state = ? WHERE source = ? AND session_id = ? AND key = ?");
  for (const { sessionId, key } of records) set.run(state, source, sessionId, key);
}

/** Numbers of the sessions with records that are not on a span yet. */
export const sessionsWithNative = (db: Database, limit: number): readonly number[] =>
  numbers(
    db,
    `SELECT DISTINCT coalesce(s.parent, s.id) FROM native_records n JOIN sessions s ON s.source = n.source
       AND (s.session_id = n.session_id OR s.native_id = n.session_id)
     WHERE n.state = 0
     UNION SELECT session FROM subagents WHERE agent_id IN (SELECT session_id FROM native_records WHERE state = 0)
     LIMIT ?`,
    limit,
  );

/** Removes records that came before a time and whose session was never collected. @returns them. Call it inside a transaction */
export function takeForeignNative(
  db: Database,
  beforeMs: number,
): readonly { readonly source: string; readonly sessionId: string; readonly key: string }[] {
  const foreign = `state = 0 AND received_ms < ? AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.source = native_records.source
    AND (s.session_id = native_records.session_id OR s.native_id = native_records.session_id))
    AND NOT EXISTS (SELECT 1 FROM subagents a WHERE a.agent_id = native_records.session_id)`;
  const found = db
    .prepare(`SELECT source, session_id, key FROM native_records WHERE ${foreign}`)
    .all(beforeMs)
    .map((row) => ({ source: String(row["source"]), sessionId: String(row["session_id"]), key: String(row["key"]) }));
  if (found.length > 0) db.prepare(`DELETE FROM native_records WHERE ${foreign}`).run(beforeMs);
  return found;
}

/** Removes the records of a session, unless another one has the same id. */
export function forgetNative(db: Database, session: number): void {
  db.prepare(
    `DELETE FROM native_records WHERE source = (SELECT source FROM sessions WHERE id = ?1) AND session_id IN
       (SELECT coalesce(native_id, session_id) FROM sessions WHERE id = ?1 OR parent = ?1
        UNION ALL SELECT agent_id FROM subagents WHERE session = ?1)
     AND NOT EXISTS (SELECT 1 FROM sessions s JOIN sessions o ON o.source = s.source AND o.native_id = s.native_id
       WHERE s.id = ?1 AND o.id <> ?1 AND o.pruned_ms IS NULL)`,
  ).run(session);
}

/** Removes names of servers, for a session without names. @returns whether there were any */
export const forgetNativeNames = (db: Database, session: StoredSession): boolean =>
  db
    .prepare(
      `UPDATE native_records SET body = json_set(body, '$.facts.connection.server', 'mcp')
       WHERE ${OF_SESSION} AND json_extract(body, '$.facts.connection.server') <> 'mcp'`,
    )
    .run(...placeOf(session)).changes > 0;

/** Numbers of records. */
export interface NativeCounts {
  /** Of sessions in the store. */
  readonly joined: number;
  readonly pending: number;
  /** Since the store was made: those that belong to nothing, and those that are not needed. */
  readonly unjoined: number;
  readonly dropped: number;
}

/** @param unjoinedMetric name of the counter of those that belong to nothing */
export function nativeCounts(db: Database, unjoinedMetric: string): NativeCounts {
  const [joined = 0, pending = 0] = [NATIVE.joined, NATIVE.pending].flatMap((state) =>
    numbers(db, "SELECT count(*) FROM native_records WHERE state = ?", state),
  );
  const [unjoined = 0] = numbers(db, "SELECT sum(value) FROM counters WHERE metric = ?", unjoinedMetric);
  return { joined, pending, unjoined, dropped: Number(readMeta(db, NATIVE_DROPPED) ?? "0") };
}

// --- internal ---

/** Records of a session, ?1 and ?2 of `placeOf`. Some agents' subagents have ids of sessions, under which their records come. */
const OF_SESSION = `source = ?1 AND session_id IN (SELECT value FROM json_each(?2) WHERE key > 0
  UNION ALL SELECT coalesce(native_id, session_id) FROM sessions WHERE parent = ?2->>0
  UNION ALL SELECT agent_id FROM subagents WHERE session = ?2->>0)`;

/** Its source; and as JSON its number, its agent's id, and ids of subagents that are not in the store. */
const placeOf = (
  { id, source, sessionId, local }: StoredSession,
  agentIds: readonly string[] = [],
): readonly [string, string] => [source, JSON.stringify([id, local?.nativeId ?? sessionId, ...agentIds])];

const toRecord = (row: Row): NativeRecord => JSON.parse(String(row["body"])) as NativeRecord;
