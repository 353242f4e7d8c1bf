import { asObject, asString, parsedJson } from "../payload/json.ts";
import { ifUnknown, isReadableJson, type Row, type Value, type View } from "../transcript/sqlite.ts";
import { type UnknownRecord, unknownIn } from "../transcript/unread-usage.ts";
import { createdMsOf, type MessageInfo } from "./messages.ts";

export const IS_JSON = isReadableJson("data");

/** One message with its parts, without long texts and outputs. */
export interface MessageRow {
  /** Row id; ascends with insertion. */
  readonly place: number;
  readonly id: string;
  /** `undefined`: no JSON object. */
  readonly info: MessageInfo | undefined;
  readonly parts: readonly PartRow[];
  readonly createdMs?: number | undefined;
  readonly unknown: readonly UnknownRecord[];
}

export interface PartRow {
  readonly id: string;
  readonly writtenMs: number | undefined;
  readonly type: string | undefined;
  /** OpenCode or a plugin added the text; the user did not write it. */
  readonly isOwn: boolean;
  /** Length of a user's text. */
  readonly length: number | undefined;
  /** For a compaction: whether OpenCode started it, and whether it did so because a request was too large. */
  readonly isAuto: boolean;
  readonly isOverflow: boolean;
  /** When the model finished a text; absent for other parts. */
  readonly endMs: number | undefined;
  readonly tool: ToolPart | undefined;
}

