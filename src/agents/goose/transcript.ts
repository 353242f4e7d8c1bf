// Tables of schema version 16, as written by 1.52.0, read 2026-11-26; token rule in README.md beside this file

import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Content } from "#core/model/content.ts";
import type { EntryOf, Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptQuery, TranscriptReader } from "#core/model/transcript-reader.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { EntrySink } from "#core/rules/entry-sink.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { defined } from "#kit/objects.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asString, parsedJson } from "../shared/payload/json.ts";
import { firstRowsOf, idsByFirstRow } from "../shared/transcript/first-calls.ts";
import { Kinds } from "../shared/transcript/kinds.ts";
import { foldersBelow, located, oldestFirst, reportProblem } from "../shared/transcript/past.ts";
import { partOf, sessionIn } from "../shared/transcript/session-tree.ts";
import { openDatabase, queryDatabase, type Row, UNREADABLE_ROW, type View } from "../shared/transcript/sqlite.ts";
import { countUnknown } from "../shared/transcript/unread-usage.ts";
import {
  callRows,
  callThatStarted,
  contentRows,
  ledgerRows,
  messageRows,
  SESSIONS,
  type SessionRow,
  TABLES,
} from "./rows.ts";
import { isPrompt, walk } from "./walk.ts";

export default {
  roots: sessionFolders,
  /** All sessions of all databases, without subagents; the same id in two databases is two sessions. */
  async *locate(query) {
    const sessions = [];
    for (const path of databasesIn(await foldersBelow(query, LAYOUTS))) {
      try {
        for (const { id, createdMs } of await queryIn(path, query.roots, SESSIONS.rootSessions)) {
          sessions.push({ sessionId: id, path, startMs: createdMs, origin: { database: path, createdMs } });
        }
      } catch (error) {
        reportProblem(query, path, error);
      }
    }
    for (const { origin, ...session } of oldestFirst(sessions)) yield { ...located(session, query), origin };
  },
  /** In each database that has the session: the session, then its subagents at any depth. */
  async files(query) {
    const { sessionId } = query;
    return inAll(query, (path, db) =>
      SESSIONS.sessionAndBelow(db, sessionId).map(({ id }) => partOf(path, id, id === sessionId ? undefined : id)),
    );
  },
  /** When the databases created the session that has this id now. */
  async originsOf(query) {
    return inAll(query, (path, db) => {
      const row = SESSIONS.sessionRow(db, query.sessionId);
      return row === undefined ? [] : [{ database: path, createdMs: row.createdMs }];
    });
  },
  /**
   * The whole session each time: `/clear` removes messages, and a compaction writes all of them again, so there is no place at which
   * to continue.
   */
  async *read(file, _from, wanted = {}) {
    const sessionId = sessionIn(file);
    const db = await openDatabase({ path: file.path, roots: file.roots, tables: TABLES });
    try {
      const next: Offset = { bytes: 0, memo: {} };
      const row = SESSIONS.sessionRow(db, sessionId);
      const parent = row === undefined ? undefined : SESSIONS.parentOf(db, row);
      if (row === undefined || (parent !== undefined && file.agentId === undefined)) {
        const entries = row === undefined || parent === undefined ? [] : [sessionEntry(row, parent.id)];
        yield { entries, next, unreadable: 0 };
        return;
      }
      const root = SESSIONS.rootOf(db, row);
      const callIdOf = uniqueCallIds(db, [root.id, ...SESSIONS.descendants(db, root.id).map(({ id }) => id)]);
      const messages = messageRows(db, row);
      const entries = [
        parent === undefined ? sessionEntry(row, undefined) : subagentEntry(db, row, parent, root),
        ...walk(messages, ledgerRows(db, sessionId), {
          provider: row.provider,
          agentId: file.agentId,
          callIdOf,
          strayStartsMs: strayStartsMs(db, row),
          isCutOff: parent !== undefined && isCutOff(db, row, parent, root),
        }),
      ];
      const [kinds, unknown] = [new Kinds([]), new EntrySink()];
      for (const { isCopy, createdMs, unknown: parts } of messages) {
        if (!isCopy) countUnknown(kinds, parts, { state: {}, agentId: file.agentId, modifiedMs: createdMs }, unknown);
      }
      entries.push(...unknown.take());
      const unreadable = messages.filter(({ isReadable }) => !isReadable).length;
      const content = wanted.content === true ? sessionContent(db, sessionId, entries) : [];
      const aside = unreadable > 0 && { setAside: { records: unreadable, reason: UNREADABLE_ROW } };
      yield { entries, content, next, unreadable, records: messages.length - unreadable, ...kinds.take(), ...aside };
    } finally {
      db.close();
    }
  },
} satisfies TranscriptReader;

// --- internal ---

/** Makes call ids unique within these sessions: a session, and all its subagents after it. */
const uniqueCallIds = (db: View, sessionIds: readonly string[]) =>
  idsByFirstRow(() => firstRowsOf(sessionIds.flatMap((id) => callRows(db, id))));

