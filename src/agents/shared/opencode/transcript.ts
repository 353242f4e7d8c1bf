// Tables as written by 1.18.33, read 2026-11-21; token rule in README.md beside this file

import { readdir, stat } from "node:fs/promises";
import { basename, isAbsolute, join } from "node:path";
import type {
  LocatedSession,
  LocateQuery,
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "../../../model/agent.ts";
import { isSequenceNumber } from "../../../model/call-ids.ts";
import { defined } from "../../../model/defined.ts";
import type { EntryOf, Offset, TranscriptEntry } from "../../../model/transcript.ts";
import { asString } from "../payload/json.ts";
import { partOf, sessionIn } from "../transcript/database-part.ts";
import { type Dated, entriesIn, foldersBelow, located, oldestFirst, reportProblem } from "../transcript/past.ts";
import { openDatabase, queryDatabase, type View } from "../transcript/sqlite.ts";
import { uniqueCallIds } from "./calls.ts";
import { databasesAmong, databasesFor, sessionsIn } from "./database.ts";
import { messagesContent } from "./messages-content.ts";
import { callThatCreated, firstAgent, type MessageRow, messageAt, messagesAfter, messagesById } from "./rows.ts";
import { countVersion2Sessions, descendants, rootSessions, type SessionRow, sessionRow } from "./sessions.ts";
import { callIdOf } from "./tools.ts";
import { isOfAnotherVariant, type Variant } from "./variant.ts";
import { INITIAL_STATE, type WalkSession, type WalkState, walk } from "./walk.ts";

/** The reader of one of OpenCode's variants. */
export const readerOf = (variant: Variant): TranscriptReader => ({
  roots: (home, env) => roots(variant, home, env),
  locate: (query) => locate(variant, query),
  files: (query) => files(variant, query),
  read,
});

// --- internal ---

type Environment = Readonly<Record<string, string | undefined>>;

/** Where XDG keeps data, or where a variable put the database itself. */
function roots({ source, databaseVariable }: Variant, home: string, env: Environment): readonly string[] {
  const folder = join(asString(env["XDG_DATA_HOME"]) ?? join(home, ".local", "share"), source);
  const named = asString(env[databaseVariable]);
  return named === undefined || !isAbsolute(named) ? [folder] : [folder, named];
}

/** All sessions of all databases, without subagents. If one database is unreadable, the others are still read. */
async function* locate(variant: Variant, query: LocateQuery): AsyncGenerator<LocatedSession> {
  const { source, title } = variant;
  const sessions = new Map<string, Dated>();
  for (const folder of await foldersBelow(query, layoutsOf(source))) {
    const databases = await databasesIn(variant, folder, query);
    for (const path of databases) {
      try {
        for (const { id, createdMs } of await queryDatabase(sessionsIn(path, query.roots), rootSessions)) {
          if (!sessions.has(id)) sessions.set(id, { sessionId: id, path, startMs: createdMs });
        }
        const unread = await queryDatabase(sessionsIn(path, query.roots), countVersion2Sessions);
        if (unread > 0)
          query.onProblem(path, new Error(`tables of ${title} 2 are not read yet; sessions in them: ${unread}`));
      } catch (error) {
        reportProblem(query, path, error);
      }
    }
    const older = join(folder, "storage", "session");
    if (databases.length > 0 || (await entriesIn(older, query)).length === 0) continue;
    query.onProblem(
      older,
      new Error(`sessions of a version without a database; a newer ${title} imports them at its first start`),
    );
  }
  for (const session of oldestFirst(sessions.values())) yield located(session, query);
}

/**
 * One part per session: the requested one, then its subagents at any depth. If the session was deleted, there is one empty part.
 */
async function files(
  variant: Variant,
  { sessionId, path: reportedPath, home, roots }: TranscriptQuery,
): Promise<readonly TranscriptFile[]> {
  const candidates = databasesFor(variant, home, reportedPath);
  let failure: unknown;
  for (const path of candidates) {
    try {
      const found = await queryDatabase(sessionsIn(path, roots), (db) => sessionAndBelow(db, sessionId));
      if (found !== undefined) return found.map(({ id }) => partOf(path, id, id === sessionId ? undefined : id));
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return reportedPath !== undefined && candidates.includes(reportedPath)
    ? [partOf(reportedPath, sessionId, undefined)]
    : [];
}

async function* read(file: TranscriptFile, from: Offset, wanted: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const sessionId = sessionIn(file);
  const db = await openDatabase(sessionsIn(file.path, file.roots));
  try {
    const row = sessionRow(db, sessionId);
    let memo: Memo = memoOf(db, from);
    const parent = row === undefined ? undefined : parentOf(db, row);
    if (row === undefined || (parent !== undefined && file.agentId === undefined)) {
      const entries = row === undefined || parent === undefined ? [] : [sessionEntry(row, parent.id)];
      yield { entries, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
      return;
    }
    const root = rootOf(db, row);
    const session: WalkSession = {
      createdMs: row.createdMs,
      ...(file.agentId !== undefined && { agentId: file.agentId }),
      callIdOf: uniqueCallIds(db, [root.id, ...descendants(db, root.id).map(({ id }) => id)]),
    };
    const first = memo.isTold ? [] : beginning(db, row, parent, root, session);
    if (first.length > 0) memo = { ...memo, isTold: true };
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

/** Relative paths of the databases' folder, below a root above it. */
const layoutsOf = (source: string): readonly string[] => [source, join(".local", "share", source)];

/** A root can be a database itself, under any name. */
async function databasesIn(variant: Variant, root: string, query: LocateQuery): Promise<readonly string[]> {
  const found = await stat(root).catch((error: unknown) => reportProblem(query, root, error));
  if (found?.isFile() === true) return isOfAnotherVariant(variant, basename(root)) ? [] : [root];
  const names = (await readdir(root).catch((error: unknown) => reportProblem(query, root, error))) ?? [];
  // Databases that must not be opened are reported later, when they are opened
  return databasesAmong(variant.source, names).map((name) => join(root, name));
}

/** The position after the last message, and the messages to read again. Stored between two drains. */
interface Memo {
  /** Row id and id of the last message read. */
  readonly place: number;
  readonly lastId: string;
  /** Messages that were not complete. */
  readonly open: readonly string[];
  readonly state: WalkState;
  /** The session's own entries were already returned. */
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
    if (row.info === undefined) unreadable++;
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
): readonly TranscriptEntry[] {
  if (parent === undefined) return [sessionEntry(row, undefined)];
  const agentType = firstAgent(db, row.id);
  // Not before its first message, which says what it is
  if (agentType === undefined) return [];
  const made = callThatCreated(db, row.id, parent.id, row.createdMs);
  const callId = made === undefined ? undefined : callIdOf(made.tool, made.callId, made.id);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  const entry = defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${row.id}`,
    timeMs: row.createdMs,
    agentId: row.id,
    agentType,
    parentCallId:
      made === undefined || callId === undefined || isCounted ? undefined : session.callIdOf(callId, made.id),
    parentGivenId: isCounted ? callId : undefined,
    parentAgentId: parent.id === root.id ? undefined : parent.id,
  } as EntryOf<"subagent">);
  return [entry];
}

const sessionEntry = (row: SessionRow, parentSessionId: string | undefined): EntryOf<"session"> =>
  defined<EntryOf<"session">>({
    kind: "session",
    key: `session:${row.id}`,
    timeMs: row.createdMs,
    agentVersion: row.version,
    cwd: row.directory,
    parentSessionId,
  } as EntryOf<"session">);
