import type { SpanParents, SpanRecord } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";
import { addToMeta, readMeta } from "./meta.ts";
import { enqueue } from "./outbox.ts";
import { hasPrunedFacts, isPrunedFact } from "./pruned-facts.ts";
import { traceOfSpan } from "./settled-spans.ts";

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
 * @returns how many were added
 */
export function putSpans(
  db: Database,
  sessionNumber: number,
  spans: Iterable<StoredSpan>,
  parents: SpanParents,
  nowMs: number,
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
    added++;
  }
  for (const span of undecided) if (!hasParent(db, span, parents)) repair(db, span, parents);
  return added;
}

/** Number of spans that got another parent, over all drains. 0 unless this program has an error. */
export const repairedSpans = (db: Database): number => Number(readMeta(db, REPAIRED) ?? "0");

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
