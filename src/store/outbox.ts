import type { SpanRecord } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";
import { addToMeta, readMeta, writeMeta } from "./meta.ts";

/** A queued span; `seq` is its position in the order of settling. */
export interface OutboxRow {
  readonly seq: number;
  readonly record: SpanRecord;
}

/** The queue, and the spans that left it undelivered. Totals are over all drains. */
interface OutboxState {
  readonly spans: number;
  /** Of these, refused by the backend or too large, each when it was sent alone. Retried last, once an hour. */
  readonly refused: number;
  /** Size of the records as stored. */
  readonly bytes: number;
  /** When the oldest queued span was added, in milliseconds since the epoch; absent if the queue is empty. */
  readonly oldestMs?: number;
  /** Dropped because of the limits of age and size while an endpoint was set: never sent. They stay in the store. */
  readonly droppedTotal: number;
  readonly lastDropMs?: number;
  /** Dropped because of the limits while no endpoint was set. */
  readonly unclaimedTotal: number;
  /** Rejected permanently by a backend (partial success). */
  readonly rejectedTotal: number;
}

/** Adds a stored span to the outbox, in the transaction that stores it. */
export function enqueue(db: Database, key: string, nowMs: number): void {
  db.prepare(
    "INSERT INTO outbox (seq, since_ms, bytes) SELECT seq, ?, length(CAST(record AS BLOB)) FROM spans WHERE key = ?",
  ).run(nowMs, key);
}

/** The parts of the outbox in the order of sending: no known failure; failed in a separate request; refused in a separate request. */
export const OUTBOX_PARTS = ["healthy", "suspect", "refused"] as const;
export type OutboxPart = (typeof OUTBOX_PARTS)[number];

/** The oldest queued spans of a part after `afterSeq`; empty if there are none. */
export const queuedSpans = (
  db: Database,
  afterSeq: number,
  limit: number,
  part: OutboxPart = "healthy",
): readonly OutboxRow[] =>
  db
    .prepare(
      `SELECT o.seq, s.record FROM outbox o JOIN spans s ON s.seq = o.seq
       WHERE o.seq > ? AND ${ATTEMPTS[part]} ORDER BY o.seq LIMIT ?`,
    )
    .all(afterSeq, limit)
    .map((row) => ({ seq: Number(row["seq"]), record: JSON.parse(String(row["record"])) as SpanRecord }));

/** Removes acknowledged spans from the outbox. They stay in the store. */
export function acknowledge(db: Database, seqs: readonly number[]): void {
  db.transaction(() => {
    const remove = db.prepare("DELETE FROM outbox WHERE seq = ?");
    for (const seq of seqs) remove.run(seq);
  }, "commit.acknowledged");
}

/** `acknowledge` for a request of which the backend rejected some spans permanently without naming them. */
export function settleRejected(db: Database, seqs: readonly number[], rejected: number): void {
  db.transaction(() => {
    acknowledge(db, seqs);
    addToMeta(db, TOTALS.rejected, rejected);
  }, "commit.acknowledged");
}

/**
 * Stores that a span failed when it was sent alone. After three failures for any reason it is sent after all others; after a
 * refusal, or if it is too large, immediately.
 */
export function recordFailure(db: Database, seq: number, isRefused: boolean): void {
  db.prepare("UPDATE outbox SET attempts = attempts + ? WHERE seq = ?").run(isRefused ? REFUSED : 1, seq);
}

/** The number of the session that a span belongs to. */
export const sessionOfSpan = (db: Database, seq: number): number =>
  Number(db.prepare("SELECT session FROM spans WHERE seq = ?").get(seq)?.["session"]);

export const queuedCount = (db: Database): number =>
  Number(db.prepare("SELECT count(*) AS n FROM outbox").get()?.["n"] ?? 0);

