// Tables as written by 0.90.0, read 2026-11-26; what they do not contain: README.md beside this file

import { existsSync } from "node:fs";
import { join } from "node:path";
import type {
  LocatedSession,
  LocateQuery,
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../../model/transcript.ts";
import { partOf, sessionIn } from "../shared/transcript/database-part.ts";
import { type Dated, located, oldestFirst, reportProblem } from "../shared/transcript/past.ts";
import { openDatabase, queryDatabase, type View } from "../shared/transcript/sqlite.ts";
import { uniqueCallIds } from "./calls.ts";
import { messagesContent } from "./content.ts";
import { DATABASE, databasesBelow, dataFolders, projectOf } from "./places.ts";
import { callRows, type MessageRow, messageAt, messagesAfter, messagesById } from "./rows.ts";
import { descendants, rootSessions, type SessionRow, sessionRow, startOf } from "./sessions.ts";
import { INITIAL_STATE, type WalkSession, type WalkState, walk } from "./walk.ts";

export default { roots: dataFolders, locate, files, read } satisfies TranscriptReader;

/** All sessions of all databases, without subagents. If one database is unreadable, the others are still read. */
async function* locate(query: LocateQuery): AsyncGenerator<LocatedSession> {
  const sessions = new Map<string, Dated>();
  for (const path of new Set(query.roots.flatMap(databasesBelow))) {
    try {
      for (const { id, createdMs } of await queryIn(path, query.roots, rootSessions)) {
        if (!sessions.has(id)) sessions.set(id, { sessionId: id, path, startMs: createdMs });
      }
    } catch (error) {
      reportProblem(query, path, error);
    }
  }
  for (const session of oldestFirst(sessions.values())) yield located(session, query);
}

/** One part per session: the requested one, then its subagents at any depth. If the session was deleted, there is one empty part. */
async function files({ sessionId, path: reported, home, roots }: TranscriptQuery): Promise<readonly TranscriptFile[]> {
  const usual = (roots ?? dataFolders(home, {})).map((folder) => join(folder, DATABASE));
  const candidates = [...new Set([...(reported === undefined ? [] : [reported]), ...usual])].filter((p) =>
    existsSync(p),
  );
  let failure: unknown;
  for (const path of candidates) {
    try {
      const found = await queryIn(path, roots, (db) => sessionAndBelow(db, sessionId));
      if (found !== undefined) return found.map(({ id }) => partOf(path, id, id === sessionId ? undefined : id));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return reported !== undefined && candidates.includes(reported) ? [partOf(reported, sessionId, undefined)] : [];
}

async function* read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const sessionId = sessionIn(file);
  const db = await openDatabase({ path: file.path, roots: file.roots, tables: TABLES });
  try {
    const row = sessionRow(db, sessionId);
    let memo: Memo = memoOf(db, from);
    const parent = row === undefined ? undefined : parentOf(db, row);
    if (row === undefined || (parent !== undefined && file.agentId === undefined)) {
      const entries = row === undefined || parent === undefined ? [] : [sessionEntry(row, undefined, parent.id)];
      yield { entries, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
      return;
    }
    const root = rootOf(db, row);
    const session: WalkSession = {
      ...(file.agentId !== undefined && { agentId: file.agentId }),
      callIdOf: uniqueCallIds(db, [root.id, ...descendants(db, root.id).map(({ id }) => id)]),
    };
    const first = memo.isTold ? [] : [beginning(db, row, parent, root, session, file.path)];
    memo = { ...memo, isTold: true };
    yield { entries: first, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
    let openRows = messagesById(db, sessionId, memo.open);
    for (;;) {
      const newRows = messagesAfter(db, sessionId, memo.place, MESSAGES_PER_BATCH);
      if (openRows.length + newRows.length === 0) return;
      const rows = [...openRows, ...newRows];
      const batch = walkAll(rows, memo, session);
      memo = batch.memo;
      const { entries, unreadable } = batch;
      const records = newRows.length - Math.min(newRows.length, unreadable);
      const content = wanted.content === true ? messagesContent(db, rows, entries) : [];
      yield { entries, content, next: { bytes: 0, memo: { ...memo } }, unreadable, records };
      if (newRows.length < MESSAGES_PER_BATCH) return;
      openRows = [];
    }
  } finally {
    db.close();
  }
}

// --- internal ---

const TABLES = ["sessions", "messages"];

const queryIn = <T>(path: string, roots: readonly string[] | undefined, select: (db: View) => T): Promise<T> =>
  queryDatabase({ path, roots, tables: TABLES }, select);

/** The position after the last message, and the messages to read again. Stored between two drains. */
interface Memo {
  /** Row id and id of the last message read. */
  readonly place: number;
  readonly lastId: string;
  /** Messages that were not complete. */
  readonly open: readonly string[];
  readonly state: WalkState;
  /** The session's own entry was already returned. */
  readonly isTold: boolean;
}

const MESSAGES_PER_BATCH = 100;
/** Limit for incomplete messages: those of a killed process are never completed. */
const MAX_OPEN = 100;

const NOTHING_READ: Memo = { place: 0, lastId: "", open: [], state: INITIAL_STATE, isTold: false };

/** The stored memo, if the table was not replaced or renumbered. */
function memoOf(db: View, { memo }: Offset): Memo {
  const known = memo as Partial<Memo>;
  if (known.place === undefined || known.state === undefined) return NOTHING_READ;
  if (known.place === 0) return { ...NOTHING_READ, isTold: known.isTold === true };
  return messageAt(db, known.place) === known.lastId ? { ...NOTHING_READ, ...known } : NOTHING_READ;
}

/** @param memo its open messages are among the rows, or were processed before */
function walkAll(rows: readonly MessageRow[], memo: Memo, session: WalkSession) {
  const entries: TranscriptEntry[] = [];
  const known = new Set(rows.map(({ id }) => id));
  const open = memo.open.filter((id) => !known.has(id));
  let { state, place, lastId } = memo;
  let unreadable = 0;
  for (const row of rows) {
    if (!row.isReadable) unreadable++;
    const walked = walk(row, state, session);
    entries.push(...walked.entries);
    state = walked.state;
    if (walked.isOpen) open.push(row.id);
    if (row.place > place) [place, lastId] = [row.place, row.id];
  }
  return { entries, unreadable, memo: { ...memo, place, lastId, open: open.slice(-MAX_OPEN), state } };
}

/** A subagent's session alone: its parent's parts contain it. */
function sessionAndBelow(db: View, sessionId: string): readonly SessionRow[] | undefined {
  const main = sessionRow(db, sessionId);
  if (main === undefined) return undefined;
  return parentOf(db, main) === undefined ? [main, ...descendants(db, sessionId)] : [main];
}

/** `undefined` also if the parent is gone: a subagent's session then stands for itself. */
const parentOf = (db: View, { parentId }: SessionRow): SessionRow | undefined =>
  parentId === undefined ? undefined : sessionRow(db, parentId);

const MAX_DEPTH = 32;

function rootOf(db: View, session: SessionRow): SessionRow {
  let root = session;
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const parent = parentOf(db, root);
    if (parent === undefined) return root;
    root = parent;
  }
  return root;
}

/** Once per session: its facts; for a subagent, its identity. */
function beginning(
  db: View,
  row: SessionRow,
  parent: SessionRow | undefined,
  root: SessionRow,
  session: WalkSession,
  path: string,
): TranscriptEntry {
  if (parent === undefined) return sessionEntry(row, projectOf(path), undefined);
  const start = startOf(row.id);
  const call =
    start && callRows(db, parent.id).find((one) => one.messageId === start.messageId && one.callId === start.callId);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${row.id}`,
    timeMs: row.createdMs,
    agentId: row.id,
    agentType: call?.name,
    parentCallId: start === undefined ? undefined : session.callIdOf(start.callId, start.messageId),
    parentAgentId: parent.id === root.id ? undefined : parent.id,
  } as EntryOf<"subagent">);
}

const sessionEntry = (
  row: SessionRow,
  cwd: string | undefined,
  parentSessionId: string | undefined,
): EntryOf<"session"> =>
  defined<EntryOf<"session">>({
    kind: "session",
    key: `session:${row.id}`,
    timeMs: row.createdMs,
    cwd,
    parentSessionId,
  } as EntryOf<"session">);
