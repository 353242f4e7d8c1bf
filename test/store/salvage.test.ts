import { join } from "node:path";
import { expect, test } from "vitest";
import { encodeFacts } from "#core/packed/facts.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { countFacts } from "#store/counters.ts";
import { writeMeta } from "#store/meta.ts";
import { findDamage, salvage } from "#store/salvage.lazy.ts";
import { ensureSession } from "#store/sessions.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const BYTES = Uint8Array.of(1, 2, 3);
const NO_TEXT = Uint8Array.of(0x61, 0xff, 0x62);

/** The damage found in a store with one packed session, after a change. */
function damageAfter(sql: string, ...values: readonly (string | Uint8Array)[]): string | undefined {
  const db = stores.open();
  const { id } = ensureSession(db, "claude-code", "s1", 0);
  db.prepare("INSERT INTO packed (session, body) VALUES (?, ?)").run(id, encodeFacts([]));
  db.prepare(sql).run(...values);
  return findDamage(db);
}

test("a store without damage is intact", () => {
  expect(damageAfter("UPDATE sessions SET repository = ?", '{"name":"shop"}')).toBeUndefined();
});

test("half a surrogate pair, which SQLite makes of valid JSON, is no damage", () => {
  const sql = "UPDATE sessions SET cwd = json_extract(?, '$')";
  expect(damageAfter(sql, JSON.stringify("cut \ud83d"))).toBeUndefined();
});

test("a row with text that is not UTF-8 is skipped, all others are copied", () => {
  const from = stores.open();
  for (const name of ["s1", "s2", "s3"]) ensureSession(from, "claude-code", name, 0);
  from.prepare("UPDATE sessions SET cwd = CAST(? AS TEXT) WHERE session_id = 's2'").run(NO_TEXT);
  expect(() => from.prepare("SELECT cwd FROM sessions").all()).toThrow(
    /is damaged: it contains text that is not valid UTF-8/,
  );
  from.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  const db = stores.open(join(stores.folder(), "new", "store.db"));
  expect(db.transaction(() => salvage(stores.path(), db))).toMatchObject({ rows: 2, incomplete: ["sessions"] });
  expect(db.prepare("SELECT session_id FROM sessions").all()).toMatchObject([
    { session_id: "s1" },
    { session_id: "s3" },
  ]);
});

test.each([
  [
    "invalid JSON",
    "UPDATE sessions SET repository = ?",
    "{",
    /the table sessions contains text that is not valid JSON/,
  ],
  ["bytes instead of JSON", "UPDATE sessions SET repository = ?", BYTES, /the table sessions contains text/],
  ["packed facts as invalid JSON", "UPDATE packed SET body = ?", "{", /the table packed contains text/],
  [
    "invalid UTF-8",
    "UPDATE sessions SET session_id = CAST(? AS TEXT)",
    NO_TEXT,
    /sessions contains .* not valid UTF-8/,
  ],
  [
    "packed facts that are no tables",
    "UPDATE packed SET body = ?",
    BYTES,
    /the facts of session 1 .* cannot be decoded/,
  ],
] as const)("%s is found as damage", (_, sql, value, damage) => {
  expect(damageAfter(sql, value)).toMatch(damage);
});

test.each([
  ["counters", "UPDATE counters SET metric = CAST(? AS TEXT)"],
  ["increments", "UPDATE increments SET key = CAST(? AS TEXT)"],
  ["meta", "UPDATE meta SET value = CAST(? AS TEXT)"],
])("sums start at zero if a row of %s cannot be salvaged", (table, sql) => {
  const from = stores.open();
  countFacts(
    from,
    [{ key: "k", increments: [{ metric: "openhook.tool.call.count", amount: 1, attributes: {}, resource: {} }] }],
    METRIC_SHAPES,
    0,
  );
  writeMeta(from, "events", "1");
  expect(from.prepare(sql).run(NO_TEXT).changes, table).toBeGreaterThan(0);
  from.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  const db = stores.open(join(stores.folder(), "new", "store.db"));
  expect(db.transaction(() => salvage(stores.path(), db))).toMatchObject({ countsAnew: true });
  expect(db.prepare("SELECT * FROM counters").all()).toEqual([]);
});
