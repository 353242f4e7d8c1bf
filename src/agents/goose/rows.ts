import { asString, parsedJson } from "../shared/payload/json.ts";
import { sessionTree, type TreeSession } from "../shared/transcript/session-tree.ts";
import {
  columnsOf,
  ifUnknown,
  isReadableJson,
  isReadableList,
  type Row,
  type Value,
  type View,
} from "../shared/transcript/sqlite.ts";
import { type UnknownRecord, unknownIn } from "../shared/transcript/unread-usage.ts";
import { EDITORS } from "./own-names.ts";

/** One session of the database. */
export interface SessionRow extends TreeSession {
  readonly createdMs: number;
  readonly directory?: string;
  readonly provider?: string;
}

/** One message with its parts, without long outputs. */
export interface MessageRow {
  readonly id: string;
  readonly role: string;
  /** For an answer, about its beginning; a fork and a compaction keep it. */
  readonly createdMs: number;
  /** When the row was written, which is after the tools; a compaction writes all rows again. */
  readonly writtenMs: number;
  /** False for a text that Goose adds only for the model. */
  readonly isVisible: boolean;
  /** False for a text that Goose shows only to the user, and for all messages before a compaction. */
  readonly isForModel: boolean;
  /** A fork copied it from an older session. */
  readonly isCopy: boolean;
  readonly isReadable: boolean;
  /** Present for the first row of an answer; its figures can be unknown. */
  readonly usage?: Figures;
  readonly elapsedMs?: number;
  readonly provider?: string;
  readonly requestedModel?: string;
  readonly parts: readonly PartRow[];
  readonly unknown: readonly UnknownRecord[];
}

/** As Goose counts: input includes the cache, output includes reasoning. */
export interface Figures {
  readonly input: number | undefined;
  readonly output: number | undefined;
  readonly cacheRead: number | undefined;
  readonly cacheWrite: number | undefined;
}

export interface PartRow {
  readonly type: string | undefined;
  /** A user's text. */
  readonly text: string | undefined;
  readonly callId: string | undefined;
  readonly name: string | undefined;
  readonly command: string | undefined;
  /** The argument `name`: of a skill. */
  readonly named: string | undefined;
  /** Arguments of a tool that changes files. */
  readonly edit: unknown;
  readonly isFailed: boolean;
  /** The beginning of an error. */
  readonly error: string | undefined;
  readonly exitCode: number | undefined;
  /** Id of the subagent's session that the call started. */
  readonly spawned: string | undefined;
}

/** One row of the ledger: a model call, or one of several reports of its usage. */
export interface LedgerRow extends Figures {
  readonly id: number;
  readonly createdMs: number;
  readonly model: string | undefined;
  readonly isCompaction: boolean;
}

/** The tables that are read; older versions lack the last one. */
export const TABLES = ["sessions", "messages", "usage_ledger"];

export const SESSIONS = sessionTree<SessionRow>({
  name: "sessions",
  parent: "parent_session_id",
  columns:
    "id, parent_session_id, working_dir, provider_name, CAST(strftime('%s', created_at) AS INTEGER) AS created_s",
  order: "created_at, rowid",
  exists: (db) => columnsOf(db, "sessions").has("parent_session_id"),
  toSession,
});

/** The session's messages, in the order of the conversation. */
export const messageRows = (db: View, session: SessionRow): readonly MessageRow[] =>
  db.all(selectMessages(db), session.id, session.createdMs / 1000).map((row) => toMessage(db, row));

/** The session's ledger, oldest first; `undefined` for a version without one. */
export const ledgerRows = (db: View, sessionId: string): readonly LedgerRow[] | undefined =>
  columnsOf(db, "usage_ledger").has("is_compaction")
    ? db.all(SELECT_LEDGER, sessionId).map((row) => ({
        id: Number(row["id"]),
        createdMs: secondsOf(row["created_timestamp"]),
        model: asString(row["model"]),
        isCompaction: row["is_compaction"] === 1,
        ...figuresOf(row),
      }))
    : undefined;

/** Calls of the session, with the message that has them. */
export const callRows = (db: View, sessionId: string): readonly { readonly callId: string; readonly rowId: string }[] =>
  db
    .all(
      `SELECT ${ID} AS row_id, json_extract(part.value, '$.id') AS call_id FROM messages, ${PARTS}
        WHERE session_id = ? AND ${TYPE} = 'toolRequest' ORDER BY messages.id, part.key`,
      sessionId,
    )
    .flatMap((row) => {
      const callId = asString(row["call_id"]);
      return callId === undefined ? [] : [{ callId, rowId: String(row["row_id"]) }];
    });

