import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { placesOf } from "#config/places.ts";
import { VERSION } from "#kit/version.ts";
import { isCopy, mayHaveOldCopies } from "#setup/registration/copy-folders.ts";
import { installCopy, isPackage, programIn, versionOf } from "#setup/registration/installed-copy.ts";
import { copiesIn } from "#setup/registration/old-copies.ts";
import { contextAt } from "../support/context.ts";
import { ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

let home: string;
let program: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-copy-"));
  program = programIn(join(home, "package"));
  mkdirSync(join(home, "package", "dist"), { recursive: true });
  writeFileSync(join(home, "package", "package.json"), JSON.stringify({ name: "openhook-otel", version: VERSION }));
  writeFileSync(program, "require('libsql')");
  symlinkSync(join(ROOT, "node_modules"), join(home, "package", "node_modules"), "junction");
});
afterEach(() => removeFolder(home));

const setUp = () => {
  const places = placesOf({ env: {}, home, platform: "linux" });
  return { places, context: contextAt(places, { programPath: program }).context };
};

test("copies dist and SQLite with the native part of this system, and uses the same copy again", async () => {
  const { places, context } = setUp();
  const copy = await installCopy(context);
  expect(copy).toBe(programIn(join(places.copiesDir, VERSION)));
  expect(readFileSync(copy, "utf8")).toBe("require('libsql')");
  expect(readdirSync(join(places.copiesDir, VERSION, "node_modules", "@libsql"))).toHaveLength(1);
  expect(versionOf(copy)).toBe(VERSION);
  expect([isCopy(copy, places), isCopy(program, places)]).toEqual([true, false]);
  expect(await installCopy(context)).toBe(copy);
  expect(await copiesIn(places.copiesDir)).toMatchObject({ copies: [expect.anything()], unfinished: [] });
});

test("a drain looks for old copies only beside its own", async () => {
  const { places, context } = setUp();
  const copy = await installCopy(context);
  // The hook's own files are there too
  writeFileSync(join(places.copiesDir, "hook.sh"), "");
  expect([copy, program].map((path) => mayHaveOldCopies(path, places))).toEqual([false, false]);
  mkdirSync(join(places.copiesDir, "0.0.1"));
  expect([copy, program].map((path) => mayHaveOldCopies(path, places))).toEqual([true, false]);
});

test("a copy that does not run is not left behind", async () => {
  const { places, context } = setUp();
  writeFileSync(program, "process.exit(3)");
  await expect(installCopy(context)).rejects.toThrow(`cannot copy this program to ${places.copiesDir}`);
  expect(existsSync(places.copiesDir) ? readdirSync(places.copiesDir) : []).toEqual([]);
});

describe("no copy is made of", () => {
  test("a clone of the repository", () => expect(isPackage(join(ROOT, "dist", "openhook-otel.cjs"))).toBe(false));
  test("a program without a package", () => expect(isPackage(join(home, "dist", "openhook-otel.cjs"))).toBe(false));
});
