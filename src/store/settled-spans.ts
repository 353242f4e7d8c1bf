import type { SpanRecord } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";

/** Spans of one segment as they were or will be sent, in the order of settling. See `inPieces` in `queries.ts`. */
export function* settledSpans(db: Database, session: number, segment: number): Generator<SpanRecord> {
  const next = db.prepare(
    `SELECT max(seq) AS last, group_concat(record, ',' ORDER BY seq) AS records
     FROM (SELECT seq, record FROM spans WHERE session = ? AND segment = ? AND seq > ? ORDER BY seq LIMIT 500)`,
  );
  for (let last = -1; ; ) {
    const row = next.get(session, segment, last);
    if (typeof row?.["last"] !== "number") return;
    last = row["last"];
    yield* JSON.parse(`[${String(row["records"])}]`) as SpanRecord[];
  }
}

/** Spans of one session except calls, which most are. @param but keys of the calls that are wanted */
export const spansWithoutCalls = (
  db: Database,
  session: number,
  but: readonly string[],
): readonly { readonly segment: number; readonly record: SpanRecord }[] =>
  db
    .prepare(
      `SELECT segment, record FROM spans WHERE session = ?
       AND (NOT (${isOf("tool_call")} OR ${isOf("model_call")}) OR key IN (SELECT value FROM json_each(?)))`,
    )
    .all(session, JSON.stringify(but))
    .map((row) => ({ segment: Number(row["segment"]), record: JSON.parse(String(row["record"])) as SpanRecord }));

/**
 * Ids of the parents of a session's settled model calls, by the keys of their spans. Found without parsing, which would
 * take longer: quotes inside texts are escaped, and ids have 16 digits. A call without a parent gets text that is no id.
 */
export const parentsOfCalls = (db: Database, session: number): ReadonlyMap<string, string> =>
  new Map(
    db
      .prepare(
        `SELECT json_group_object(key, substr(record, instr(record, '"parentSpanId":"') + 16, 16)) AS parents FROM spans
         WHERE session = ? AND ${isOf("model_call")} GROUP BY segment`,
      )
      .all(session)
      .flatMap((row) => Object.entries(JSON.parse(String(row["parents"])) as Record<string, string>)),
  );

/** Id of the trace that a stored span is in; `undefined` if the span is not stored, as in pruned sessions. */
export function traceOfSpan(db: Database, key: string): string | undefined {
  const row = db.prepare("SELECT json_extract(record, '$.traceId') AS id FROM spans WHERE key = ?").get(key);
  return row === undefined ? undefined : String(row["id"]);
}

// --- internal ---

/** SQL condition on the kind of a span, without parsing: quotes inside the other parts of a key are escaped. */
const isOf = (subject: "model_call" | "tool_call"): string => `instr(key, '","${subject}","') > 0`;
