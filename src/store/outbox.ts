import type { OtlpSignal } from "#core/model/settings.ts";
import type { LogRecord, SpanRecord } from "#core/model/telemetry.ts";
import type { Database } from "./database.ts";
import { addToMeta, readMeta, writeMeta } from "./meta.ts";

/** Signals whose records wait in a queue. Each has a table of the same form, and rules are the same for all. */
export type QueuedSignal = Exclude<OtlpSignal, "metrics">;

/** A queued span; `seq` is its position in the order of settling. */
export interface OutboxRow {
  readonly seq: number;
  readonly record: SpanRecord;
}

/** A queued log record: a part of a stored span, or a record of its own. */
export type QueuedLog = { readonly seq: number } & (
  | { readonly span: SpanRecord; readonly part: string }
  | { readonly record: LogRecord }
);

/** The queue of a signal, and the records that left it undelivered. Totals are over all drains. */
interface OutboxState {
  readonly records: number;
  /** Of these, refused by the backend or too large, each when it was sent alone. Retried last, once an hour. */
  readonly refused: number;
  /** Size of the records as stored. */
  readonly bytes: number;
  /** When the oldest queued record was added, in milliseconds since the epoch; absent if the queue is empty. */
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

/**
 * Adds log records to their queue, in the transaction that stores the span or fact that they show.
 *
 * @param span the key of the stored span that they are parts of; absent: they are stored themselves until they are sent
 */
export function enqueueLogs(
  db: Database,
  session: number,
  records: readonly LogRecord[],
  nowMs: number,
  span?: string,
): void {
  const add = db.prepare(
    `INSERT INTO log_outbox (session, span, part, body, since_ms, bytes)
     VALUES (?1, (SELECT seq FROM spans WHERE key = ?2), ?3, iif(?2 IS NULL, ?4, NULL), ?5, length(CAST(?4 AS BLOB)))`,
  );
  for (const record of records) add.run(session, span ?? null, record.part, JSON.stringify(record), nowMs);
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

/** `queuedSpans` for log records. */
export const queuedLogs = (
  db: Database,
  afterSeq: number,
  limit: number,
  part: OutboxPart = "healthy",
): readonly QueuedLog[] =>
  db
    .prepare(
      `SELECT o.seq, o.part, o.body, s.record FROM log_outbox o LEFT JOIN spans s ON s.seq = o.span
       WHERE o.seq > ? AND ${ATTEMPTS[part]} ORDER BY o.seq LIMIT ?`,
    )
    .all(afterSeq, limit)
    .map((row) => {
      const seq = Number(row["seq"]);
      if (row["body"] !== null) return { seq, record: JSON.parse(String(row["body"])) as LogRecord };
      return { seq, part: String(row["part"]), span: JSON.parse(String(row["record"])) as SpanRecord };
    });

/** Removes acknowledged records from their queue. Spans stay in the store. */
export function acknowledge(db: Database, seqs: readonly number[], signal: QueuedSignal = "traces"): void {
  db.transaction(() => {
    const remove = db.prepare(`DELETE FROM ${TABLES[signal]} WHERE seq = ?`);
    for (const seq of seqs) remove.run(seq);
  }, "commit.acknowledged");
}

/** `acknowledge` for a request of which the backend rejected some records permanently without naming them. */
export function settleRejected(
  db: Database,
  seqs: readonly number[],
  rejected: number,
  signal: QueuedSignal = "traces",
): void {
  db.transaction(() => {
    acknowledge(db, seqs, signal);
    addToMeta(db, totalOf(signal, "rejected"), rejected);
  }, "commit.acknowledged");
}

/**
 * Stores that a record failed when it was sent alone. After three failures for any reason it is sent after all others; after a
 * refusal, or if it is too large, immediately.
 */
export function recordFailure(db: Database, seq: number, isRefused: boolean, signal: QueuedSignal = "traces"): void {
  db.prepare(`UPDATE ${TABLES[signal]} SET attempts = attempts + ? WHERE seq = ?`).run(isRefused ? REFUSED : 1, seq);
}

/** The number of the session that a queued record belongs to. */
export const sessionOfQueued = (db: Database, seq: number, signal: QueuedSignal): number =>
  Number(db.prepare(`SELECT session FROM ${SESSIONS[signal]} WHERE seq = ?`).get(seq)?.["session"]);

/** How many records of a signal are queued. */
export const queuedCount = (db: Database, signal: QueuedSignal = "traces"): number =>
  Number(db.prepare(`SELECT count(*) AS n FROM ${TABLES[signal]}`).get()?.["n"] ?? 0);

/** Whether any record in one part of a queue. */
export const hasQueued = (db: Database, part: OutboxPart, signal: QueuedSignal): boolean =>
  db.prepare(`SELECT 1 FROM ${TABLES[signal]} o WHERE ${ATTEMPTS[part]} LIMIT 1`).get() !== undefined;

/** The state of a queue, and what was dropped so far. Reads the whole queue, but no records. */
export function outboxState(db: Database, signal: QueuedSignal = "traces"): OutboxState {
  const row = db
    .prepare(
      `SELECT count(*) AS records, coalesce(sum(attempts >= ${REFUSED}), 0) AS refused,
         coalesce(sum(bytes), 0) AS bytes, min(since_ms) AS oldest_ms FROM ${TABLES[signal]}`,
    )
    .get();
  const oldestMs = row?.["oldest_ms"];
  const lastDropMs = readMeta(db, lastDropOf(signal));
  const total = (why: Loss): number => Number(readMeta(db, totalOf(signal, why)) ?? "0");
  return {
    records: Number(row?.["records"] ?? 0),
    refused: Number(row?.["refused"] ?? 0),
    bytes: Number(row?.["bytes"] ?? 0),
    ...(typeof oldestMs === "number" && { oldestMs }),
    droppedTotal: total("dropped"),
    ...(lastDropMs !== undefined && { lastDropMs: Number(lastDropMs) }),
    unclaimedTotal: total("unclaimed"),
    rejectedTotal: total("rejected"),
  };
}

/** Limits of a queue. */
interface OutboxLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/**
 * Drops the oldest records from a queue until it is within its limits, and counts them. Spans stay in the store.
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
  signal: QueuedSignal = "traces",
): { readonly tooOld: number; readonly tooMuch: number } {
  return db.transaction(() => {
    const table = TABLES[signal];
    db.prepare(`UPDATE ${table} SET since_ms = ? WHERE since_ms IS NULL OR since_ms < ?`).run(nowMs, EARLIEST_MS);
    const beforeMs = Math.max(nowMs - maxAgeMs, 0);
    const tooOld = db.prepare(`DELETE FROM ${table} WHERE since_ms < ?`).run(beforeMs).changes;
    const tooMuch = dropBeyond(db, table, maxBytes);
    if (tooOld + tooMuch > 0) {
      addToMeta(db, totalOf(signal, hasBackend ? "dropped" : "unclaimed"), tooOld + tooMuch);
      if (hasBackend) writeMeta(db, lastDropOf(signal), String(nowMs));
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

const TABLES = { traces: "outbox", logs: "log_outbox" } as const satisfies Record<QueuedSignal, string>;
/** Where the session of a queued record is. */
const SESSIONS = { traces: "spans", logs: "log_outbox" } as const satisfies Record<QueuedSignal, string>;

type Loss = "dropped" | "unclaimed" | "rejected";
const totalOf = (signal: QueuedSignal, why: Loss): string => `${TABLES[signal]}.${why}_total`;
const lastDropOf = (signal: QueuedSignal): string => `${TABLES[signal]}.last_drop_ms`;

/** Drops the oldest rows that exceed the limit. @returns how many */
function dropBeyond(db: Database, table: string, maxBytes: number): number {
  const held = Number(db.prepare(`SELECT coalesce(sum(bytes), 0) AS n FROM ${table}`).get()?.["n"] ?? 0);
  if (held <= maxBytes) return 0;
  const last = db
    .prepare(
      `SELECT seq FROM (SELECT seq, sum(coalesce(bytes, 0)) OVER (ORDER BY seq DESC) AS held FROM ${table})
       WHERE held > ? ORDER BY seq DESC LIMIT 1`,
    )
    .get(maxBytes)?.["seq"];
  return typeof last === "number" ? db.prepare(`DELETE FROM ${table} WHERE seq <= ?`).run(last).changes : 0;
}
