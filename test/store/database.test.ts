import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Libsql from "libsql";
import { describe, expect, test } from "vitest";
import { openStore } from "#collect/drain/open.ts";
import { placesOf } from "#config/places.ts";
import { checkpoint, type Database, deferSync, openDatabase, StoreError } from "#store/database.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { readStore } from "#store/read-only.ts";
import { OLDEST_VERSION, SCHEMA_VERSION } from "#store/schema-version.const.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const pragma = (db: Database, name: string): unknown => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
const schemaOf = (db: Database): readonly unknown[] =>
  db.prepare("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name").all();

describe("a new store", () => {
  test("is accessible to the user only, and a commit is on disk before it returns", () => {
    const db = stores.open();
    writeMeta(db, "season", "autumn");
    expect(pragma(db, "journal_mode")).toBe("wal");
    expect(pragma(db, "synchronous")).toBe(2);
    expect(pragma(db, "foreign_keys")).toBe(1);
    expect(pragma(db, "user_version")).toBe(SCHEMA_VERSION);
    const dir = dirname(stores.path());
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777, name).toBe(0o600);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test("may defer syncing for data that can be read again, if a log keeps the commits in order", () => {
    const db = stores.open();
    deferSync(db);
    expect(pragma(db, "synchronous")).toBe(1);
    db.prepare("PRAGMA journal_mode = DELETE").get();
    db.prepare("PRAGMA synchronous = FULL").get();
    deferSync(db);
    expect(pragma(db, "synchronous")).toBe(2);
  });

  test("restricts the mode of an existing one", () => {
    stores.open().close();
    chmodSync(stores.path(), 0o644);
    stores.open();
    expect(statSync(stores.path()).mode & 0o777).toBe(0o600);
  });
});

describe("an existing store", () => {
  test("opening again changes nothing", () => {
    const first = stores.open();
    writeMeta(first, "season", "autumn");
    const schema = schemaOf(first);
    checkpoint(first);
    first.close();
    const again = openDatabase(stores.path());
    // Not one page, or every drain would wait for the write
    expect(statSync(`${stores.path()}-wal`).size).toBe(0);
    expect(pragma(again, "auto_vacuum")).toBe(2);
    expect(schemaOf(again)).toEqual(schema);
    expect(readMeta(again, "season")).toBe("autumn");
    again.close();
  });
});

describe("a store that cannot be used", () => {
  const errorOf = (path: string): StoreError => {
    try {
      openDatabase(path).close();
    } catch (error) {
      if (error instanceof StoreError) return error;
      throw error;
    }
    throw new Error("it was opened");
  };

  test("a store of a later version is refused and not changed", () => {
    const db = stores.open();
    writeMeta(db, "season", "autumn");
    db.prepare(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`).get();
    db.close();
    const error = errorOf(stores.path());
    expect(error.code).toBe("E_STORE_NEWER");
    expect(error.message).toContain(JSON.stringify(stores.path()));
    expect(error.message).toContain("update openhook-otel");
    const raw = new Libsql(stores.path(), {});
    expect(raw.prepare("SELECT value FROM meta WHERE key = 'season'").get()).toMatchObject({ value: "autumn" });
    raw.close();
  });

  test("a store from before the first release is refused and not changed, by a drain too", async () => {
    const places = placesOf({ env: { OPENHOOK_OTEL_HOME: stores.folder() }, home: "/home/dev", platform: "linux" });
    for (const version of [1, OLDEST_VERSION - 1, -1]) {
      const db = stores.open(places.storePath);
      writeMeta(db, "season", "autumn");
      checkpoint(db);
      db.prepare(`PRAGMA user_version = ${version}`).get();
      const error = errorOf(places.storePath);
      expect(error.code).toBe("E_STORE");
      expect(error.message).toMatch(
        /store\.db" has schema -?\d+, from before the first release .* away; then .* import reads/,
      );
      expect(() => readStore(places.storePath, () => {})).toThrow(error.message);
      const opened = openStore({ places, now: Date.now, log: () => {}, report: { problems: [] } });
      await expect(opened).rejects.toThrow(error.message);
      expect([pragma(db, "user_version"), readMeta(db, "season")]).toEqual([version, "autumn"]);
      db.prepare(`PRAGMA user_version = ${SCHEMA_VERSION}`).get();
    }
  });

  test("that is not a database throws an error that names the cause", () => {
    mkdirSync(dirname(stores.path()), { recursive: true });
    writeFileSync(stores.path(), "acme ".repeat(1000));
    const error = errorOf(stores.path());
    expect(error.code).toBe("E_STORE_DAMAGED");
    expect(error.message).toContain(JSON.stringify(stores.path()));
  });

  test("whose path is a directory throws an error with advice", () => {
    mkdirSync(stores.path(), { recursive: true });
    const error = errorOf(stores.path());
    expect(error.code).toBe("E_STORE");
    expect(error.message).toMatch(/cannot open .*store\.db.*check that/);
  });

  test("damaged: the drain sets it aside completely and starts a new one", async () => {
    const places = placesOf({ env: { OPENHOOK_OTEL_HOME: stores.folder() }, home: "/home/dev", platform: "linux" });
    const lost = "acme ".repeat(1000);
    writeFileSync(places.storePath, lost);
    writeFileSync(`${places.storePath}-wal`, "old log");
    const logged: string[] = [];
    const db = await openStore({
      places,
      now: () => Date.UTC(2026, 9, 5, 12),
      log: (line) => logged.push(line),
      report: { problems: [] },
    });
    expect(pragma(db, "user_version")).toBe(SCHEMA_VERSION);
    db.close();
    const aside = `${places.storePath}.damaged-2026-10-05T120000.000Z`;
    expect(readFileSync(aside, "utf8")).toBe(lost);
    // SQLite itself may delete a foreign log before we can move it
    if (existsSync(`${aside}-wal`)) expect(readFileSync(`${aside}-wal`, "utf8")).toBe("old log");
    expect(logged.join()).toContain(JSON.stringify(aside));
  });

  test("a store that was found damaged while in use is set aside by the drain that finds the note about it", async () => {
    const places = placesOf({ env: { OPENHOOK_OTEL_HOME: stores.folder() }, home: "/home/dev", platform: "linux" });
    openDatabase(places.storePath).close();
    writeFileSync(`${places.storePath}.damage`, "page 7 is damaged");
    const report = { problems: [] as string[] };
    const db = await openStore({ places, now: Date.now, log: () => {}, report });
    db.close();
    expect(report.problems).toContain("page 7 is damaged; it was set aside");
    expect(report.problems.join()).toContain("the damaged store is now");
    expect(existsSync(`${places.storePath}.damage`)).toBe(false);
  });

  test("a store of a later version is not set aside by a drain", async () => {
    const places = placesOf({ env: { OPENHOOK_OTEL_HOME: stores.folder() }, home: "/home/dev", platform: "linux" });
    const db = stores.open(places.storePath);
    db.prepare("PRAGMA user_version = 99").get();
    const opened = openStore({ places, now: Date.now, log: () => {}, report: { problems: [] } });
    await expect(opened).rejects.toThrow(StoreError);
    expect(readdirSync(stores.folder()).filter((name) => name.includes("damaged"))).toEqual([]);
  });
});

describe("transaction", () => {
  test("all or nothing, also if nested", () => {
    const db = stores.open();
    expect(() =>
      db.transaction(() => {
        writeMeta(db, "outer", "1");
        db.transaction(() => writeMeta(db, "inner", "1"));
        throw new Error("stop");
      }),
    ).toThrow("stop");
    expect([readMeta(db, "outer"), readMeta(db, "inner")]).toEqual([undefined, undefined]);
    db.transaction(() => db.transaction(() => writeMeta(db, "inner", "2")));
    expect(readMeta(db, "inner")).toBe("2");
  });

  test("another connection sees it after the commit, not before", () => {
    const [writer, reader] = [stores.open(), stores.open()];
    writer.transaction(() => {
      writeMeta(writer, "season", "winter");
      expect(readMeta(reader, "season")).toBeUndefined();
    });
    expect(readMeta(reader, "season")).toBe("winter");
    writeMeta(reader, "season", "spring");
    expect(readMeta(writer, "season")).toBe("spring");
  });

  test("integers are exact up to 2^53", () => {
    const db = stores.open();
    db.prepare("CREATE TEMP TABLE n (v INTEGER)").run();
    const values = [0, 1, -1, 2 ** 31, 2 ** 53 - 1];
    for (const value of values) db.prepare("INSERT INTO n VALUES (?)").run(value);
    expect(
      db
        .prepare("SELECT v FROM n ORDER BY rowid")
        .all()
        .map((row) => row["v"]),
    ).toEqual(values);
  });
});
