import { expect, test } from "vitest";
import { readStore } from "../../src/store/read-only.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();

test("who has looked keeps nobody from emptying the log, whether or not what looked was collected yet", () => {
  const db = stores.open();
  for (let i = 0; i < 5; i++) {
    db.prepare("INSERT INTO meta (key, value) VALUES (?, 'x')").run(`k${i}`);
    const seen = readStore(stores.path(), (look) => look.prepare("SELECT count(*) AS n FROM meta").get()?.["n"]);
    expect(seen).toBe(i + 1);
    // 1 in `busy`: something still read from it, and it waited for ten seconds
    expect(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
  }
  expect(() =>
    readStore(stores.path(), () => {
      throw new Error("of the one who looks");
    }),
  ).toThrow("of the one who looks");
  db.prepare("INSERT INTO meta (key, value) VALUES ('last', 'x')").run();
  expect(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({ busy: 0 });
});
