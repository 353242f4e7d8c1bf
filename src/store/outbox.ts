import type { SpanRecord } from "../model/telemetry.ts";
import type { Database } from "./database.ts";
import { addToMeta, readMeta, writeMeta } from "./meta.ts";

/** A span that waits for a backend; `seq` is its place in the order of settling. */
export interface OutboxRow {
  readonly seq: number;
  readonly record: SpanRecord;
}

/** What waits, and what left without a backend having taken it. Totals are for ever, over all drains. */
export interface OutboxState {
  readonly spans: number;
  /** Of them: refused or too large, each alone. They are tried again behind all others, once an hour. */
  readonly refused: number;
  /** Of the records, as stored. */
  readonly bytes: number;
  /** When the one that waits longest came in; absent when nothing waits. */
  readonly oldestMs?: number;
  /** Beyond the limits of age and size while a backend was set: never sent. They stay in the store. */
  readonly droppedTotal: number;
  readonly lastDropMs?: number;
  /** Beyond the limits while no backend was set: nobody was to get them. */
  readonly unclaimedTotal: number;
  /** Refused for good by a backend (partial success). */
  readonly rejectedTotal: number;
}

/** Puts a stored span into the outbox. Part of the transaction that stores it. */
export function enqueue(db: Database, key: string, nowMs: number): void {
  db.prepare(
    "INSERT INTO outbox (seq, since_ms, bytes) SELECT seq, ?, length(CAST(record AS BLOB)) FROM spans WHERE key = ?",
  ).run(nowMs, key);
}

/** The parts of the outbox in the order of sending: nothing is known against them; failed alone; refused alone. */
export const OUTBOX_PARTS = ["sound", "suspect", "refused"] as const;
export type OutboxPart = (typeof OUTBOX_PARTS)[number];

/** The oldest waiting spans of a part after `afterSeq`. Empty when none waits. */
export const queuedSpans = (
  db: Database,
  afterSeq: number,
  limit: number,
  part: OutboxPart = "sound",
): readonly OutboxRow[] =>
  db
    .prepare(
      `SELECT o.seq, s.record FROM outbox o JOIN spans s ON s.seq = o.seq
       WHERE o.seq > ? AND ${ATTEMPTS[part]} ORDER BY o.seq LIMIT ?`,
    )
    .all(afterSeq, limit)
    .map((row) => ({ seq: Number(row["seq"]), record: JSON.parse(String(row["record"])) as SpanRecord }));

/** Takes what the backend acknowledged out of the outbox. The spans themselves stay in the store. */
export function acknowledge(db: Database, seqs: readonly number[]): void {
  db.transaction(() => {
    const remove = db.prepare("DELETE FROM outbox WHERE seq = ?");
    for (const seq of seqs) remove.run(seq);
  }, "commit.acknowledged");
}

/** The same, for a request of which the backend refused some for good: it does not say which. */
export function settleRejected(db: Database, seqs: readonly number[], rejected: number): void {
  db.transaction(() => {
    acknowledge(db, seqs);
    addToMeta(db, TOTALS.rejected, rejected);
  }, "commit.acknowledged");
}

/**
 * Notes that a span failed in a request of its own. One that does so three times goes behind all others from then on,
 * for whatever reason it was; one that was refused or found too large does so at once.
 */
export function recordFailure(db: Database, seq: number, isRefused: boolean): void {
  db.prepare("UPDATE outbox SET attempts = attempts + ? WHERE seq = ?").run(isRefused ? REFUSED : 1, seq);
}

export const queuedCount = (db: Database): number =>
  Number(db.prepare("SELECT count(*) AS n FROM outbox").get()?.["n"] ?? 0);

/** What waits now, and what was given up so far. Reads the whole outbox, no record of it. */
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

/** How long and how much may wait. */
export interface OutboxLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

/**
 * Takes the oldest out of the outbox until it is within its limits, and counts them for ever. The spans stay in the store.
 *
 * @param hasBackend false: they are counted apart, since nobody was to get them
 * @returns how many went for which reason
 */
export function enforceLimits(
  db: Database,
  { maxAgeMs, maxBytes }: OutboxLimits,
  nowMs: number,
  hasBackend: boolean,
): { readonly tooOld: number; readonly tooMuch: number } {
  return db.transaction(() => {
    db.prepare("UPDATE outbox SET since_ms = ? WHERE since_ms IS NULL OR since_ms < ?").run(nowMs, BEFORE_US_MS);
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

/** Nothing was put in before this program was: the clock stood at its beginning then. */
const BEFORE_US_MS = Date.UTC(2025, 0);

/** Failures alone before a span goes behind the others. The index `outbox_suspect` says the same. */
const SUSPECT_AFTER = 3;
/** More than anybody fails alone in the time that a span may wait. */
const REFUSED = 1_000_000;

const ATTEMPTS = {
  sound: `o.attempts < ${SUSPECT_AFTER}`,
  suspect: `o.attempts >= ${SUSPECT_AFTER} AND o.attempts < ${REFUSED}`,
  // The first comparison lets SQLite use the index
  refused: `o.attempts >= ${SUSPECT_AFTER} AND o.attempts >= ${REFUSED}`,
} as const satisfies Record<OutboxPart, string>;

const TOTALS = {
  dropped: "outbox.dropped_total",
  unclaimed: "outbox.unclaimed_total",
  rejected: "outbox.rejected_total",
} as const;
const LAST_DROP = "outbox.last_drop_ms";

/** What the newest rows leave no room for. */
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
