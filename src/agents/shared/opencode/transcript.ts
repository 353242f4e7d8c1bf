// Tables as written by 1.18.33, read 2026-11-21; token rule in README.md beside this file

import { existsSync, readdirSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type {
  LocatedSession,
  LocateQuery,
  ReadOptions,
  TranscriptBatch,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "#core/model/transcript-reader.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { asString } from "../payload/json.ts";
import { idsByFirstRow } from "../transcript/first-calls.ts";
import { type MessageTable, readMessages, tableMemo } from "../transcript/message-table.ts";
import { type Dated, entriesIn, foldersBelow, inOrder, reportProblem } from "../transcript/past.ts";
import { partOf, sessionIn } from "../transcript/session-tree.ts";
import { type DatabaseQuery, openDatabase, queryDatabase, type View } from "../transcript/sqlite.ts";
import { isCopy } from "./ids.ts";
import { messagesContent } from "./messages-content.ts";
import {
  callThatCreated,
  firstAgent,
  type MessageRow,
  messageAt,
  messagesAfter,
  messagesById,
  toolRows,
} from "./rows.ts";
import { countVersion2Sessions, SESSIONS, type SessionRow } from "./sessions.ts";
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

/** Sentences about sessions of OpenCode 2, which has tables of its own. */
export async function unreadFormats(variant: Variant, query: LocateQuery): Promise<readonly string[]> {
  const { source, title } = variant;
  const sentences: string[] = [];
  for (const folder of await foldersBelow(query, layoutsOf(source))) {
    for (const path of await databasesIn(variant, folder, query)) {
      const count = await queryDatabase(sessionsIn(path, query.roots), countVersion2Sessions).catch(() => 0);
      if (count > 0)
        sentences.push(
          `${count} ${count === 1 ? "session" : "sessions"} of ${title} in ${JSON.stringify(path)} cannot be read, because the tables ` +
            "are those of OpenCode 2: this version of openhook-otel reads only those of OpenCode 1, and OpenCode 2 does not load its " +
            "plugin. No setting changes that; sessions in the tables of OpenCode 1 are shown",
        );
    }
  }
  return sentences;
}

// --- internal ---

type Environment = Readonly<Record<string, string | undefined>>;

/** The variant's folder in XDG's data folder, or the database that a variable names. */
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
        for (const { id, createdMs } of await queryDatabase(sessionsIn(path, query.roots), SESSIONS.rootSessions)) {
          if (!sessions.has(id)) sessions.set(id, { sessionId: id, path, startMs: createdMs });
        }
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
  yield* inOrder(sessions.values(), query);
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
      const found = await queryDatabase(sessionsIn(path, roots), (db) => SESSIONS.sessionAndBelow(db, sessionId));
      if (found.length > 0) return found.map(({ id }) => partOf(path, id, id === sessionId ? undefined : id));
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
    const row = SESSIONS.sessionRow(db, sessionId);
    const place = { idAt: (at: number) => messageAt(db, at), initial: INITIAL_STATE };
    let memo = tableMemo(place, from);
    const parent = row === undefined ? undefined : SESSIONS.parentOf(db, row);
    if (row === undefined || (parent !== undefined && file.agentId === undefined)) {
      const entries = row === undefined || parent === undefined ? [] : [sessionEntry(row, parent.id)];
      yield { entries, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
      return;
    }
    const root = SESSIONS.rootOf(db, row);
    const session: WalkSession = {
      createdMs: row.createdMs,
      ...(file.agentId !== undefined && { agentId: file.agentId }),
      callIdOf: uniqueCallIds(db, [root.id, ...SESSIONS.descendants(db, root.id).map(({ id }) => id)]),
    };
    const first = memo.isTold ? [] : beginning(db, row, parent, root, session);
    if (first.length > 0) memo = { ...memo, isTold: true };
    yield { entries: first, next: { bytes: 0, memo: { ...memo } }, unreadable: 0 };
    const table: MessageTable<MessageRow, WalkState> = {
      ...place,
      agentId: file.agentId,
      after: (at, limit) => messagesAfter(db, sessionId, at, limit),
      byId: (ids) => messagesById(db, sessionId, ids),
      isReadable: ({ info }) => info !== undefined,
      walk: (message, state) => walk(message, state, session),
      ...(wanted.content === true && { content: (rows, entries) => messagesContent(db, rows, entries) }),
    };
    yield* readMessages(table, memo);
  } finally {
    db.close();
  }
}

/** Paths of the databases folder, relative to a root that contains it. */
const layoutsOf = (source: string): readonly string[] => [source, join(".local", "share", source)];

/** A root can be a database itself, under any name. */
async function databasesIn(variant: Variant, root: string, query: LocateQuery): Promise<readonly string[]> {
  const found = await stat(root).catch((error: unknown) => reportProblem(query, root, error));
  if (found?.isFile() === true) return isOfAnotherVariant(variant, basename(root)) ? [] : [root];
  const names = (await readdir(root).catch((error: unknown) => reportProblem(query, root, error))) ?? [];
  // Databases that must not be opened are reported later, when they are opened
  return databasesAmong(variant.source, names).map((name) => join(root, name));
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
  // The first message, which names the subagent's type, is not written yet
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
  });
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
  });

/** Makes call ids unique within these sessions: a session and all its subagents. For later calls the part's id is appended. */
const uniqueCallIds = (db: View, sessionIds: readonly string[]) => idsByFirstRow(() => firstParts(db, sessionIds));

/** Call id → the first part with it. Part ids ascend with time; a fork's copies are not reported. */
function firstParts(db: View, sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  for (const { id, callId, lastMs } of sessionIds.flatMap((sessionId) => toolRows(db, sessionId))) {
    if (callId === undefined || (lastMs !== undefined && isCopy(id, lastMs))) continue;
    const known = first.get(callId);
    if (known === undefined || id < known) first.set(callId, id);
  }
  return first;
}

/** For `openDatabase`: the tables with sessions. */
const sessionsIn = (path: string, roots: readonly string[] | undefined): DatabaseQuery => ({
  path,
  roots,
  tables: ["session", "session_v2", "message", "part"],
});

/**
 * Databases that can contain a session: the reported one, those beside it, and those at the default location. Builds of other
 * channels use other names.
 *
 * @returns existing paths, the most likely first
 */
function databasesFor({ source }: Variant, home: string, reportedPath?: string): readonly string[] {
  const usual = join(home, ".local", "share", source);
  const folders = reportedPath === undefined ? [usual] : [dirname(reportedPath), usual];
  const found = folders.flatMap((folder) => namesIn(source, folder).map((name) => join(folder, name)));
  const all = reportedPath !== undefined && existsSync(reportedPath) ? [reportedPath, ...found] : found;
  return [...new Set(all)];
}

/** Names of databases, the stable build's first. */
const databasesAmong = (source: string, names: readonly string[]): readonly string[] => {
  const [isOne, stable] = [new RegExp(`^${source}(?:-[\\w.-]+)?\\.db$`), `${source}.db`];
  return names
    .filter((name) => isOne.test(name))
    .sort((a, b) => Number(b === stable) - Number(a === stable) || (a < b ? -1 : 1));
};

function namesIn(source: string, folder: string): readonly string[] {
  try {
    return databasesAmong(source, readdirSync(folder));
  } catch {
    return [];
  }
}
