import { expect, test } from "vitest";
import { encodeFacts } from "../../src/model/facts.ts";
import { findDamage } from "../../src/store/salvage.lazy.ts";
import { sessionOf } from "../../src/store/sessions.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const BYTES = Uint8Array.of(1, 2, 3);

/** What is found of a store with one session that is packed, after a change. */
function damageAfter(sql: string, ...values: readonly (string | Uint8Array)[]): string | undefined {
  const db = stores.open();
  const { id } = sessionOf(db, "claude-code", "s1", 0);
  db.prepare("INSERT INTO packed (session, body) VALUES (?, ?)").run(id, encodeFacts([]));
  db.prepare(sql).run(...values);
  return findDamage(db);
}

test("a store in which every text is what it should be is sound", () => {
  expect(damageAfter("UPDATE sessions SET repository = ?", '{"name":"shop"}')).toBeUndefined();
});

test.each([
  ["a text that is none", "UPDATE sessions SET repository = ?", "{", /the table sessions holds a text that is no JSON/],
  ["bytes for a text", "UPDATE sessions SET repository = ?", BYTES, /the table sessions holds a text/],
  ["facts that are none", "UPDATE packed SET body = ?", "{", /the table packed holds a text/],
  ["tables that are none", "UPDATE packed SET body = ?", BYTES, /the facts of session 1 .* make no sense/],
] as const)("%s", (_, sql, value, damage) => {
  expect(damageAfter(sql, value)).toMatch(damage);
});
