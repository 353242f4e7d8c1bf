import type { SpanRecord } from "../model/telemetry.ts";
import type { Database } from "./database.ts";

/** A span that waits for a backend; `seq` is its place in the order of settling. */
export interface OutboxRow {
  readonly seq: number;
  readonly record: SpanRecord;
}

/** The oldest waiting spans after `afterSeq`. Empty when nothing waits. */
export const waitingSpans = (db: Database, afterSeq: number, limit: number): readonly OutboxRow[] =>
  db
    .prepare(
      "SELECT o.seq, s.record FROM outbox o JOIN spans s ON s.seq = o.seq WHERE o.seq > ? ORDER BY o.seq LIMIT ?",
    )
    .all(afterSeq, limit)
    .map((row) => ({ seq: Number(row["seq"]), record: JSON.parse(String(row["record"])) as SpanRecord }));

/** Takes what the backend acknowledged out of the outbox. The spans themselves stay in the store. */
export function acknowledge(db: Database, seqs: readonly number[]): void {
  db.transaction(() => {
    const remove = db.prepare("DELETE FROM outbox WHERE seq = ?");
    for (const seq of seqs) remove.run(seq);
  });
}

export const waitingCount = (db: Database): number =>
  Number(db.prepare("SELECT count(*) AS n FROM outbox").get()?.["n"] ?? 0);