export interface ToolPart {
  readonly tool: string;
  readonly callId: string | undefined;
  readonly status: string | undefined;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** The beginning only. */
  readonly error: string | undefined;
  readonly command: string | undefined;
  /** The argument `name`: of a skill. */
  readonly named: string | undefined;
  /** Arguments and metadata, as far as they are used. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/**
 * Messages of one session after a row id, in the table's order.
 *
 * Not ordered by time: a clock that was set back must not hide a message.
 */
export const messagesAfter = (db: View, sessionId: string, place: number, limit: number): readonly MessageRow[] =>
  db
    .all(
      // The index selects the rows, so no other rows are read
      `${SELECT_MESSAGES} WHERE rowid IN (
         SELECT rowid FROM message WHERE session_id = ? AND rowid > ? ORDER BY rowid LIMIT ?) ORDER BY rowid`,
      sessionId,
      place,
      limit,
    )
    .map((row) => toMessage(db, row));

/** Messages with these ids, in their order, without deleted ones. */
export const messagesById = (db: View, sessionId: string, ids: readonly string[]): readonly MessageRow[] =>
  ids
    .flatMap((id) => db.all(`${SELECT_MESSAGES} WHERE session_id = ? AND id = ?`, sessionId, id))
    .map((row) => toMessage(db, row));

/** Id of the message with a row id; VACUUM renumbers rows, and deleted row ids are reused. */
export function messageAt(db: View, place: number): string | undefined {
  const row = db.get("SELECT id FROM message WHERE rowid = ?", place);
  return row === undefined ? undefined : String(row["id"]);
}

/** The agent of a session's first message, such as `build` or `explore`. */
export function firstAgent(db: View, sessionId: string): string | undefined {
  const row = db.get(
    `SELECT CASE WHEN ${IS_JSON} THEN json_extract(data, '$.agent') END AS agent
       FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1`,
    sessionId,
  );
  return asString(row?.["agent"]);
}

/** The call that created a session, if its part names the session. */
export function callThatCreated(db: View, childId: string, parentId: string, createdMs: number): ToolRow | undefined {
  // Filter by time first: reading a part's outer columns does not read its output
  const row = db.get(
    `SELECT id, ${field("$.tool")} AS tool, ${field("$.callID")} AS call_id FROM part
      WHERE session_id = ? AND time_created BETWEEN ? AND ? AND ${field("$.state.metadata.sessionId")} = ?
      ORDER BY id LIMIT 1`,
    parentId,
    createdMs - CREATED_WITHIN_MS,
    createdMs + CREATED_WITHIN_MS,
    childId,
  );
  return row === undefined ? undefined : toolRow(row);
}

interface ToolRow {
  readonly id: string;
  readonly tool: string;
  readonly callId: string | undefined;
  /** End of the call; its start if it has no end. */
  readonly lastMs: number | undefined;
}

/** All tool parts of a session, oldest first. */
export const toolRows = (db: View, sessionId: string): readonly ToolRow[] =>
  db
    .all(
      `SELECT id, ${field("$.tool")} AS tool, ${field("$.callID")} AS call_id,
              coalesce(${field("$.state.time.end")}, ${field("$.state.time.start")}) AS last_ms
         FROM part WHERE session_id = ? AND ${field("$.type")} = 'tool' ORDER BY id`,
      sessionId,
    )
    .map(toolRow);

// --- internal ---

/** Longest time between a tool's part and the session of its subagent. */
const CREATED_WITHIN_MS = 10 * 60_000;
/** Enough of an error to recognise a refusal. */
const ERROR_LENGTH = 200;
/** Longer commands are not examined, see `executableOf`. */
const COMMAND_LENGTH = 4097;
/** Longer than any name, see `skillOf`. */
const NAME_LENGTH = 256;

/** Members that can be large and are not needed: diffs of the whole turn, system prompts, bodies of failed answers. */
const OMITTED_FIELDS = ["$.summary.diffs", "$.system", "$.tools", "$.structured.value", "$.error.data.responseBody"]
  .map((path) => `'${path}'`)
  .join(", ");

const SELECT_MESSAGES = `SELECT rowid AS place, id,
    CASE WHEN ${IS_JSON} THEN json_remove(data, ${OMITTED_FIELDS}) END AS info FROM message`;

/** A member of a row's JSON; NULL if there is none. */
const field = (path: string): string => `CASE WHEN ${IS_JSON} THEN json_extract(data, '${path}') END`;

const PART_FIELDS = {
  type: "$.type",
  synthetic: "$.synthetic",
  ignored: "$.ignored",
  auto: "$.auto",
  overflow: "$.overflow",
  text_end_ms: "$.time.end",
  tool: "$.tool",
  call_id: "$.callID",
  status: "$.state.status",
  start_ms: "$.state.time.start",
  end_ms: "$.state.time.end",
  wanted: "$.state.input.tool",
  exit: "$.state.metadata.exit",
  interrupted: "$.state.metadata.interrupted",
  session: "$.state.metadata.sessionId",
  additions: "$.state.metadata.filediff.additions",
  deletions: "$.state.metadata.filediff.deletions",
  edited: "$.state.metadata.filediff.file",
  written: "$.state.metadata.filepath",
  existed: "$.state.metadata.exists",
} as const;

const ROLES: readonly unknown[] = ["user", "assistant"];
const PART_TYPES = `text reasoning tool file subtask agent retry compaction patch snapshot step-start
  step-finish`.split(/\s+/);

const SELECT_PARTS = `SELECT id, time_created AS written_ms, ${Object.entries(PART_FIELDS)
  .map(([name, path]) => `${field(path)} AS "${name}"`)
  .join(", ")},
    substr(${field("$.state.error")}, 1, ${ERROR_LENGTH}) AS error,
    substr(${field("$.state.input.command")}, 1, ${COMMAND_LENGTH}) AS command,
    substr(${field("$.state.input.name")}, 1, ${NAME_LENGTH}) AS named,
    CASE WHEN ${IS_JSON} THEN json_type(data, '$.state.metadata.exit') END AS exit_type,
    CASE WHEN ${IS_JSON} AND json_type(data, '$.state.metadata.files') = 'array' THEN (
      SELECT json_group_array(json_remove(value, '$.before', '$.after'))
        FROM json_each(data, '$.state.metadata.files') WHERE type = 'object') END AS files,
    CASE WHEN ${field("$.tool")} = 'write' THEN ${field("$.state.input.content")} END AS content,
    CASE WHEN ${field("$.tool")} = 'edit' THEN
      coalesce(${field("$.state.metadata.diff")}, ${field("$.state.metadata.filediff.patch")}) END AS diff,
    CASE WHEN ?1 = 1 AND ${field("$.type")} = 'text' THEN ${field("$.text")} END AS text,
    ${ifUnknown("data", field("$.type"), PART_TYPES)} AS unknown
  FROM part WHERE message_id = ?2 ORDER BY id`;

function toMessage(db: View, row: Row): MessageRow {
  const id = String(row["id"]);
  const info = objectOf(row["info"]);
  const role = info?.["role"];
  const rows = db.all(SELECT_PARTS, role === "user" ? 1 : 0, id);
  const unknown = [
    ...(typeof role === "string" && !ROLES.includes(role) ? [{ kind: role, id, text: String(row["info"]) }] : []),
    ...unknownIn(rows, id),
  ];
  const createdMs = info === undefined ? undefined : createdMsOf(info);
  return { place: Number(row["place"]), id, info, parts: partsOf(rows), createdMs, unknown };
}

const partsOf = (rows: readonly Row[]): readonly PartRow[] =>
  rows.map((row) => ({
    id: String(row["id"]),
    writtenMs: numberOf(row["written_ms"]),
    type: asString(row["type"]),
    isOwn: row["synthetic"] === 1 || row["ignored"] === 1,
    length: typeof row["text"] === "string" ? row["text"].length : undefined,
    isAuto: row["auto"] === 1,
    isOverflow: row["overflow"] === 1,
    endMs: numberOf(row["text_end_ms"]),
    tool: row["type"] === "tool" ? toolPart(row) : undefined,
  }));

function toolPart(row: Row): ToolPart | undefined {
  const tool = asString(row["tool"]);
  if (tool === undefined) return undefined;
  return {
    tool,
    callId: asString(row["call_id"]),
    status: asString(row["status"]),
    startMs: numberOf(row["start_ms"]),
    endMs: numberOf(row["end_ms"]),
    error: asString(row["error"]),
    command: asString(row["command"]),
    named: asString(row["named"]),
    input: { tool: row["wanted"], content: row["content"] },
    metadata: {
      interrupted: row["interrupted"] === 1,
      sessionId: row["session"],
      filediff: { file: row["edited"], additions: row["additions"], deletions: row["deletions"] },
      files: parsed(row["files"]),
      diff: row["diff"],
      filepath: row["written"],
      // SQLite has no booleans
      exists: row["existed"] === null ? undefined : row["existed"] === 1,
      // An exit code of null differs from a missing one
      ...(row["exit_type"] !== null && { exit: row["exit"] }),
    },
  };
}

const toolRow = (row: Row): ToolRow => ({
  id: String(row["id"]),
  tool: asString(row["tool"]) ?? "",
  callId: asString(row["call_id"]),
  lastMs: numberOf(row["last_ms"]),
});

const numberOf = (value: Value | undefined): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

const objectOf = (json: Value | undefined): MessageInfo | undefined => asObject(parsed(json));

const parsed = (json: Value | undefined): unknown => (typeof json === "string" ? parsedJson(json) : undefined);