const queryIn = <T>(path: string, roots: readonly string[] | undefined, select: (db: View) => T): Promise<T> =>
  queryDatabase({ path, roots, tables: TABLES }, select);

/** From all databases that a query allows. Throws the first error if no database has anything. */
async function inAll<T>(
  { home, path, roots }: TranscriptQuery,
  select: (path: string, db: View) => readonly T[],
): Promise<readonly T[]> {
  const usual = databasesIn(roots ?? sessionFolders(home, {}));
  const all: T[] = [];
  let failure: unknown;
  for (const one of new Set([...(path === undefined || !existsSync(path) ? [] : [path]), ...usual])) {
    try {
      all.push(...(await queryIn(one, roots, (db) => select(one, db))));
    } catch (error) {
      failure ??= error;
    }
  }
  if (all.length === 0 && failure !== undefined) throw failure;
  return all;
}

/** Subagents whose call was never written: the process was killed before the call ended. */
const strayStartsMs = (db: View, { id }: SessionRow): readonly number[] =>
  SESSIONS.descendants(db, id).flatMap((child) =>
    child.parentId === id && callThatStarted(db, id, child.id) === undefined ? [child.createdMs] : [],
  );

/** Such a subagent does not go on when the user gives the next prompt. */
const isCutOff = (db: View, row: SessionRow, parent: SessionRow, root: SessionRow): boolean =>
  callThatStarted(db, parent.id, row.id) === undefined &&
  messageRows(db, root).some((message) => message.createdMs > row.createdMs && isPrompt(message));

function subagentEntry(db: View, row: SessionRow, parent: SessionRow, root: SessionRow): TranscriptEntry {
  const callId = callThatStarted(db, parent.id, row.id);
  const isCounted = callId !== undefined && isSequenceNumber(callId);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${row.id}`,
    timeMs: row.createdMs,
    agentId: row.id,
    parentCallId: isCounted ? undefined : callId,
    parentGivenId: isCounted ? callId : undefined,
    parentAgentId: parent.id === root.id ? undefined : parent.id,
  });
}

const sessionEntry = (row: SessionRow, parentSessionId: string | undefined): EntryOf<"session"> =>
  defined<EntryOf<"session">>({
    kind: "session",
    key: `session:${row.id}`,
    timeMs: row.createdMs,
    cwd: row.directory,
    parentSessionId,
  });

/** Content of a session's messages, for the entries that were read from them. Thinking is not part of an answer. */
function sessionContent(db: View, sessionId: string, entries: readonly TranscriptEntry[]): readonly Content[] {
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const answers = new Map(
    entries.flatMap((entry) =>
      entry.kind === "model_call" && entry.responseId !== undefined ? [[entry.responseId, entry.key] as const] : [],
    ),
  );
  return contentRows(db, sessionId).flatMap((part) => partContent(part, byKey, answers));
}

function partContent(
  part: Row,
  byKey: ReadonlyMap<string, TranscriptEntry>,
  answers: ReadonlyMap<string, string>,
): readonly Content[] {
  const rowId = String(part["row_id"]);
  const answer = answers.get(rowId);
  const text = asString(part["text"]);
  if (part["type"] === "text" && text !== undefined) {
    const prompt = `prompt:${rowId}`;
    if (byKey.has(prompt)) return [{ fact: prompt, part: "prompt", piece: String(part["place"]), value: text }];
    return answer === undefined ? [] : answerPiece(answer, text);
  }
  const [use, result] = ["use", "result"].map((kind) => byKey.get(`${kind}:${rowId}:${String(part["call_id"])}`));
  if (part["type"] === "toolResponse" && result !== undefined) {
    return contentOf(result.key, "result", plainText(parsedJson(part["result"])));
  }
  if (part["type"] !== "toolRequest" || use?.kind !== "tool_use") return [];
  return [
    ...contentOf(use.key, "arguments", parsedJson(part["arguments"])),
    ...(answer === undefined ? [] : answerPiece(answer, toolCallPart(use.callId, use.name))),
  ];
}

// crates/goose/src/config/paths.rs of github.com/block/goose, read 2026-11-26; tried on Linux

const DATABASE = "sessions.db";

/** The folders of databases: in `GOOSE_PATH_ROOT`, in XDG's data folder, and on Windows. */
function sessionFolders(home: string, env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const data = asString(env["XDG_DATA_HOME"]);
  const moved = asString(env["GOOSE_PATH_ROOT"]);
  return [
    ...(moved !== undefined && isAbsolute(moved) ? [join(moved, "data", "sessions")] : []),
    join(data !== undefined && isAbsolute(data) ? data : join(home, ".local", "share"), "goose", "sessions"),
    join(home, "AppData", "Roaming", "Block", "goose", "data", "sessions"),
  ];
}

/** Paths of the databases folder, relative to a root that contains it. */
const LAYOUTS: readonly string[] = [
  "sessions",
  join("goose", "sessions"),
  join("data", "sessions"),
  join(".local", "share", "goose", "sessions"),
];

const databasesIn = (folders: readonly string[]): readonly string[] =>
  [...new Set(folders.map((folder) => join(folder, DATABASE)))].filter((path) => existsSync(path));
