// A store with packed sessions that is damaged: what can be read of it is kept, sums are made anew, and the rest is read again.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withOpenStore } from "../../src/sessions/open-store.ts";
import { openDatabase } from "../../src/store/database.ts";
import { checkIntegrity } from "../../src/store/health.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { packedOwners } from "../../src/store/packed.ts";
import { readStore } from "../../src/store/read-only.ts";
import { type Salvaged, salvage } from "../../src/store/salvage.lazy.ts";
import { Replay } from "../support/replay.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { booksIn, packedCount } from "./books.ts";
import { claudePath, claudeSession, plus, sessionIdOf, writeLines } from "./claude.ts";
import { importInto } from "./run.ts";

const SOURCE = "claude-code";
const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
const SESSIONS = Array.from({ length: 40 }, (_, n) =>
  claudeSession({ id: sessionIdOf(n), startMs: STARTED_MS + n * 3_600_000, turns: 2 }),
);
const TOTALS = plus(...SESSIONS.map(({ totals }) => totals));

/** Of one of their answers. */
const RECORD = `response:msg_${sessionIdOf(3)}_0_0:req_${sessionIdOf(3)}_0_0`;

let at: Replay;
beforeEach(async () => {
  at = new Replay(SOURCE, "basic", { withTranscripts: false });
  for (const [n, { lines }] of SESSIONS.entries()) writeLines(claudePath(at, sessionIdOf(n)), lines);
  await importInto(at, SOURCE);
  expect(books()).toEqual(TOTALS);
});
afterEach(() => at.remove());

const books = () => booksIn(at.places.storePath);
const of = (report: Awaited<ReturnType<typeof importInto>>) => report.agents.get(SOURCE);
const everySum = () =>
  readStore(at.places.storePath, (db) =>
    ["packed", "packed_usage", "packed_tools", "packed_turns", "segments", "sessions"].map((table) =>
      db
        .prepare(table === "packed" ? "SELECT session, hex(body) AS body FROM packed" : `SELECT * FROM ${table}`)
        .all()
        .map((row) => JSON.stringify(row).replace(/,"_metadata":.*$/, "}"))
        .sort(),
    ),
  );

/** Copies the store as a drain does with a damaged one. @param damage is done before */
function salvaged(damage?: (raw: Libsql.Database) => void): Salvaged {
  const { storePath } = at.places;
  const aside = `${storePath}.aside`;
  copyFileSync(storePath, aside);
  const raw = new Libsql(aside, {});
  raw.exec("PRAGMA foreign_keys = OFF");
  damage?.(raw);
  raw.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  raw.close();
  for (const file of [storePath, `${storePath}-wal`, `${storePath}-shm`]) rmSync(file, { force: true });
  const db = openDatabase(storePath);
  try {
    return db.transaction(() => salvage(aside, db));
  } finally {
    db.close();
  }
}

describe("a store that is taken over", () => {
  test("has every packed session with all its sums, and owns what it owned", async () => {
    const before = everySum();
    expect(salvaged()).toMatchObject({ incomplete: [], countsAnew: false });
    expect(everySum()).toEqual(before);
    const db = openDatabase(at.places.storePath);
    expect(packedOwners(db, SOURCE, RECORD)).toHaveLength(1);
    db.close();
    expect(of(await importInto(at, SOURCE))).toMatchObject({ unchanged: 40, imported: 0 });
  });

  test.each(["packed_usage", "packed_tools", "packed_turns", "segments", "packed_owners"])(
    "without a part of %s: the next import sums up the facts again",
    async (table) => {
      const before = everySum();
      const found = salvaged((raw) => lose(raw, table));
      expect(found.incomplete).toEqual([table]);
      expect(packedCount(at.places.storePath)).toBe(40);
      await importInto(at, SOURCE);
      expect(books()).toEqual(TOTALS);
      expect(everySum()).toEqual(before);
      const db = openDatabase(at.places.storePath);
      expect(packedOwners(db, SOURCE, RECORD)).toHaveLength(1);
      db.close();
    },
  );

  test("without a part of the facts: those sessions are read again, as imported ones", async () => {
    const found = salvaged((raw) => lose(raw, "packed"));
    expect(found.incomplete).toContain("packed");
    expect(packedCount(at.places.storePath)).toBe(20);
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ imported: 40, fromHooks: 0 });
    expect(books()).toEqual(TOTALS);
    expect(packedCount(at.places.storePath)).toBe(40);
  });
});

describe("a store of which nothing can be read", () => {
  beforeEach(() => writeFileSync(at.places.storePath, "no database at all".repeat(1000)));

  test("an import sets it aside, reads all again, and says so", async () => {
    const report = await importInto(at, SOURCE);
    expect(books()).toEqual(TOTALS);
    expect(report.problems).toContainEqual(
      expect.stringMatching(/nothing could be read .*; this import reads the imported sessions again/),
    );
  });

  test("a drain begins a new one, and sends the user to the import for what was imported", async () => {
    expect(() => withOpenStore(at, () => {})).toThrow(
      /drain moves it aside and starts .*; then openhook-otel import reads/,
    );
    const { problems } = await at.drain();
    expect(problems).toContainEqual(
      expect.stringContaining("; openhook-otel import reads the imported sessions again"),
    );
    expect(packedCount(at.places.storePath)).toBe(0);
    await importInto(at, SOURCE);
    expect(books()).toEqual(TOTALS);
  });
});

