import { expect, test } from "vitest";
import { settledCalls, settledToolCalls } from "#store/queries.ts";
import { ensureSession } from "#store/sessions.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();

/** Keys in another order than times, equal times, characters that JSON escapes, and an empty key. */
const FACTS = Array.from({ length: 1_250 }, (_, i) => ({
  key: i === 7 ? "" : `${(i * 7_919) % 1_250}"\\ü`,
  timeMs: Math.floor(i / 3) * 10,
  cost: i % 4 === 0 ? null : i * 2 ** 40,
}));

test("settled calls are complete, by time and then by key, however many there are", () => {
  const db = stores.open();
  const { id } = ensureSession(db, "claude-code", "s-1", 0);
  const other = ensureSession(db, "claude-code", "s-2", 0);
  const call = db.prepare(
    `INSERT INTO model_calls (session, key, segment, subagent, end_ms, cost_nano_usd, complete, body)
     VALUES (?, ?, ?, 0, ?, ?, 1, ?)`,
  );
  const tool = db.prepare(
    `INSERT INTO tool_calls (session, call_id, segment, name, status, subagent, start_ms, end_ms, body)
     VALUES (?, ?, ?, 'Bash', 'success', 0, ?, ?, ?)`,
  );
  db.transaction(() => {
    for (const session of [id, other.id])
      for (const { key, timeMs, cost } of FACTS) {
        call.run(session, key, timeMs % 2, timeMs, cost, JSON.stringify({ key, endMs: timeMs }));
        tool.run(session, key, timeMs % 2, timeMs, timeMs, JSON.stringify({ callId: key, startMs: timeMs }));
      }
  });
  const wanted = [...FACTS].sort((a, b) => a.timeMs - b.timeMs || (a.key < b.key ? -1 : 1));
  expect(settledCalls(db, id)).toEqual(
    wanted.map(({ key, timeMs, cost }) => ({
      segment: timeMs % 2,
      call: { key, endMs: timeMs },
      ...(cost !== null && { costNanoUsd: cost }),
    })),
  );
  expect(settledToolCalls(db, id)).toEqual(
    wanted.map(({ key, timeMs }) => ({ segment: timeMs % 2, tool: { callId: key, startMs: timeMs } })),
  );
  expect(settledCalls(db, ensureSession(db, "claude-code", "s-3", 0).id)).toEqual([]);
});
