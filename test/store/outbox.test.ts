import { describe, expect, test } from "vitest";
import type { Database } from "#store/database.ts";
import {
  acknowledge,
  enforceLimits,
  enqueue,
  OUTBOX_PARTS,
  outboxState,
  queuedSpans,
  recordFailure,
  settleRejected,
} from "#store/outbox.ts";
import { ensureSession } from "#store/sessions.ts";
import { spanRecord } from "../otlp/records.ts";
import fc from "../support/properties.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const NOW_MS = 1_760_000_000_000;
const NO_LIMIT = { maxAgeMs: Number.MAX_SAFE_INTEGER, maxBytes: Number.MAX_SAFE_INTEGER };
const BYTES = JSON.stringify(spanRecord(1)).length;

/** Spans 1 to `count`, one more each second. */
function filled(count: number): Database {
  const db = stores.open();
  const session = ensureSession(db, "claude-code", "s1", NOW_MS).id;
  for (let n = 1; n <= count; n++) {
    db.prepare("INSERT INTO spans (seq, key, session, segment, record) VALUES (?, ?, ?, 0, ?)").run(
      n,
      `span:${n}`,
      session,
      JSON.stringify(spanRecord(1)),
    );
    enqueue(db, `span:${n}`, NOW_MS + n * 1000);
  }
  return db;
}

const left = (db: Database): readonly number[] =>
  OUTBOX_PARTS.flatMap((part) => queuedSpans(db, 0, 1_000, part).map((row) => row.seq));
const stored = (db: Database): number => Number(db.prepare("SELECT count(*) AS n FROM spans").get()?.["n"]);

test("the state has the queue's size in bytes and its age", () => {
  expect(outboxState(stores.open())).toEqual({
    records: 0,
    refused: 0,
    bytes: 0,
    droppedTotal: 0,
    unclaimedTotal: 0,
    rejectedTotal: 0,
  });
  const db = filled(4);
  acknowledge(db, [1]);
  expect(outboxState(db)).toMatchObject({ records: 3, bytes: 3 * BYTES, oldestMs: NOW_MS + 2000 });
  expect(stored(db)).toBe(4);
});

describe("limits", () => {
  test("spans older than the limit are dropped and counted", () => {
    const db = filled(5);
    const limits = { ...NO_LIMIT, maxAgeMs: 10_000 };
    expect(enforceLimits(db, limits, NOW_MS + 13_000, true)).toEqual({ tooOld: 2, tooMuch: 0 });
    expect(left(db)).toEqual([3, 4, 5]);
    expect(enforceLimits(db, limits, NOW_MS + 14_500, true)).toEqual({ tooOld: 2, tooMuch: 0 });
    expect(outboxState(db)).toMatchObject({ records: 1, droppedTotal: 4, lastDropMs: NOW_MS + 14_500 });
    expect(stored(db)).toBe(5);
  });

  test("beyond the limit of bytes the oldest spans are dropped, whatever their sizes, and no more than needed", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 30 }), fc.nat(5000), (sizes, maxBytes) => {
        const db = filled(0);
        db.prepare("DELETE FROM outbox").run();
        db.prepare("DELETE FROM spans").run();
        const session = ensureSession(db, "claude-code", "s1", NOW_MS).id;
        for (const [i, size] of sizes.entries()) {
          const record = JSON.stringify("x".repeat(size));
          db.prepare("INSERT INTO spans (seq, key, session, segment, record) VALUES (?, ?, ?, 0, ?)").run(
            i + 1,
            `k${i}`,
            session,
            record,
          );
          enqueue(db, `k${i}`, NOW_MS);
        }
        const { tooMuch } = enforceLimits(db, { ...NO_LIMIT, maxBytes }, NOW_MS, true);
        const held = (from: number): number => sizes.slice(from).reduce((sum, size) => sum + size + 2, 0);
        expect(left(db)).toEqual(sizes.map((_, i) => i + 1).slice(tooMuch));
        expect(held(tooMuch)).toBeLessThanOrEqual(maxBytes);
        if (tooMuch > 0) expect(held(tooMuch - 1)).toBeGreaterThan(maxBytes);
        db.close();
      }),
      { numRuns: 20 },
    );
  });

  test("spans that are dropped while no endpoint is set are counted separately", () => {
    const db = filled(3);
    enforceLimits(db, { ...NO_LIMIT, maxBytes: BYTES }, NOW_MS, false);
    const state = outboxState(db);
    expect(state).toMatchObject({ records: 1, droppedTotal: 0, unclaimedTotal: 2 });
    expect(state).not.toHaveProperty("lastDropMs");
  });

  test("a span with unknown queueing time counts from now", () => {
    const db = filled(1);
    db.prepare("UPDATE outbox SET since_ms = NULL").run();
    expect(enforceLimits(db, { ...NO_LIMIT, maxAgeMs: 1000 }, NOW_MS + 9_000, true)).toEqual({ tooOld: 0, tooMuch: 0 });
    expect(outboxState(db).oldestMs).toBe(NOW_MS + 9_000);
  });
});

test("spans that failed alone three times are sent after all others, refused ones immediately and last", () => {
  const db = filled(5);
  recordFailure(db, 1, true);
  recordFailure(db, 2, false);
  recordFailure(db, 3, false);
  recordFailure(db, 3, false);
  expect(left(db)).toEqual([2, 3, 4, 5, 1]);
  recordFailure(db, 3, false);
  expect(left(db)).toEqual([2, 4, 5, 3, 1]);
  expect(outboxState(db).refused).toBe(1);
});

test("a partly rejected request leaves the queue, and the rejected spans are counted", () => {
  const db = filled(4);
  settleRejected(db, [1, 2, 3], 2);
  expect(left(db)).toEqual([4]);
  expect(outboxState(db)).toMatchObject({ records: 1, rejectedTotal: 2 });
});