describe("a store with bits turned over, which SQLite takes for sound", () => {
  test.each([
    ["the id of a session", sessionIdOf(7)],
    ["a path", `${sessionIdOf(9)}.jsonl`],
    ["a model", "claude-"],
    ["a sum", '"modelCalls"'],
    ["what is known of the store", "instance.fingerprint"],
    ["the name of a column", "cost_nano_usd"],
    ["the name of a table", "CREATE TABLE packed_turns"],
  ])("in %s: a drain by hand sets it aside, and an import makes it whole", async (_, text) => {
    const { storePath } = at.places;
    turnOver(storePath, (bytes) => placesOf(text, bytes).map((place) => (place + text.length - 2) * 8 + 7));
    const report = await at.drain({ isEager: true });
    expect(report.problems).toContainEqual(expect.stringMatching(/is damaged: .*; it was set aside/));
    await importInto(at, SOURCE);
    expect(books()).toEqual(TOTALS);
    expect((await importInto(at, SOURCE)).problems).toEqual([]);
  });

  test("whichever they are, no program ends over it, and in the end it is a store like any other", {
    timeout: 120_000,
  }, async () => {
    const { storePath } = at.places;
    const sound = readFileSync(storePath);
    let kept = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      for (const file of [`${storePath}-wal`, `${storePath}-shm`]) rmSync(file, { force: true });
      writeFileSync(storePath, sound);
      const random = numbersFrom(seed);
      // From one bit to a few hundred; the first hundred bytes say that it is a database
      const bits = Array.from({ length: 2 ** random(9) }, () => 800 + random(sound.length * 8 - 800));
      turnOver(storePath, () => bits);
      try {
        books();
      } catch (error) {
        expect(error, `seed ${seed}`).toMatchObject({ code: expect.stringMatching(/^E_STORE/) });
      }
      await at.drain({ isEager: true });
      await importInto(at, SOURCE);
      kept += knownCount(storePath);
      expect(soundnessOf(storePath), `seed ${seed}`).toEqual([]);
      expect((await importInto(at, SOURCE)).problems, `seed ${seed}`).toEqual([]);
    }
    expect(kept).toBeGreaterThanOrEqual(ROUNDS * SESSIONS.length);
  });
});

describe("a store of the version before", () => {
  test("is brought up to date, keeps what it has, and takes an import", async () => {
    const { storePath } = at.places;
    for (const file of [storePath, `${storePath}-wal`, `${storePath}-shm`]) rmSync(file, { force: true });
    const raw = new Libsql(storePath, {});
    for (const sql of MIGRATIONS.slice(0, 3)) raw.exec(sql);
    raw.exec(`PRAGMA user_version = 3;
      INSERT INTO sessions (id, source, session_id, first_ms, last_ms) VALUES (7, 'openhook', 'old', 1, 2);
      INSERT INTO model_calls (session, key, segment, model, subagent, end_ms, input, output, complete, body)
        VALUES (7, 'a', 0, 'm', 0, 2, 5, 1, 1, '{"startMs":0}')`);
    raw.close();
    await expect(importInto(at, SOURCE, { dryRun: true })).rejects.toThrow("earlier version");
    await importInto(at, SOURCE);
    expect(books()).toEqual({
      ...TOTALS,
      sessions: TOTALS.sessions + 1,
      calls: TOTALS.calls + 1,
      input: TOTALS.input + 5,
      output: TOTALS.output + 1,
    });
  });
});

// --- internal ---

const ROUNDS = IS_WHOLE ? 25 : 5;

/** Sessions of which there are facts, packed or, where a drain read them before the import, in rows. */
const knownCount = (path: string): number =>
  readStore(path, (db) =>
    Number(
      db.prepare("SELECT count(*) AS n FROM (SELECT session FROM packed UNION SELECT session FROM entries)").get()?.[
        "n"
      ],
    ),
  ) ?? 0;

/** @param bits their numbers, counted from the beginning of the file */
function turnOver(path: string, bits: (bytes: Buffer) => readonly number[]): void {
  const bytes = readFileSync(path);
  for (const bit of bits(bytes)) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  writeFileSync(path, bytes);
}

/** Some of them are in what SQLite has freed. */
function placesOf(text: string, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  expect(places).not.toEqual([]);
  return places;
}

/** The same numbers for the same seed. @returns whole ones below a limit */
function numbersFrom(seed: number): (below: number) => number {
  let x = seed * 2_654_435_761;
  return (below) => {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((x / 2 ** 32) * below);
  };
}

const soundnessOf = (path: string): readonly string[] | undefined =>
  readStore(path, (db) => checkIntegrity(db, 0).problems);

/** A part of a table is not there, or is nonsense. */
function lose(raw: Libsql.Database, table: string): void {
  if (table === "packed_owners") raw.exec("DROP TABLE packed_owners");
  else if (table === "packed") raw.exec("UPDATE packed SET body = substr(body, 1, 40) WHERE session % 2 = 0");
  else if (table === "segments") raw.exec("UPDATE segments SET totals = '{torn' WHERE session % 2 = 0");
  else raw.exec(`UPDATE ${table} SET session = 99999 WHERE session % 2 = 0`);
}
