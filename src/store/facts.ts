import { answerId, duplicatedAnswerId, isDuplicateAnswer } from "../model/duplicate-answers.ts";
import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import { KEYS } from "../model/fact-tables.ts";
import { mergeEntries } from "../model/merge.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../model/transcript.ts";
import { moveContent } from "./content.ts";
import type { Database } from "./database.ts";
import { hasForgotten, isForgotten } from "./forgotten.ts";
import { hasPacked, packedOwners, takePacked } from "./packed.ts";
import { revive } from "./prune.ts";
import { insertRows, rowOf } from "./rows.ts";
import { type StoredSession, sessionById } from "./sessions.ts";

/** A model call that was counted and of which a fuller record has come. */
export interface Revision {
  readonly before: EntryOf<"model_call">;
  readonly after: EntryOf<"model_call">;
}

/** Adds events; those with an id that is known already change nothing. @returns how many were new */
export function addEvents(db: Database, session: StoredSession, events: readonly Event[]): number {
  const insert = db.prepare(
    "INSERT INTO events (id, session, type, time_ms, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const mayBeForgotten = hasForgotten(db);
  if (events.length > 0) unpack(db, session);
  const added = events
    .filter((e) => !mayBeForgotten || !isForgotten(db, "event", e.id))
    .reduce((n, e) => n + insert.run(e.id, session.id, e.type, timeMsOf(e), JSON.stringify(e)).changes, 0);
  if (added > 0 && mayBeForgotten) revive(db, session.id);
  return added;
}

/**
 * Adds what a transcript holds. Records known already are merged; copies of another session's are left out.
 *
 * @returns what was counted already and is fuller now
 */
export function addEntries(
  db: Database,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly Revision[] {
  const revisions: Revision[] = [];
  const mayBeForgotten = hasForgotten(db);
  if (entries.length > 0) unpack(db, session);
  for (const entry of entries) {
    if (mayBeForgotten && isForgotten(db, "entry", session.source, session.sessionId, entry.key)) continue;
    if (isReplayed(db, session, entry) || !owns(db, session, entry, mayBeForgotten)) continue;
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
        isCountedAsReplay(db, session, entry) ? 1 : 0,
      );
      if (mayBeForgotten) revive(db, session.id);
      continue;
    }
    const before = JSON.parse(String(known["body"])) as TranscriptEntry;
    const after = mergeEntries(before, entry);
    const body = JSON.stringify(after);
    if (body === known["body"]) continue;
    db.prepare("UPDATE entries SET body = ?, time_ms = ?, settled = max(settled, ?) WHERE session = ? AND key = ?").run(
      body,
      after.timeMs,
      isCountedAsReplay(db, session, after) ? 1 : 0,
      session.id,
      entry.key,
    );
    if (known["settled"] === 1 && before.kind === "model_call" && after.kind === "model_call") {
      revisions.push({ before, after });
    }
  }
  return revisions;
}

/** Makes a packed session one like any other: its facts are open again. Does nothing for any other. */
export function unpack(db: Database, session: StoredSession): void {
  const facts = takePacked(db, session.id);
  if (facts.length > 0) addEntries(db, session, facts);
}

/**
 * What no closed turn has taken yet; up to a time, where there is one. The index is named: SQLite would rather go through
 * everything that the session ever told.
 */
