import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Database, filesOf } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { asOrdinaryUser } from "../support/ordinary-user.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();
const keys = (db: Database): unknown => db.prepare("SELECT count(*) AS n FROM meta WHERE key LIKE 'k%'").get()?.["n"];

test("a closed reader does not block a checkpoint, even before garbage collection", () => {
  const db = stores.open();
  for (let i = 0; i < 5; i++) {
    db.prepare("INSERT INTO meta (key, value) VALUES (?, 'x')").run(`k${i}`);
    const seen = readStore(stores.path(), (look) => look.prepare("SELECT count(*) AS n FROM meta").get()?.["n"]);
    expect(seen).toBe(i + 1);
    // 1 in `busy`: a reader was still open, and the checkpoint waited for ten seconds
    expect(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
  }
  expect(() =>
    readStore(stores.path(), () => {
      throw new Error("thrown by the caller");
    }),
  ).toThrow("thrown by the caller");
  db.prepare("INSERT INTO meta (key, value) VALUES ('last', 'x')").run();
  expect(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
});

describe.skipIf(process.platform === "win32")("on a file system without write access", () => {
  const path = (): string => join(stores.folder(), "copy", "store.db");
  const look = (): unknown => asOrdinaryUser(() => readStore(path(), keys));
  afterEach(() => chmodSync(dirname(path()), 0o700));

  /** A store with one key and no log, with the modes of another user's. */
  function copied(modes: { readonly folder: number; readonly file: number }): void {
    const db = stores.open();
    db.prepare("INSERT INTO meta (key, value) VALUES ('k', 'x')").run();
    db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    mkdirSync(dirname(path()));
    copyFileSync(stores.path(), path());
    chmodSync(path(), modes.file);
    chmodSync(stores.folder(), 0o755);
    chmodSync(dirname(path()), modes.folder);
  }

  test("a store is read, and no files are left beside it", () => {
    copied({ folder: 0o555, file: 0o444 });
    expect(look()).toBe(1);
    expect(filesOf(path()).map((file) => existsSync(file))).toEqual([true, false, false]);
  });

  test("results that may be inconsistent are not returned", () => {
    copied({ folder: 0o555, file: 0o444 });
    const { size } = statSync(path());
    expect(() =>
      asOrdinaryUser(() =>
        readStore(path(), (db) => {
          process.seteuid?.(process.getuid?.() ?? 0);
          chmodSync(path(), 0o600);
          writeFileSync(path(), "x", { flag: "a" });
          return keys(db);
        }),
      ),
    ).toThrow(/written to while it was read: try again/);
    expect(statSync(path()).size).toBe(size + 1);
  });

  test("a store with an unreadable log is not read as one without a log", () => {
    copied({ folder: 0o755, file: 0o444 });
    writeFileSync(filesOf(path())[1], Buffer.alloc(5000, "a log"));
    chmodSync(dirname(path()), 0o555);
    expect(look).toThrow(/cannot read ".*store\.db": .*check that its folder can be written/);
  });

  test("another user's file or folder is not an empty store", () => {
    copied({ folder: 0o755, file: 0o000 });
    expect(look).toThrow(/^cannot read ".*store\.db": permission denied; check the owner and mode/);
    chmodSync(dirname(path()), 0o000);
    expect(look).toThrow(/^cannot read ".*store\.db": permission denied; check the owner and mode/);
  });
});
