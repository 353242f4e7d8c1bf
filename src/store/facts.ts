import type { Event } from "#core/model/event-schema.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { CALL_KEY } from "#core/packed/fact-tables.ts";
import { isChangeFact } from "#core/rules/change-facts.ts";
import { answerId, duplicatedAnswerId, isDuplicateAnswer } from "#core/rules/duplicate-answers.ts";
import { hasAssignedSessionId, timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { otherKey } from "#core/rules/keys.ts";
import { mergeEntries, withFuller } from "#core/rules/merge.ts";
import { countUnpackedChanges, putChangeFact } from "./changes.ts";
import type { Database } from "./database.ts";
import { claimRecord, ownedKeyOf, ownerOf } from "./owners.ts";
import { hasPacked, packedOwners, takePacked } from "./packed.ts";
import { revive } from "./prune.ts";
import { hasPrunedFacts, isPrunedFact } from "./pruned-facts.ts";
import { type StoredSession, sessionById } from "./sessions.ts";

/** A model call that was counted, and a more complete record of it that came later. */
export interface Revision {
  /** Number of the session that counted it. */
  readonly session: number;
  readonly before: EntryOf<"model_call">;
  readonly after: EntryOf<"model_call">;
}

/** Adds events; an event with a known id changes nothing. @returns how many were new */
export function addEvents(db: Database, session: StoredSession, events: readonly Event[]): number {
  const insert = db.prepare(
    "INSERT INTO events (id, session, type, time_ms, body, unplaced_process) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const mayBePruned = hasPrunedFacts(db);
  if (events.length > 0) unpack(db, session);
  const added = events
    .filter((e) => !mayBePruned || !isPrunedFact(db, "event", e.id))
    .reduce(
      (n, e) => n + insert.run(e.id, session.id, e.type, timeMsOf(e), JSON.stringify(e), unplacedProcess(e)).changes,
      0,
    );
  if (added > 0 && mayBePruned) revive(db, session.id);
  return added;
}

/**
 * Adds entries of a transcript. A record that is known is merged; a copy of another session's record is left out.
 *
 * @returns the model calls that were counted and are more complete now
 */
export function addEntries(
  db: Database,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly Revision[] {
  const revisions: Revision[] = [];
  const mayBePruned = hasPrunedFacts(db);
  if (entries.length > 0) unpack(db, session);
  for (const read of entries) {
    if (mayBePruned && isPrunedFact(db, "entry", session.source, session.sessionId, read.key)) continue;
    const claimed = underOwnedKey(db, session, read);
    if (isCopyOfKnownAnswer(db, session, claimed)) continue;
    const { isOwn, moved } = claim(db, session, claimed, mayBePruned);
    if (!isOwn) {
      revisions.push(...completeFromCopy(db, session.source, claimed));
      continue;
    }
    const entry = isCall(claimed) && moved !== undefined && isCall(moved) ? withFuller(claimed, moved) : claimed;
    const known = db
      .prepare("SELECT body, settled FROM entries WHERE session = ? AND key = ?")
      .get(session.id, entry.key);
    if (known === undefined) {
      db.prepare("INSERT INTO entries (session, key, kind, time_ms, body, settled) VALUES (?, ?, ?, ?, ?, ?)").run(
        session.id,
        entry.key,
        entry.kind,
        entry.timeMs,
        JSON.stringify(entry),
        replaceCopies(db, session, entry) || isChangeFact(entry) ? 1 : 0,
      );
      if (isChangeFact(entry)) putChangeFact(db, session.id, entry);
      if (mayBePruned) revive(db, session.id);
      continue;
    }
    const before = JSON.parse(String(known["body"])) as TranscriptEntry;
    const after = mergeEntries(before, entry);
    const body = JSON.stringify(after);
    if (body === known["body"]) continue;
    db.prepare("UPDATE entries SET body = ?, time_ms = ?, settled = max(settled, ?) WHERE session = ? AND key = ?").run(
      body,
      after.timeMs,
      replaceCopies(db, session, after) ? 1 : 0,
      session.id,
      entry.key,
    );
    if (isChangeFact(after)) putChangeFact(db, session.id, after);
    if (known["settled"] === 1 && isCall(before) && isCall(after)) {
      revisions.push({ session: session.id, before, after });
    }
  }
  return revisions;
}

/**
 * Completes a model call with the figures of a copy of it in another session.
 *
 * @returns the change, if the call was counted
 */
export function completeFromCopy(db: Database, source: string, copy: TranscriptEntry): readonly Revision[] {
  if (!isCall(copy) || copy.globalKey === undefined) return [];
  const session = ownerOf(db, source, copy.globalKey);
  if (session === undefined) return [];
  const known = db.prepare("SELECT body, settled FROM entries WHERE session = ? AND key = ?").get(session, copy.key);
  if (known === undefined) return [];
  const before = JSON.parse(String(known["body"])) as TranscriptEntry;
  if (!isCall(before)) return [];
  const after = withFuller(before, copy);
  if (after === before) return [];
  db.prepare("UPDATE entries SET body = ? WHERE session = ? AND key = ?").run(JSON.stringify(after), session, copy.key);
  return known["settled"] === 1 ? [{ session, before, after }] : [];
}

/** Turns a packed session into rows: its facts are open again. Does nothing for any other session. */
export function unpack(db: Database, session: StoredSession): void {
  const facts = takePacked(db, session.id);
  if (facts.length === 0) return;
  countUnpackedChanges(db, session.id);
  addEntries(db, session, facts);
}

/**
 * Facts that are not settled: no closed turn contains them. Empty for a packed session.
 *
 * @param untilMs only facts up to this time, in milliseconds since the epoch
 */
export function openFacts(
  db: Database,
  sessionNumber: number,
  untilMs = Number.MAX_SAFE_INTEGER,
): { readonly events: readonly Event[]; readonly entries: readonly TranscriptEntry[] } {
  // INDEXED BY: otherwise SQLite reads all rows of the session
  return {
    events: bodies(
      db,
      "SELECT body FROM events INDEXED BY events_open WHERE session = ? AND settled = 0 AND time_ms <= ?",
      sessionNumber,
      untilMs,
    ),
    entries: bodies(
      db,
      "SELECT body FROM entries INDEXED BY entries_open WHERE session = ? AND settled = 0 AND time_ms <= ?",
      sessionNumber,
      untilMs,
    ),
  };
}

/** How many entries of a session are not settled. */
export const countOpenEntries = (db: Database, sessionNumber: number): number =>
  Number(
    db
      .prepare("SELECT count(*) AS n FROM entries INDEXED BY entries_open WHERE session = ? AND settled = 0")
      .get(sessionNumber)?.["n"],
  );

/** Every event of a session in order of time. */
export const eventsOf = (db: Database, sessionNumber: number): readonly Event[] =>
  bodies(db, "SELECT body FROM events WHERE session = ? ORDER BY time_ms, id", sessionNumber);

/** Time of a session's first event. @returns `undefined` if it has none */
export function firstEventMs(db: Database, sessionNumber: number): number | undefined {
  const ms = db.prepare("SELECT min(time_ms) AS ms FROM events WHERE session = ?").get(sessionNumber)?.["ms"];
  return typeof ms === "number" ? ms : undefined;
}

/** Starts and ends of a session's tool calls since a time, in order. */
export const toolEventsSince = (db: Database, sessionNumber: number, sinceMs: number): readonly Event[] =>
  bodies(
    db,
    `SELECT body FROM events WHERE session = ? AND time_ms >= ? AND type IN ('tool.start', 'tool.end')
     ORDER BY time_ms, id`,
    sessionNumber,
    sinceMs,
  );

/** Ids of the prompts that hooks reported for a session. */
export const hookPromptIds = (db: Database, sessionNumber: number): ReadonlySet<string> =>
  new Set(
    db
      .prepare(
        `SELECT json_extract(body, '$.extensions.prompt_id') AS id FROM events
         WHERE session = ? AND type = 'prompt.submit'`,
      )
      .all(sessionNumber)
      .flatMap((row) => (typeof row["id"] === "string" ? [row["id"]] : [])),
  );

/** When the main agent was active, as the stored entries of its transcript say. */
export function activityIn(
  db: Database,
  sessionNumber: number,
): Record<"promptMs" | "beforeMs" | "lastMs", number | undefined> {
  const row = db
    .prepare(
      `WITH facts AS (
         SELECT kind = 'prompt' AS is_prompt, coalesce(json_extract(body, '$.endMs'), time_ms) AS ms FROM entries
         WHERE session = ? AND kind IN ('prompt', 'model_call', 'tool_result')
           AND json_extract(body, '$.agentId') IS NULL),
       last AS (SELECT max(ms) AS ms FROM facts WHERE is_prompt)
       SELECT (SELECT ms FROM last) AS prompt_ms, max(ms) FILTER (WHERE NOT is_prompt) AS last_ms,
         max(ms) FILTER (WHERE NOT is_prompt AND ms < (SELECT ms FROM last)) AS before_ms FROM facts`,
    )
    .get(sessionNumber);
  const numberIn = (name: string): number | undefined => (typeof row?.[name] === "number" ? row[name] : undefined);
  return { promptMs: numberIn("prompt_ms"), beforeMs: numberIn("before_ms"), lastMs: numberIn("last_ms") };
}

/** Marks events and entries as settled. @param keys ids of events, keys of entries; unknown ones are ignored */
export function settleFacts(db: Database, sessionNumber: number, keys: readonly string[]): void {
  const event = db.prepare("UPDATE events SET settled = 1 WHERE id = ? AND session = ?");
  const entry = db.prepare("UPDATE entries SET settled = 1 WHERE session = ? AND key = ?");
  for (const key of keys) {
    if (event.run(key, sessionNumber).changes === 0) entry.run(sessionNumber, key);
  }
}

// --- internal ---

// Some transcripts contain an answer again, under another request. Such a copy is not stored, and not counted twice. See
// `model/duplicate-answers.ts`.

/** Whether an entry is a copy of an answer that the session contains. */
function isCopyOfKnownAnswer(db: Database, session: StoredSession, entry: TranscriptEntry): boolean {
  const id = duplicatedAnswerId(entry);
  return id !== undefined && sameAnswer(db, session, entry, id).some((other) => isDuplicateAnswer(entry, other.entry));
}

/**
 * For an answer that comes after its copies, as when its file is read in slices or could not be read: deletes the copies that
 * are not settled.
 *
 * @returns whether a copy was settled: it stays where it was counted, and the answer must not be counted as well
 */
function replaceCopies(db: Database, session: StoredSession, answer: TranscriptEntry): boolean {
  const id = answerId(answer);
  if (id === undefined) return false;
  const copies = sameAnswer(db, session, answer, id).filter(({ entry }) => isDuplicateAnswer(entry, answer));
  for (const { entry, isSettled } of copies) {
    if (isSettled) continue;
    db.prepare("DELETE FROM entries WHERE session = ? AND key = ?").run(session.id, entry.key);
    db.prepare("DELETE FROM content WHERE session = ? AND fact = ?").run(session.id, entry.key);
    db.prepare("DELETE FROM owners WHERE source = ? AND global_key = ? AND session = ?").run(
      session.source,
      entry.globalKey ?? "",
      session.id,
    );
  }
  return copies.some(({ isSettled }) => isSettled);
}

/** For an event without a session id: the agent process whose session it belongs to. */
const unplacedProcess = (event: Event): string | null =>
  hasAssignedSessionId(event) ? (extrasOf(event).process ?? null) : null;

const isCall = (entry: TranscriptEntry): entry is EntryOf<"model_call"> => entry.kind === "model_call";

/** Whether an entry belongs to a session. A record whose id is unique across sessions belongs to only one of them. */
function claim(
  db: Database,
  session: StoredSession,
  { key, globalKey }: TranscriptEntry,
  mayBePruned: boolean,
): ReturnType<typeof claimRecord> {
  if (globalKey === undefined) return { isOwn: true };
  // The owners of packed sessions' records are known only once the sessions are unpacked
  for (const number of hasPacked(db) ? packedOwners(db, session.source, globalKey) : []) {
    unpack(db, sessionById(db, number));
  }
  return claimRecord(db, session, { key, globalKey }, mayBePruned);
}

/** The entry, under the key of the same stored answer if one of the two lacks the id of its request. */
function underOwnedKey(db: Database, session: StoredSession, entry: TranscriptEntry): TranscriptEntry {
  const { key, globalKey } = entry;
  if (globalKey === undefined || globalKey !== key || entry.kind !== "model_call") return entry;
  if (ownerOf(db, session.source, key) !== undefined) return entry;
  const other = hasPacked(db) ? otherKey(key) : undefined;
  if (other !== undefined) {
    for (const number of packedOwners(db, session.source, other)) unpack(db, sessionById(db, number));
  }
  const known = ownedKeyOf(db, session.source, key);
  return known === undefined ? entry : { ...entry, key: known, globalKey: known };
}

const bodies = <T>(db: Database, sql: string, ...values: readonly number[]): readonly T[] =>
  // One row at a time: the JSON of a large turn's facts takes as much memory as the facts
  Array.from(db.prepare(sql).each(...values), (row) => JSON.parse(String(row["body"])) as T);

/** The session's other entries with the same answer, under other requests. */
const sameAnswer = (db: Database, session: StoredSession, { key }: TranscriptEntry, id: string) =>
  db
    .prepare("SELECT body, settled FROM entries WHERE session = ? AND key > ? AND key < ? AND key <> ?")
    .all(session.id, `${CALL_KEY}${id}:`, `${CALL_KEY}${id};`, key)
    .map((row) => ({
      entry: JSON.parse(String(row["body"])) as TranscriptEntry,
      isSettled: row["settled"] === 1,
    }));
