import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createFile, makeSpareFiles, removerOf } from "#store/spare-files.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-spare-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const spares = (): readonly string[] => readdirSync(dir).filter((name) => name.startsWith("spare-"));

it("creates the missing spare files, and keeps the others", () => {
  makeSpareFiles(dir, "first");
  const all = spares();
  expect(all.length).toBeGreaterThan(5);
  expect(statSync(join(dir, "first")).size).toBe(0);
  const kept = statSync(join(dir, all[1] ?? "")).ino;
  rmSync(join(dir, all[0] ?? ""));
  makeSpareFiles(dir, "first");
  expect(spares()).toEqual(all);
  expect(statSync(join(dir, all[1] ?? "")).ino).toBe(kept);
  expect(() => makeSpareFiles(join(dir, "missing"), "first")).not.toThrow();
});

it("a file that is no longer needed becomes a spare one, emptied, while one is missing; otherwise it is deleted", () => {
  makeSpareFiles(dir, "first");
  const [missing = ""] = spares();
  rmSync(join(dir, missing));
  const [one, two] = [join(dir, "one.evt"), join(dir, "two.evt")];
  for (const path of [one, two]) writeFileSync(path, "a prompt");
  const inode = statSync(one).ino;
  const discard = removerOf(dir);
  for (const path of [one, two, join(dir, "gone.evt")]) discard(path);
  expect([existsSync(one), existsSync(two)]).toEqual([false, false]);
  expect(statSync(join(dir, missing))).toMatchObject({ ino: inode, size: 0 });
});

it("creates a file without a spare one while there is room, and leaves an existing file alone", () => {
  makeSpareFiles(dir, "first");
  const count = spares().length;
  writeFileSync(join(dir, "there"), "text");
  expect(createFile(join(dir, "there"), dir)).toBe(false);
  expect(createFile(join(dir, "new"), dir)).toBe(false);
  expect([statSync(join(dir, "there")).size, statSync(join(dir, "new")).size, spares().length]).toEqual([4, 0, count]);
  expect(() => createFile(join(dir, "missing", "file"), dir)).toThrow(/ENOENT/);
});
