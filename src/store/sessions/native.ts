import type { ModelCall } from "#core/model/model-call.ts";
import type { JoinedNative, NativeRecord } from "#core/model/native.ts";
import type { Session, ToolCall } from "#core/model/session.ts";
import {
  type FindPart,
  joinsOf,
  mergedNative,
  type NativePart,
  partName,
  partOf,
  partsOf,
} from "#core/session/native.ts";
import type { Database } from "../database.ts";
import { nativeOfSpan, nativeRecordsOf } from "../native.ts";
import { segmentsOf } from "../segments.ts";
import type { StoredSession } from "../sessions.ts";

export { type NativePart, partName } from "#core/session/native.ts";

/**
 * What the agent's own telemetry adds to the parts of a session, by `partName`: of calls `model_call <key>` and `tool_call <call id>`,
 * of turns `turn <key>`, of segments `session <ordinal>`. Empty for most sessions.
 *
 * @param open what is not settled of the session, or all of a packed one
 */
export function nativeOf(db: Database, stored: StoredSession, open: Session): ReadonlyMap<string, JoinedNative> {
  const records = nativeRecordsOf(db, stored);
  if (records.length === 0) return new Map();
  const here = partsOf([...open.turns, ...open.subagents]);
  const { find } = settledParts(db, stored, records);
  const segments = [...segmentsOf(db, stored.id).map(({ segment }) => segment), ...open.segments];
  const bySpan = recordsBySpan(records);
  const { joins } = joinsOf(records, (record) =>
    partOf(record, (kind, id) => here(kind, id) ?? find(kind, id), bySpan, segments),
  );
  return new Map([...joins].map(([name, join]) => [name, mergedNative(join.records)]));
}

/** The settled parts that records name. */
export interface SettledParts {
  readonly find: FindPart;
  readonly call: (part: NativePart) => ModelCall | ToolCall | undefined;
}

/** Looks up the settled parts that records name. The cost depends on the number of the session's settled calls. */
export function settledParts(db: Database, { id }: StoredSession, records: readonly NativeRecord[]): SettledParts {
  const ids = JSON.stringify([...new Set(records.flatMap((record) => record.ids.map((one) => one.id)))]);
  const bodies = (sql: string): readonly string[] =>
    db
      .prepare(sql)
      .all(id, ids)
      .map((row) => String(row["body"]));
  const models = bodies(MODEL_CALLS).map((body) => JSON.parse(body) as ModelCall);
  const tools = bodies(TOOL_CALLS).map((body) => JSON.parse(body) as ToolCall);
  const turns = db
    .prepare(`SELECT key FROM turns WHERE session = ? AND key IN ${IDS} AND origin <> 'none'`)
    .all(id, ids)
    .map((row) => String(row["key"]));
  const inRun = partsOf([{ ...NO_RUN, modelCalls: models, toolCalls: tools }]);
  const calls = new Map<string, ModelCall | ToolCall>([
    ...models.map((call) => [partName({ kind: "model_call", key: call.key }), call] as const),
    ...tools.map((call) => [partName({ kind: "tool_call", key: call.callId }), call] as const),
  ]);
  const find: FindPart = (kind, one) =>
    kind === "promptId" && turns.includes(one) ? { kind: "turn", key: one } : inRun(kind, one);
  return { find, call: (part) => calls.get(partName(part)) };
}

/** Finds records by the ids of their spans: among those that are given, and otherwise in the store. */
export function recordsBySpan(
  records: readonly NativeRecord[],
  db?: Database,
  stored?: StoredSession,
): (spanId: string) => NativeRecord | undefined {
  const known = new Map(records.flatMap((record) => (record.span === undefined ? [] : [[record.span.spanId, record]])));
  return (spanId) =>
    known.get(spanId) ?? (db === undefined || stored === undefined ? undefined : nativeOfSpan(db, stored, spanId));
}

// --- internal ---

const IDS = "(SELECT value FROM json_each(?2))";
const MODEL_CALLS = `SELECT body FROM model_calls WHERE session = ?1
  AND (json_extract(body, '$.responseId') IN ${IDS} OR json_extract(body, '$.requestId') IN ${IDS})`;
/** The digest of the input is the given id of calls that have one. */
const TOOL_CALLS = `SELECT body FROM tool_calls WHERE session = ?1 AND (call_id IN ${IDS} OR input_digest IN ${IDS})`;
const NO_RUN = { key: "", agentId: "", segment: 0, startMs: 0, endMs: 0, errors: [], closed: true, uses: [] };