/** The state of the queue, and what was dropped so far. Reads the whole outbox, but no records. */
export function outboxState(db: Database): OutboxState {
  const row = db
    .prepare(
      `SELECT count(*) AS spans, coalesce(sum(attempts >= ${REFUSED}), 0) AS refused,
         coalesce(sum(bytes), 0) AS bytes, min(since_ms) AS oldest_ms FROM outbox`,
    )
    .get();
  const oldestMs = row?.["oldest_ms"];
  const lastDropMs = readMeta(db, LAST_DROP);
  const total = (why: keyof typeof TOTALS): number => Number(readMeta(db, TOTALS[why]) ?? "0");
  return {
    spans: Number(row?.["spans"] ?? 0),
    refused: Number(row?.["refused"] ?? 0),
    bytes: Number(row?.["bytes"] ?? 0),
    ...(typeof oldestMs === "number" && { oldestMs }),
    droppedTotal: total("dropped"),
    ...(lastDropMs !== undefined && { lastDropMs: Number(lastDropMs) }),
    unclaimedTotal: total("unclaimed"),
    rejectedTotal: total("rejected"),
  };
}

/** Limits of the queue. */
interface OutboxLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/**
 * Drops the oldest spans from the outbox until it is within its limits, and counts them. The spans stay in the store.
 *
 * @param nowMs milliseconds since the epoch
 * @param hasBackend false: they are counted separately, because no endpoint was set
 * @returns how many were dropped for which reason
 */
export function enforceLimits(
  db: Database,
  { maxAgeMs, maxBytes }: OutboxLimits,
  nowMs: number,
  hasBackend: boolean,
): { readonly tooOld: number; readonly tooMuch: number } {
  return db.transaction(() => {
    db.prepare("UPDATE outbox SET since_ms = ? WHERE since_ms IS NULL OR since_ms < ?").run(nowMs, EARLIEST_MS);
    const beforeMs = Math.max(nowMs - maxAgeMs, 0);
    const tooOld = db.prepare("DELETE FROM outbox WHERE since_ms < ?").run(beforeMs).changes;
    const tooMuch = dropBeyond(db, maxBytes);
    if (tooOld + tooMuch > 0) {
      addToMeta(db, TOTALS[hasBackend ? "dropped" : "unclaimed"], tooOld + tooMuch);
      if (hasBackend) writeMeta(db, LAST_DROP, String(nowMs));
    }
    return { tooOld, tooMuch };
  });
}

// --- internal ---

/** Earlier times are impossible: the clock was not set. */
const EARLIEST_MS = Date.UTC(2025, 0);

/** Failures of a span sent alone before it is sent last. The index `outbox_suspect` has the same number. */
const SUSPECT_AFTER = 3;
/** More than the number of failures that is possible while a span is queued. */
const REFUSED = 1_000_000;

const ATTEMPTS = {
  healthy: `o.attempts < ${SUSPECT_AFTER}`,
  suspect: `o.attempts >= ${SUSPECT_AFTER} AND o.attempts < ${REFUSED}`,
  // The first comparison is there so that SQLite uses the index
  refused: `o.attempts >= ${SUSPECT_AFTER} AND o.attempts >= ${REFUSED}`,
} as const satisfies Record<OutboxPart, string>;

/** SQL: whether a row `o` of the outbox was refused. */
export const IS_REFUSED = ATTEMPTS.refused;

const TOTALS = {
  dropped: "outbox.dropped_total",
  unclaimed: "outbox.unclaimed_total",
  rejected: "outbox.rejected_total",
} as const;
const LAST_DROP = "outbox.last_drop_ms";

/** Drops the oldest rows that exceed the limit. @returns how many */
function dropBeyond(db: Database, maxBytes: number): number {
  const held = Number(db.prepare("SELECT coalesce(sum(bytes), 0) AS n FROM outbox").get()?.["n"] ?? 0);
  if (held <= maxBytes) return 0;
  const last = db
    .prepare(
      `SELECT seq FROM (SELECT seq, sum(coalesce(bytes, 0)) OVER (ORDER BY seq DESC) AS held FROM outbox)
       WHERE held > ? ORDER BY seq DESC LIMIT 1`,
    )
    .get(maxBytes)?.["seq"];
  return typeof last === "number" ? db.prepare("DELETE FROM outbox WHERE seq <= ?").run(last).changes : 0;
}
