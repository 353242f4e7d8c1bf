// Two made-up migrations, after the real ones, show that a store of an earlier version is brought up to date, completely or not at all.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sessions } from "#commands/sessions.ts";
import { status } from "#commands/status.ts";
import { type Database, openDatabase, StoreError } from "#store/database.ts";
import { checkIntegrity } from "#store/health.ts";
import { INITIAL_VERSION } from "#store/migrations.ts";
import { readStore } from "#store/read-only.ts";
import { INITIAL_SCHEMA } from "#store/schema.ts";
import { claudePath, claudeSession, sessionIdOf, writeLines } from "../import/claude.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { schemaOf } from "./schema-of.ts";

const migrations = vi.hoisted(() => [
  "ALTER TABLE sessions ADD COLUMN season TEXT; UPDATE sessions SET season = 'autumn'",
  "CREATE TABLE fruits (name TEXT PRIMARY KEY); INSERT INTO fruits SELECT session_id FROM sessions",
]);
const real = vi.hoisted((): { count: number } => ({ count: 0 }));
vi.mock("#store/migrations.ts", async (original) => {
  const module = await original<{ readonly INITIAL_VERSION: number; readonly MIGRATIONS: readonly string[] }>();
  real.count = module.MIGRATIONS.length;
  migrations.unshift(...module.MIGRATIONS);
  return { ...module, MIGRATIONS: migrations };
});

let at: Replay;
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

/** A store with one session, after the real migrations and the first `count` of the made-up ones. */
function storeAfter(count: number): void {
  mkdirSync(dirname(at.places.storePath), { recursive: true, mode: 0o700 });
  const raw = new Libsql(at.places.storePath, {});
  for (const sql of [INITIAL_SCHEMA, ...migrations.slice(0, real.count + count)]) raw.exec(sql);
  raw.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA user_version = ${versionAfter(count)};
    INSERT INTO sessions (id, source, session_id, first_ms, last_ms) VALUES (7, 'openhook', 'pear', 1, 2)`);
  raw.close();
}

const versionAfter = (count: number): number => INITIAL_VERSION + real.count + count;

const versionOf = (db: Database): unknown => db.prepare("PRAGMA user_version").get()?.["user_version"];
const sessionsIn = (db: Database): unknown => db.prepare("SELECT session_id FROM sessions").all();

test.each([0, 1])("from %i migrations on, the result has the schema of a new store, and keeps its rows", (count) => {
  storeAfter(count);
  const db = openDatabase(at.places.storePath);
  expect([versionOf(db), sessionsIn(db)]).toEqual([versionAfter(2), [expect.objectContaining({ session_id: "pear" })]]);
  expect(db.prepare("SELECT season, (SELECT name FROM fruits) AS fruit FROM sessions").get()).toMatchObject(
    count === 0 ? { season: "autumn", fruit: "pear" } : { season: null, fruit: "pear" },
  );
  expect(checkIntegrity(db, 0).problems).toEqual([]);
  const made = openDatabase(`${at.places.storePath}.new`);
  expect(schemaOf(db)).toEqual(schemaOf(made));
  made.close();
  db.close();
});

test("a migration that fails changes nothing; the next opening tries again", () => {
  storeAfter(0);
  const last = migrations.length - 1;
  const second = migrations[last] ?? "";
  migrations[last] = `${second}; INSERT INTO nowhere VALUES (1)`;
  expect(() => openDatabase(at.places.storePath)).toThrow(StoreError);
  migrations[last] = second;
  const raw = new Libsql(at.places.storePath, {});
  expect(raw.prepare("PRAGMA user_version").get()).toMatchObject({ user_version: versionAfter(0) });
  expect(raw.prepare("SELECT name FROM sqlite_master WHERE name = 'fruits'").all()).toEqual([]);
  raw.close();
  const db = openDatabase(at.places.storePath);
  expect([versionOf(db), db.prepare("SELECT name FROM fruits").get()]).toMatchObject([
    versionAfter(2),
    { name: "pear" },
  ]);
  db.close();
});

describe("before it is brought up to date", () => {
  const listed = async (refresh: boolean): Promise<unknown> => {
    const { context, out } = contextAt(at.places);
    expect(await sessions({ limit: 20, json: true, all: true, refresh }, context)).toBe(0);
    return (JSON.parse(out()) as { session_id: string }[]).map(({ session_id }) => session_id).sort();
  };

  test("a command that only reads names the remedy, and changes nothing", async () => {
    storeAfter(1);
    expect(() => readStore(at.places.storePath, () => {})).toThrow(/was written by an earlier version .* run .*drain/);
    await expect(listed(false)).rejects.toMatchObject({ code: "E_STORE_OLDER", exitCode: 1 });
    const { context, out } = contextAt(at.places);
    expect(await status({ json: true }, context)).toBe(0);
    const { store, broken, remarks } = JSON.parse(out());
    expect([store.state, broken]).toEqual(["older", []]);
    expect(remarks.join("\n")).toMatch(/was written by an earlier version .* run .*drain/);
  });

  test("a list of sessions with what is new brings it up to date first", async () => {
    storeAfter(1);
    const { lines } = claudeSession({ id: sessionIdOf(1), startMs: Date.parse("2026-08-03T10:00:00Z"), turns: 2 });
    writeLines(claudePath(at, sessionIdOf(1)), lines);
    expect(await listed(true)).toEqual([sessionIdOf(1), "pear"].sort());
  });

  test("a drain brings it up to date", async () => {
    storeAfter(0);
    expect((await at.drain()).problems).toEqual([]);
    expect(readStore(at.places.storePath, sessionsIn)).toMatchObject([{ session_id: "pear" }]);
  });
});