export function openFacts(
  db: Database,
  sessionNumber: number,
  untilMs = Number.MAX_SAFE_INTEGER,
): { readonly events: readonly Event[]; readonly entries: readonly TranscriptEntry[] } {
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

/** Every event of a session in order of time. */
export const eventsOf = (db: Database, sessionNumber: number): readonly Event[] =>
  bodies(db, "SELECT body FROM events WHERE session = ? ORDER BY time_ms, id", sessionNumber);

/** Number of the session that holds the original of a record whose id is unique over sessions; packed ones are not asked. */
export function ownerOf(db: Database, source: string, globalKey: string): number | undefined {
  const row = db.prepare("SELECT session FROM owners WHERE source = ? AND global_key = ?").get(source, globalKey);
  return row === undefined ? undefined : Number(row["session"]);
}

/** All such records, some at a time. */
export function* owners(
  db: Database,
): Generator<readonly { readonly source: string; readonly globalKey: string }[], void, void> {
  const some = db.prepare(
    "SELECT source, global_key FROM owners WHERE (source, global_key) > (?, ?) ORDER BY source, global_key LIMIT 5000",
  );
  for (let last = { source: "", globalKey: "" }; ; ) {
    const found = some
      .all(last.source, last.globalKey)
      .map((row) => ({ source: String(row["source"]), globalKey: String(row["global_key"]) }));
    if (found.length > 0) yield found;
    const end = found.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

/** Marks events and entries as taken. */
export function settleFacts(db: Database, sessionNumber: number, keys: readonly string[]): void {
  const event = db.prepare("UPDATE events SET settled = 1 WHERE id = ? AND session = ?");
  const entry = db.prepare("UPDATE entries SET settled = 1 WHERE session = ? AND key = ?");
  for (const key of keys) {
    if (event.run(key, sessionNumber).changes === 0) entry.run(sessionNumber, key);
  }
}

/**
 * Events of a process that told no session id, and that no closed turn has taken yet. They are in a session of that process,
 * or in one of which no process has told the id: looking into all that is open would take ever longer, the more waits.
 */
export const unplacedEvents = (
  db: Database,
  source: string,
  process: string,
): readonly { readonly session: number; readonly event: Event }[] =>
  db
    .prepare(
      `SELECT e.session, e.body FROM sessions s CROSS JOIN events e ON e.session = s.id
       WHERE s.source = ?1 AND (s.process IS NULL OR s.process = ?2) AND e.settled = 0
         AND json_extract(e.body, '$.extensions.process') = ?2
         AND json_extract(e.body, '$.extensions.session_id_origin') = 'minted'`,
    )
    .all(source, process)
    .map((row) => ({ session: Number(row["session"]), event: JSON.parse(String(row["body"])) as Event }));

/** Moves one event to another session of its source. */
export function moveEvent(db: Database, event: Event, to: StoredSession): void {
  const moved = { ...event, session_id: to.sessionId };
  const from = db.prepare("SELECT session FROM events WHERE id = ?").get(event.id)?.["session"];
  db.prepare("UPDATE events SET session = ?, body = ? WHERE id = ?").run(to.id, JSON.stringify(moved), event.id);
  if (from !== undefined) moveContent(db, Number(from), to.id, event.id);
}

/** Moves what no closed turn has taken yet to the session that this one is a subagent of. */
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

/** An event of a subagent that has a session of its own, as its root session keeps it. */
export const inRoot = (event: Event, child: StoredSession, root: StoredSession): Event => ({
  ...event,
  session_id: root.sessionId,
  extensions: { ...event.extensions, agent_id: extrasOf(event).agent_id ?? child.sessionId },
});

/** Ids of the prompts that hooks told of this session. */
export const toldPromptIds = (db: Database, sessionNumber: number): ReadonlySet<string> =>
  new Set(
    db
      .prepare(
        `SELECT json_extract(body, '$.extensions.prompt_id') AS id FROM events
         WHERE session = ? AND type = 'prompt.submit'`,
      )
      .all(sessionNumber)
      .flatMap((row) => (typeof row["id"] === "string" ? [row["id"]] : [])),
  );

/** How far a transcript file was read. */
export interface Position {
  readonly offset: Offset;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** @returns `undefined` for a file that was never read */
export function positionOf(db: Database, path: string): Position | undefined {
  const row = db.prepare("SELECT bytes, memo, size, modified_ms FROM positions WHERE path = ?").get(path);
  if (row === undefined) return undefined;
  return {
    offset: { bytes: Number(row["bytes"]), memo: JSON.parse(String(row["memo"])) as Offset["memo"] },
    sizeBytes: Number(row["size"]),
    modifiedMs: Number(row["modified_ms"]),
  };
}

/** How many entries of a session no turn has taken yet. */
export const openEntries = (db: Database, sessionNumber: number): number =>
  Number(
    db
      .prepare("SELECT count(*) AS n FROM entries INDEXED BY entries_open WHERE session = ? AND settled = 0")
      .get(sessionNumber)?.["n"],
  );

/** Whether anything was ever read of a session's transcripts. */
export const hasReadTranscript = (db: Database, sessionNumber: number): boolean =>
  db.prepare("SELECT 1 FROM positions WHERE session = ? LIMIT 1").get(sessionNumber) !== undefined;

/** What a position says of a file that was not read to its end; no file is this large. */
export const UNFINISHED = -1;

/** Numbers of the sessions that have such a file. */
export const unfinishedSessions = (db: Database): readonly number[] =>
  db
    .prepare("SELECT DISTINCT session FROM positions WHERE size = ?")
    .all(UNFINISHED)
    .map((row) => Number(row["session"]));

export const setPosition = (
  db: Database,
  sessionNumber: number,
  path: string,
  position: Position,
  unreadable: number,
): void => setPositions(db, [{ sessionNumber, path, position, unreadable }]);

/** How far files were read, one after the other. Of several, call it inside a transaction. */
export const setPositions = (
  db: Database,
  files: readonly {
    readonly sessionNumber: number;
    readonly path: string;
    readonly position: Position;
    readonly unreadable: number;
  }[],
): void =>
  insertRows(
    db,
    "INSERT INTO positions (path, session, bytes, memo, size, modified_ms, unreadable) VALUES",
    rowOf(7),
    files.flatMap(({ path, sessionNumber, position: { offset, sizeBytes, modifiedMs }, unreadable }) => [
      path,
      sessionNumber,
      offset.bytes,
      JSON.stringify(offset.memo),
      sizeBytes,
      modifiedMs,
      unreadable,
    ]),
    `ON CONFLICT (path) DO UPDATE SET session = excluded.session, bytes = excluded.bytes, memo = excluded.memo,
       size = excluded.size, modified_ms = excluded.modified_ms, unreadable = unreadable + excluded.unreadable`,
  );

/** A file that has changed and told nothing new: it is not looked into again until it changes once more. */
export function notePartSize(db: Database, path: string, { sizeBytes, modifiedMs }: Omit<Position, "offset">): void {
  db.prepare("UPDATE positions SET size = ?, modified_ms = ? WHERE path = ?").run(sizeBytes, modifiedMs, path);
}

// --- internal ---

/**
 * A record whose id is unique over sessions belongs to one of them: to that which began first, as long as nothing was
 * settled; what was settled stays where it was counted.
 */
function owns(db: Database, session: StoredSession, entry: TranscriptEntry, mayBeForgotten: boolean): boolean {
  if (entry.globalKey === undefined) return true;
  // A packed session's records have owners as soon as somebody asks for them
  for (const number of hasPacked(db) ? packedOwners(db, session.source, entry.globalKey) : []) {
    unpack(db, sessionById(db, number));
  }
  const owner = db
    .prepare(
      `SELECT o.session, s.first_ms FROM owners o JOIN sessions s ON s.id = o.session
       WHERE o.source = ? AND o.global_key = ?`,
    )
    .get(session.source, entry.globalKey);
  if (owner === undefined) {
    // A copy, in a fork or a resumed session, of what a session that is pruned by now held
    if (mayBeForgotten && isForgotten(db, "owner", session.source, entry.globalKey)) return false;
    db.prepare("INSERT INTO owners (source, global_key, session) VALUES (?, ?, ?)").run(
      session.source,
      entry.globalKey,
      session.id,
    );
    return true;
  }
  if (owner["session"] === session.id) return true;
  if (Number(owner["first_ms"]) <= session.firstMs) return false;
  const taken = db
    .prepare("DELETE FROM entries WHERE session = ? AND key = ? AND settled = 0")
    .run(Number(owner["session"]), entry.key);
  if (taken.changes === 0) return false;
  moveContent(db, Number(owner["session"]), session.id, entry.key);
  db.prepare("UPDATE owners SET session = ? WHERE source = ? AND global_key = ?").run(
    session.id,
    session.source,
    entry.globalKey,
  );
  return true;
}

/** See `withoutReplays`: a copy whose answer is known. */
function isReplayed(db: Database, session: StoredSession, entry: TranscriptEntry): boolean {
  const id = duplicatedAnswerId(entry);
  return id !== undefined && sameAnswer(db, session, entry, id).some((other) => isDuplicateAnswer(entry, other.entry));
}

/**
 * The same from the other side: of an answer that is told after its copies, as where its file is read in slices or could not
 * be read, the open ones are taken out.
 *
 * @returns whether one was counted: it stays where it was counted, and the answer does not count beside it
 */
function isCountedAsReplay(db: Database, session: StoredSession, answer: TranscriptEntry): boolean {
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

/** What else a session knows of an answer, under other requests. */
const sameAnswer = (db: Database, session: StoredSession, { key }: TranscriptEntry, id: string) =>
  db
    .prepare("SELECT body, settled FROM entries WHERE session = ? AND key > ? AND key < ? AND key <> ?")
    .all(session.id, `${KEYS.call}${id}:`, `${KEYS.call}${id};`, key)
    .map((row) => ({
      entry: JSON.parse(String(row["body"])) as TranscriptEntry,
      isSettled: row["settled"] === 1,
    }));

const bodies = <T>(db: Database, sql: string, ...values: readonly number[]): readonly T[] =>
  db
    .prepare(sql)
    .all(...values)
    .map((row) => JSON.parse(String(row["body"])) as T);