/** The call whose result names a subagent's session. */
export function callThatStarted(db: View, parentId: string, childId: string): string | undefined {
  const row = db.get(
    `SELECT json_extract(part.value, '$.id') AS call_id FROM messages, ${PARTS}
      WHERE session_id = ? AND ${TYPE} = 'toolResponse' AND ${SPAWNED} = ? ORDER BY messages.id LIMIT 1`,
    parentId,
    childId,
  );
  return asString(row?.["call_id"]);
}

/** The texts of a session's messages: what the user or the model wrote, arguments and results. */
export const contentRows = (db: View, sessionId: string): readonly Row[] =>
  db.all(
    `SELECT ${ID} AS row_id, part.key AS place, ${TYPE} AS type, json_extract(part.value, '$.text') AS text,
       json_extract(part.value, '$.id') AS call_id, json_extract(part.value, '$.toolCall.value.arguments') AS arguments,
       coalesce(json_extract(part.value, '$.toolResult.value.content'), json_extract(part.value, '$.toolResult.error')) AS result
       FROM messages, ${PARTS} WHERE session_id = ? ORDER BY messages.id, part.key`,
    sessionId,
  );

// --- internal ---

function toSession(row: Row): SessionRow {
  const [parentId, directory, provider] = ["parent_session_id", "working_dir", "provider_name"].map((name) =>
    asString(row[name]),
  );
  return {
    id: String(row["id"]),
    createdMs: secondsOf(row["created_s"]),
    ...(parentId !== undefined && { parentId }),
    ...(directory !== undefined && { directory }),
    ...(provider !== undefined && { provider }),
  };
}

const SELECT_LEDGER = `SELECT id, created_timestamp, model, is_compaction, input_tokens AS input, output_tokens AS output,
    cache_read_tokens AS cache_read, cache_write_tokens AS cache_write
  FROM usage_ledger WHERE session_id = ? ORDER BY id`;

/** Enough of an error to recognise a refusal. */
const ERROR_LENGTH = 300;
/** Longer commands are not examined, see `executableOf`. */
const COMMAND_LENGTH = 4097;
/** Longer than any name, see `skillOf`. */
const NAME_LENGTH = 256;

/** Older versions have messages without an id. */
const ID = "coalesce(message_id, 'row:' || messages.id)";
const PARTS = `json_each(CASE WHEN ${isReadableList("content_json")} THEN content_json ELSE '[]' END) AS part`;
const TYPE = "json_extract(part.value, '$.type')";
const SPAWNED = "json_extract(part.value, '$.toolResult.value._meta.subagent_session_id')";
const METADATA = `CASE WHEN ${isReadableJson("metadata_json")} THEN metadata_json ELSE '{}' END`;
const metadata = (path: string): string => `json_extract(${METADATA}, '$.${path}')`;

/**
 * A fork copies messages with their ids and times into a new session. The original can be gone, or its rows written again by a
 * compaction, so both the older session and the time show a copy.
 */
function selectMessages(db: View): string {
  const known = columnsOf(db, "messages");
  const hasMetadata = known.has("metadata_json");
  const of = (path: string): string => (hasMetadata ? metadata(path) : "NULL");
  const older = `EXISTS (SELECT 1 FROM messages other JOIN sessions o ON o.id = other.session_id
      WHERE other.message_id = messages.message_id AND other.session_id <> messages.session_id
        AND o.rowid < (SELECT rowid FROM sessions WHERE id = messages.session_id))`;
  return `SELECT messages.id AS place, ${known.has("message_id") ? ID : "'row:' || messages.id"} AS id, role, created_timestamp,
    CAST(strftime('%s', timestamp) AS INTEGER) AS written_s, ${isReadableList("content_json")} AS is_readable,
    coalesce(${of("userVisible")}, 1) AND NOT coalesce(${of("turnContext")}, 0) AS is_visible,
    coalesce(${of("agentVisible")}, 1) AS is_for_model,
    created_timestamp < ?2 ${known.has("message_id") ? `OR ${older}` : ""} AS is_copy,
    ${hasMetadata ? `json_type(${METADATA}, '$.usage')` : "NULL"} AS usage_type,
    ${of("usage.inputTokens")} AS input, ${of("usage.outputTokens")} AS output,
    ${of("usage.cacheReadTokens")} AS cache_read, ${of("usage.cacheWriteTokens")} AS cache_write,
    ${of("usage.elapsedMs")} AS elapsed_ms, ${of("inference.provider")} AS provider,
    ${of("inference.requestedModel")} AS requested_model
    FROM messages WHERE session_id = ?1 ORDER BY messages.id`;
}

