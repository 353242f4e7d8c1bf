// Slow: only `npm run test:all` runs it. Imports beside damaged stores; store/database.test.ts damages one.
//
// A damaged store with packed sessions: readable data is kept, sums are recomputed, and the rest is read again.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { checkIntegrity } from "#store/health.ts";
import { packedOwners } from "#store/packed.ts";
import { readStore } from "#store/read-only.ts";
import { type Salvaged, salvage } from "#store/salvage.lazy.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { Replay } from "../support/replay.ts";
import { IS_WHOLE } from "../support/whole.ts";
import { claudePath, claudeSession, plus, sessionIdOf, writeLines } from "./claude.ts";
import { importInto } from "./run.ts";
import { packedCount, storedTotals } from "./totals.ts";

const SOURCE = "claude-code";
const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
const SESSIONS = Array.from({ length: 40 }, (_, n) =>
  claudeSession({ id: sessionIdOf(n), startMs: STARTED_MS + n * 3_600_000, turns: 2 }),
);
const TOTALS = plus(...SESSIONS.map(({ totals }) => totals));

/** The key of an answer in one of the sessions. */
const RECORD = `response:msg_${sessionIdOf(3)}_0_0:req_${sessionIdOf(3)}_0_0`;

let at: Replay;
beforeEach(async () => {
  at = new Replay(SOURCE, "basic", { withTranscripts: false });
  for (const [n, { lines }] of SESSIONS.entries()) writeLines(claudePath(at, sessionIdOf(n)), lines);
  await importInto(at, SOURCE);
  expect(stored()).toEqual(TOTALS);
});
afterEach(() => at.remove());

const stored = () => storedTotals(at.places.storePath);
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

/** Copies the store as a drain does with a damaged one. @param damage runs before */
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

describe("a copied store", () => {
  test("has every packed session with all sums and keys", async () => {
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
      expect(stored()).toEqual(TOTALS);
      expect(everySum()).toEqual(before);
      const db = openDatabase(at.places.storePath);
      expect(packedOwners(db, SOURCE, RECORD)).toHaveLength(1);
      db.close();
    },
  );

  test("sessions whose packed facts were lost are read again, as imported ones", async () => {
    const found = salvaged((raw) => lose(raw, "packed"));
    expect(found.incomplete).toContain("packed");
    expect(packedCount(at.places.storePath)).toBe(20);
    const report = await importInto(at, SOURCE);
    expect(of(report)).toMatchObject({ imported: 40, fromHooks: 0 });
    expect(stored()).toEqual(TOTALS);
    expect(packedCount(at.places.storePath)).toBe(40);
  });
});

describe("an unreadable store", () => {
  beforeEach(() => writeFileSync(at.places.storePath, "no database at all".repeat(1000)));

  test("an import sets it aside, reads everything again, and reports it", async () => {
    const report = await importInto(at, SOURCE);
    expect(stored()).toEqual(TOTALS);
    expect(report.problems).toContainEqual(
      expect.stringMatching(/nothing could be read .*; this import reads the imported sessions again/),
    );
  });

  test("a drain creates a new one, and suggests an import for imported sessions", async () => {
    expect(() => withOpenStore(at, () => {})).toThrow(
      /drain moves it aside and starts .*; then openhook-otel import reads/,
    );
    const { problems } = await at.drain();
    expect(problems).toContainEqual(
      expect.stringContaining("; openhook-otel import reads the imported sessions again"),
    );
    expect(packedCount(at.places.storePath)).toBe(0);
    await importInto(at, SOURCE);
    expect(stored()).toEqual(TOTALS);
  });
});

describe("a store with flipped bits that SQLite does not detect", () => {
  test.each([
    ["the id of a session", sessionIdOf(7)],
    ["a path", `${sessionIdOf(9)}.jsonl`],
    ["a model", "claude-"],
    ["a sum", '"modelCalls"'],
    ["a fact about the store", "instance.fingerprint"],
    ["the name of a column", "cost_nano_usd"],
    ["the name of a table", "CREATE TABLE packed_turns"],
  ])("in %s: a manual drain sets it aside, and an import restores it", async (_, text) => {
    const { storePath } = at.places;
    flipBits(storePath, (bytes) => placesOf(text, bytes).map((place) => (place + text.length - 2) * 8 + 7));
    const report = await at.drain({ isEager: true });
    expect(report.problems).toContainEqual(expect.stringMatching(/is damaged: .*; it was set aside/));
    await importInto(at, SOURCE);
    expect(stored()).toEqual(TOTALS);
    expect((await importInto(at, SOURCE)).problems).toEqual([]);
  });

  test("random flipped bits: no program crashes, and the store is usable in the end", async () => {
    const { storePath } = at.places;
    const sound = readFileSync(storePath);
    let kept = 0;
    for (let seed = 1; seed <= ROUNDS; seed++) {
      for (const file of [`${storePath}-wal`, `${storePath}-shm`]) rmSync(file, { force: true });
      writeFileSync(storePath, sound);
      const random = numbersFrom(seed);
      // From one bit to a few hundred; the first hundred bytes identify the file as a database
      const bits = Array.from({ length: 2 ** random(9) }, () => 800 + random(sound.length * 8 - 800));
      flipBits(storePath, () => bits);
      try {
        stored();
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

// --- internal ---

const ROUNDS = IS_WHOLE ? 25 : 5;

/** Sessions with facts: packed or, if a drain read them before the import, in rows. */
const knownCount = (path: string): number =>
  readStore(path, (db) =>
    Number(
      db.prepare("SELECT count(*) AS n FROM (SELECT session FROM packed UNION SELECT session FROM entries)").get()?.[
        "n"
      ],
    ),
  ) ?? 0;

/** @param bits their positions, counted from the beginning of the file */
function flipBits(path: string, bits: (bytes: Buffer) => readonly number[]): void {
  const bytes = readFileSync(path);
  for (const bit of bits(bytes)) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  writeFileSync(path, bytes);
}

/** Positions of a text in a file. Some of them are in pages that SQLite has freed. */
function placesOf(text: string, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  expect(places).not.toEqual([]);
  return places;
}

/** Reproducible random numbers for a seed. @returns integers below a limit */
function numbersFrom(seed: number): (below: number) => number {
  let x = seed * 2_654_435_761;
  return (below) => {
    x = (Math.imul(x, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((x / 2 ** 32) * below);
  };
}

const soundnessOf = (path: string): readonly string[] | undefined =>
  readStore(path, (db) => checkIntegrity(db, 0).problems);

/** Deletes a part of a table, or makes it invalid. */
function lose(raw: Libsql.Database, table: string): void {
  if (table === "packed_owners") raw.exec("DROP TABLE packed_owners");
  else if (table === "packed") raw.exec("UPDATE packed SET body = substr(body, 1, 40) WHERE session % 2 = 0");
  else if (table === "segments") raw.exec("UPDATE segments SET totals = '{torn' WHERE session % 2 = 0");
  else raw.exec(`UPDATE ${table} SET session = 99999 WHERE session % 2 = 0`);
}
