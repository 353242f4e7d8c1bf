// Table assistant_usage_events of session-store.db as written by 1.0.69 to 1.0.102, seen with the program on 2026-11-28

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { EntryOf, Offset } from "#core/model/transcript.ts";
import type { TranscriptBatch, TranscriptFile } from "#core/model/transcript-reader.ts";
import { defined } from "#kit/objects.ts";
import { firstBytes } from "#kit/open.ts";
import { asCount, asString, asTimeMs } from "../shared/payload/json.ts";
import { compareVersions } from "../shared/payload/version.ts";
import { partOf, sessionIn } from "../shared/transcript/session-tree.ts";
import { columnsOf, queryDatabase, type Row, type View } from "../shared/transcript/sqlite.ts";

// Versions between these wrote no usage into the session file until a run ended, and have a row per request in this database. A killed
// run has no sums in the file, and those after a compaction start again, so the rows are exact and the sums are not.

/** The database beside the folder of session files, as a part of a session; `undefined` if the session file has its usage. */
export async function usagePart(file: TranscriptFile, sessionId: string): Promise<TranscriptFile | undefined> {
  const path = databaseBeside(stateFolderOf(file.path));
  const { roots } = file;
  if (!isFromDatabase(file) || !existsSync(path)) return undefined;
  const part = { ...partOf(path, sessionId, undefined), ...(roots !== undefined && { roots }) };
  const count = await query(part, (db) => db.get(COUNT, sessionId)?.["rows"]);
  return typeof count === "number" && count > 0 ? part : undefined;
}

/** The database of a folder with session files. */
export const databaseBeside = (stateFolder: string): string => join(dirname(stateFolder), DATABASE);

export const isUsagePart = ({ path }: TranscriptFile): boolean => path.endsWith(DATABASE);

/** The requests since the last reading, one row each. */
export async function readUsage(file: TranscriptFile, from: Offset): Promise<TranscriptBatch> {
  const rows =
    (await query(file, (db) => {
      const select = rowsWith(columnsOf(db, TABLE).has(CREDITS) ? CREDITS : "NULL");
      return db.all(select, sessionIn(file), from.bytes);
    })) ?? [];
  const last = rows.at(-1)?.["id"];
  return {
    entries: rows.map(callOf),
    next: { bytes: typeof last === "number" ? last : from.bytes, memo: {} },
    unreadable: 0,
  };
}

// --- internal ---

const DATABASE = "session-store.db";
const TABLE = "assistant_usage_events";
/** What GitHub charged, which it does not report for models of others. Perhaps not in all versions. */
const CREDITS = "total_nano_aiu";
const FIRST_WITH_DATABASE = "1.0.69";
const FIRST_WITH_RECORDS = "1.0.93";
/** The first line begins with the version; its session is the file's. */
const HEAD_BYTES = 4_096;

const COUNT = `SELECT count(*) AS rows FROM ${TABLE} WHERE session_id = ?`;
const rowsWith = (
  nanoAiu: string,
): string => `SELECT id, session_id, agent_id, parent_tool_call_id, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, reasoning_tokens, duration_ms, finish_reason, created_at, ${nanoAiu} AS nano_aiu
  FROM ${TABLE} WHERE session_id = ? AND id > ? ORDER BY id LIMIT 100000`;

function stateFolderOf(path: string): string {
  const folder = dirname(path);
  return path.endsWith("events.jsonl") ? dirname(folder) : folder;
}

/** By the version that began the session: a later one that resumes it goes on writing the rows. */
function isFromDatabase({ path, roots }: TranscriptFile): boolean {
  const line = firstBytes(path, HEAD_BYTES, roots).toString("utf8");
  const version = /^\{"type":"session\.start",.{0,400}?"copilotVersion":"(\d+\.\d+\.\d+)[^"]*"/s.exec(line)?.[1];
  return (
    version !== undefined &&
    compareVersions(version, FIRST_WITH_DATABASE) >= 0 &&
    compareVersions(version, FIRST_WITH_RECORDS) < 0
  );
}

/** @returns `undefined` if there is no such table */
async function query<T>({ path, roots }: TranscriptFile, select: (db: View) => T): Promise<T | undefined> {
  return queryDatabase({ path, roots, tables: [TABLE] }, (db) =>
    columnsOf(db, TABLE).has("input_tokens") ? select(db) : undefined,
  );
}

function callOf(row: Row): EntryOf<"model_call"> {
  const key = `usage-row:${row["session_id"]}:${row["id"]}`;
  const endMs = asTimeMs(row["created_at"]) ?? 0;
  const durationMs = asCount(row["duration_ms"]);
  const finishReason = asString(row["finish_reason"]);
  return defined<EntryOf<"model_call">>({
    kind: "model_call",
    key,
    globalKey: `copilot:${key}`,
    timeMs: endMs,
    agentId: asString(row["agent_id"]) ?? asString(row["parent_tool_call_id"]),
    model: asString(row["model"]),
    startMs: durationMs === undefined ? undefined : endMs - durationMs,
    endMs,
    usage: defined({
      input: asCount(row["input_tokens"]),
      output: asCount(row["output_tokens"]),
      cacheRead: asCount(row["cache_read_tokens"]),
      cacheWrite: asCount(row["cache_write_tokens"]),
      reasoning: asCount(row["reasoning_tokens"]),
    }),
    complete: true,
    nanoCredits: asCount(row["nano_aiu"]),
    finishReason,
    asksForTools: finishReason === "tool_calls" ? true : undefined,
  });
}
