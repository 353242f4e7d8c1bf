import type { Event } from "#core/model/event-schema.ts";
import type { ToolCall } from "#core/model/session.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { forgetChangeNames } from "./changes.ts";
import type { Database } from "./database.ts";
import { texts } from "./rows.ts";

/** How each kind of fact loses its names. */
interface FactChanges {
  /** `undefined`: the event is deleted. */
  readonly event: (event: Event) => Event | undefined;
  readonly entry: (entry: TranscriptEntry) => TranscriptEntry;
  readonly toolCall: (call: ToolCall) => ToolCall;
  readonly agentType: (type: string) => string | undefined;
  readonly origin: (origin: string) => string | undefined;
}

/** The stored spans of a session, sent or not. */
export const spanRecordsOf = (db: Database, sessionNumber: number): readonly SpanRecord[] =>
  db
    .prepare("SELECT record FROM spans WHERE session = ?")
    .all(sessionNumber)
    .map((row) => JSON.parse(String(row["record"])) as SpanRecord);

/**
 * Changes the stored spans of a session, sent or not. Old versions are overwritten on disk. Call it inside a transaction.
 *
 * @param change returns the same object if nothing changes
 * @returns whether any changed
 */
export function rewriteSpans(db: Database, sessionNumber: number, change: (record: SpanRecord) => SpanRecord): boolean {
  overwriteDeleted(db);
  const update = db.prepare("UPDATE spans SET record = ? WHERE seq = ?");
  const size = db.prepare("UPDATE outbox SET bytes = length(CAST(? AS BLOB)) WHERE seq = ?");
  let hasChanged = false;
  for (const row of db.prepare("SELECT seq, record FROM spans WHERE session = ?").all(sessionNumber)) {
    const record = JSON.parse(String(row["record"])) as SpanRecord;
    const changed = change(record);
    if (changed === record) continue;
    const text = JSON.stringify(changed);
    update.run(text, Number(row["seq"]));
    size.run(text, Number(row["seq"]));
    hasChanged = true;
  }
  return hasChanged;
}

/**
 * Changes the stored facts of a session and removes its repository, branch and CI job. Old versions are overwritten on disk. Call it
 * inside a transaction.
 *
 * @returns whether anything was changed or removed
 */
export function rewriteFacts(db: Database, sessionNumber: number, changes: FactChanges): boolean {
  overwriteDeleted(db);
  const done = [
    rewriteBodies(db, { table: "events", key: "id", session: sessionNumber }, (body) => changes.event(body as Event)),
    rewriteBodies(db, { table: "entries", key: "key", session: sessionNumber }, (body) =>
      changes.entry(body as TranscriptEntry),
    ),
    rewriteBodies(db, { table: "tool_calls", key: "call_id", session: sessionNumber }, (body) =>
      changes.toolCall(body as ToolCall),
    ),
    rewriteColumn(db, { table: "subagents", column: "agent_type", session: sessionNumber }, changes.agentType),
    rewriteColumn(db, { table: "segments", column: "start_origin", session: sessionNumber }, changes.origin),
  ];
  forgetChangeNames(db, sessionNumber);
  const { changes: sessions } = db
    .prepare(
      `UPDATE sessions SET branch = NULL, repository = NULL, pipeline = NULL
       WHERE id = ? AND coalesce(branch, repository, pipeline) IS NOT NULL`,
    )
    .run(sessionNumber);
  return sessions > 0 || done.includes(true);
}

// --- internal ---

const overwriteDeleted = (db: Database): unknown => db.prepare("PRAGMA secure_delete = ON").get();

interface BodyColumn {
  readonly table: "events" | "entries" | "tool_calls";
  readonly key: string;
  readonly session: number;
}

function rewriteBodies(
  db: Database,
  { table, key, session }: BodyColumn,
  change: (body: unknown) => object | undefined,
): boolean {
  const name = table === "tool_calls" ? ", name = ?3" : "";
  const update = db.prepare(`UPDATE ${table} SET body = ?1${name} WHERE ${key} = ?2 AND session = ${session}`);
  const remove = db.prepare(`DELETE FROM ${table} WHERE ${key} = ? AND session = ${session}`);
  let hasChanged = false;
  for (const row of db.prepare(`SELECT ${key} AS key, body FROM ${table} WHERE session = ?`).all(session)) {
    const before = String(row["body"]);
    const changed = change(JSON.parse(before));
    if (changed === undefined) {
      remove.run(String(row["key"]));
      hasChanged = true;
      continue;
    }
    const after = JSON.stringify(changed);
    if (after === before) continue;
    if ("name" in changed && name !== "") update.run(after, String(row["key"]), String(changed.name));
    else update.run(after, String(row["key"]));
    hasChanged = true;
  }
  return hasChanged;
}

interface TextColumn {
  readonly table: "subagents" | "segments";
  readonly column: string;
  readonly session: number;
}

function rewriteColumn(
  db: Database,
  { table, column, session }: TextColumn,
  change: (text: string) => string | undefined,
): boolean {
  const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE session = ? AND ${column} = ?`);
  const before = texts(
    db,
    `SELECT DISTINCT ${column} AS text FROM ${table} WHERE session = ? AND ${column} IS NOT NULL`,
    session,
  );
  return before
    .filter((text) => change(text) !== text)
    .map((text) => update.run(change(text) ?? null, session, text))
    .some(() => true);
}
