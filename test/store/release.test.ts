import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { isInUse, whenReleased } from "#store/release.ts";
import { temporaryStores } from "./temporary.ts";

const stores = temporaryStores();

test.runIf(process.platform === "linux")(
  "the files of a closed store are closed, even if someone still has its statements",
  async () => {
    const path = stores.path();
    const db = stores.open(path);
    const kept = db.prepare("SELECT * FROM meta");
    kept.all();
    for (const _ of db.prepare("SELECT name FROM sqlite_schema").each()) break;
    expect(openFiles(path)).not.toEqual([]);
    db.close();
    db.release();
    await whenReleased(() => {
      // What Windows reports for a rename
      if (openFiles(path).length > 0) throw Object.assign(new Error("in use"), { code: "EBUSY" });
    }, "win32");
    expect(openFiles(path)).toEqual([]);
    expect(() => kept.all()).toThrow("the connection was closed");
  },
);

test("a file in use is tried again, other errors are reported immediately", async () => {
  let tries = 0;
  const inUse = (code: string) => () => {
    tries++;
    if (tries < 3) throw Object.assign(new Error(code), { code });
    return tries;
  };
  expect(await whenReleased(inUse("EBUSY"), "win32")).toBe(3);
  tries = 0;
  await expect(whenReleased(inUse("ENOSPC"), "win32")).rejects.toThrow("ENOSPC");
  expect(tries).toBe(1);
  tries = 0;
  await expect(whenReleased(inUse("EBUSY"), "linux")).rejects.toThrow("EBUSY");
  expect(isInUse(new Error("EBUSY"))).toBe(false);
});

const openFiles = (path: string): readonly string[] =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(path) ? [target] : [];
    } catch {
      return [];
    }
  });