const EDITOR_NAMES = Object.keys(EDITORS)
  .map((name) => `'${name}'`)
  .join(", ");

const PART_TYPES = `text image thinking redactedThinking reasoning toolRequest toolResponse toolConfirmationRequest
  frontendToolRequest actionRequired systemNotification contextLengthExceeded summarizationRequested
  conversationCompacted`.split(/\s+/);

const SELECT_PARTS = `SELECT ${TYPE} AS type,
    CASE WHEN ?1 = 1 AND ${TYPE} = 'text' THEN json_extract(part.value, '$.text') END AS text,
    json_extract(part.value, '$.id') AS call_id,
    json_extract(part.value, '$.toolCall.value.name') AS name,
    substr(json_extract(part.value, '$.toolCall.value.arguments.command'), 1, ${COMMAND_LENGTH}) AS command,
    substr(json_extract(part.value, '$.toolCall.value.arguments.name'), 1, ${NAME_LENGTH}) AS named,
    CASE WHEN json_extract(part.value, '$.toolCall.value.name') IN (${EDITOR_NAMES})
      THEN json_extract(part.value, '$.toolCall.value.arguments') END AS edit,
    json_extract(part.value, '$.toolResult.status') AS status,
    json_extract(part.value, '$.toolResult.value.isError') AS is_error,
    substr(json_extract(part.value, '$.toolResult.error'), 1, ${ERROR_LENGTH}) AS error,
    json_extract(part.value, '$.toolResult.value.structuredContent.exit_code') AS exit_code,
    ${SPAWNED} AS spawned, ${ifUnknown("part.value", TYPE, PART_TYPES)} AS unknown
  FROM messages, ${PARTS} WHERE messages.id = ?2 ORDER BY part.key`;

function toMessage(db: View, row: Row): MessageRow {
  const role = String(row["role"]);
  const createdMs = secondsOf(row["created_timestamp"]);
  const parts = db.all(SELECT_PARTS, role === "user" ? 1 : 0, Number(row["place"]));
  const [provider, requestedModel] = [asString(row["provider"]), asString(row["requested_model"])];
  const elapsedMs = numberOf(row["elapsed_ms"]);
  return {
    id: String(row["id"]),
    role,
    createdMs,
    writtenMs: Math.max(createdMs, secondsOf(row["written_s"])),
    isVisible: row["is_visible"] === 1,
    isForModel: row["is_for_model"] === 1,
    isCopy: row["is_copy"] === 1,
    isReadable: row["is_readable"] === 1,
    ...(row["usage_type"] === "object" && { usage: figuresOf(row) }),
    ...(elapsedMs !== undefined && { elapsedMs }),
    ...(provider !== undefined && { provider }),
    ...(requestedModel !== undefined && { requestedModel }),
    parts: parts.map(toPart),
    unknown: unknownIn(parts, String(row["id"])),
  };
}

const toPart = (row: Row): PartRow => ({
  type: asString(row["type"]),
  text: asString(row["text"]),
  callId: asString(row["call_id"]),
  name: asString(row["name"]),
  command: asString(row["command"]),
  named: asString(row["named"]),
  edit: parsedJson(asString(row["edit"])),
  isFailed: row["status"] === "error" || row["is_error"] === 1,
  error: asString(row["error"]),
  exitCode: Number.isSafeInteger(row["exit_code"]) ? Number(row["exit_code"]) : undefined,
  spawned: asString(row["spawned"]),
});

const figuresOf = (row: Row): Figures => ({
  input: numberOf(row["input"]),
  output: numberOf(row["output"]),
  cacheRead: numberOf(row["cache_read"]),
  cacheWrite: numberOf(row["cache_write"]),
});

const numberOf = (value: Value | undefined): number | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** Whole seconds since the epoch, in milliseconds. */
const secondsOf = (value: Value | undefined): number => (typeof value === "number" ? Math.round(value * 1000) : 0);
