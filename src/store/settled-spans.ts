import type { AttributeValue, SpanRecord } from "../model/telemetry.ts";
import type { Database } from "./database.ts";

/** Spans of one segment as they were or will be sent, in the order of settling. */
export const settledSpans = (db: Database, session: number, segment: number): Generator<SpanRecord> =>
  spanPieces(db, session, segment, "record");

/** The parts of a span that decide its place in the tree. */
export type SpanOutline = Pick<SpanRecord, "spanId" | "parentSpanId" | "startMs" | "endMs" | "links" | "attributes">;

/**
 * Outlines of the same spans, without tool calls that have nothing below them: most spans of a long session are such calls.
 *
 * @param names the attributes to read
 * @param parents ids of tool calls that are kept, because open spans are below them
 */
export function* settledOutlines(
  db: Database,
  session: number,
  segment: number,
  names: readonly string[],
  parents: readonly (string | undefined)[],
): Generator<SpanOutline> {
  type Values = readonly [
    spanId: string,
    parentSpanId: string | null,
    startMs: number,
    endMs: number,
    links: SpanRecord["links"],
    ...attributes: (AttributeValue | null)[],
  ];
  const row = db
    .prepare(
      `SELECT json_group_array(json_extract(record, '$.parentSpanId')) AS ids FROM spans
       WHERE session = ? AND segment = ? AND ${isOf("subagent")}`,
    )
    .get(session, segment);
  const ids = JSON.stringify([...(JSON.parse(String(row?.["ids"] ?? "[]")) as string[]), ...parents]);
  const members = [
    "spanId",
    "parentSpanId",
    "startMs",
    "endMs",
    "links",
    ...names.map((name) => `attributes."${name}"`),
  ];
  const values = `json_extract(record, ${members.map((member) => `'$.${member}'`).join(", ")})`;
  for (const [spanId, parentSpanId, startMs, endMs, links, ...found] of spanPieces<Values>(
    db,
    session,
    segment,
    values,
    ids,
  )) {
    const attributes: Record<string, AttributeValue> = {};
    for (const [i, value] of found.entries()) if (value !== null) attributes[names[i] ?? ""] = value;
    yield { spanId, ...(parentSpanId !== null && { parentSpanId }), startMs, endMs, links, attributes };
  }
}

/** Id of the trace that a stored span is in; `undefined` if the span is not stored, as in pruned sessions. */
export function traceOfSpan(db: Database, key: string): string | undefined {
  const row = db.prepare("SELECT json_extract(record, '$.traceId') AS id FROM spans WHERE key = ?").get(key);
  return row === undefined ? undefined : String(row["id"]);
}

// --- internal ---

/** SQL condition on the kind of a span, without parsing: quotes inside the other parts of a key are escaped. */
const isOf = (subject: "subagent" | "tool_call"): string => `instr(key, '","${subject}","') > 0`;

/**
 * Spans of one segment, many in one text, see `inPieces` in `queries.ts`.
 *
 * @param value SQL expression that gives JSON
 * @param toolCalls JSON array of ids: the only tool calls. @default all
 */
function* spanPieces<T>(
  db: Database,
  session: number,
  segment: number,
  value: string,
  toolCalls?: string,
): Generator<T> {
  const only =
    toolCalls === undefined
      ? "? IS NULL"
      : `(NOT ${isOf("tool_call")} OR json_extract(record, '$.spanId') IN (SELECT value FROM json_each(?)))`;
  const next = db.prepare(
    `SELECT max(seq) AS last, group_concat(${value}, ',' ORDER BY seq) AS lines
     FROM (SELECT seq, record FROM spans WHERE session = ? AND segment = ? AND seq > ? AND ${only} ORDER BY seq LIMIT ?)`,
  );
  for (let last = -1; ; ) {
    const row = next.get(session, segment, last, toolCalls ?? null, toolCalls === undefined ? 500 : 5000);
    if (typeof row?.["last"] !== "number") return;
    last = row["last"];
    yield* JSON.parse(`[${String(row["lines"])}]`) as T[];
  }
}
