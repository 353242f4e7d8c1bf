import type { LogRecord, SpanParents, SpanRecord } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";
import { addToMeta, readMeta } from "./meta.ts";
import { enqueue, enqueueLogs } from "./outbox.ts";
import { hasPrunedFacts, isPrunedFact } from "./pruned-facts.ts";
import { ROWS_PER_PIECE } from "./queries.ts";

/** A span with its permanent key. */
export interface StoredSpan {
  readonly key: string;
  readonly segment: number;
  readonly record: SpanRecord;
}

/**
 * Stores and queues spans, in the transaction that also settles what they show. A span is queued only if its parent is in the same
 * trace and was queued before, is queued now, or will be, because it is the span of an open segment, turn, subagent or call. Any other
 * span gets another parent and is counted: an error in this program must not make a span that no backend can place.
 *
 * @param logsOf the log records of a span; absent: none are sent
 * @returns how many were added
 */
export function putSpans(
  db: Database,
  sessionNumber: number,
  spans: Iterable<StoredSpan>,
  parents: SpanParents,
  nowMs: number,
  logsOf?: (record: SpanRecord) => readonly LogRecord[],
): number {
  let added = 0;
  const mayBeForgotten = hasPrunedFacts(db);
  const found = new Set<string>();
  // Those whose parent may be stored after them
  const undecided: StoredSpan[] = [];
  for (const span of spans) {
    const { key, segment, record } = span;
    if (mayBeForgotten && isPrunedFact(db, "span", key)) continue;
    const { changes } = db
      .prepare("INSERT INTO spans (key, session, segment, record) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING")
      .run(key, sessionNumber, segment, JSON.stringify(record));
    if (changes === 0) continue;
    const place = `${segment} ${record.traceId} ${record.parentSpanId}`;
    if (record.parentSpanId !== undefined && !found.has(place)) {
      if (hasParent(db, span, parents)) found.add(place);
      else undecided.push(span);
    }
    enqueue(db, key, nowMs);
    if (logsOf !== undefined) enqueueLogs(db, sessionNumber, logsOf(record), nowMs, key);
    added++;
  }
  for (const span of undecided) if (!hasParent(db, span, parents)) repair(db, span, parents);
  return added;
}

/** Number of spans that got another parent, over all drains. 0 unless this program has an error. */
export const repairedSpans = (db: Database): number => Number(readMeta(db, REPAIRED) ?? "0");

/** Spans of one segment as they were or will be sent, in the order of settling. */
export function* settledSpans(db: Database, session: number, segment: number): Generator<SpanRecord> {
  const next = db.prepare(
    `SELECT max(seq) AS last, group_concat(record, ',' ORDER BY seq) AS records
     FROM (SELECT seq, record FROM spans WHERE session = ? AND segment = ? AND seq > ? ORDER BY seq LIMIT ${ROWS_PER_PIECE})`,
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

/** Where a stored span is; `undefined` if it is not stored: pruned, or it had nothing that others do not have. */
export function placeOfSpan(
  db: Database,
  key: string,
): (Pick<SpanRecord, "traceId" | "spanId" | "parentSpanId"> & { readonly segment: number }) | undefined {
  const row = db.prepare("SELECT segment, record FROM spans WHERE key = ?").get(key);
  if (row === undefined) return undefined;
  const { traceId, spanId, parentSpanId } = JSON.parse(String(row["record"])) as SpanRecord;
  return { traceId, spanId, ...(parentSpanId !== undefined && { parentSpanId }), segment: Number(row["segment"]) };
}

// --- internal ---

const REPAIRED = "spans.repaired_total";

/** At most one look into the store, by the key of the parent's span. */
function hasParent(db: Database, { segment, record: { traceId, parentSpanId } }: StoredSpan, of: SpanParents): boolean {
  if (parentSpanId === undefined) return true;
  const known = of.find(parentSpanId, segment);
  return known !== undefined && (known.comesIn === traceId || traceOfSpan(db, known.key) === traceId);
}

function repair(db: Database, { key, segment, record }: StoredSpan, parents: SpanParents): void {
  const text = JSON.stringify(parents.adopt(record, segment));
  db.prepare("UPDATE spans SET record = ? WHERE key = ?").run(text, key);
  db.prepare("UPDATE outbox SET bytes = length(CAST(? AS BLOB)) WHERE seq = (SELECT seq FROM spans WHERE key = ?)").run(
    text,
    key,
  );
  addToMeta(db, REPAIRED, 1);
}

/** SQL condition on the kind of a span, without parsing: quotes inside the other parts of a key are escaped. */
const isOf = (subject: "model_call" | "tool_call"): string => `instr(key, '","${subject}","') > 0`;
