// Files of the state directory: nothing but a regular file of this user is opened.
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { collectStatus } from "#check/health/examine.ts";
import { appendOwn, assertOwn, openOwn, readOwn } from "#kit/own-file.ts";
import { contextAt } from "./support/context.ts";
import { Replay } from "./support/replay.ts";

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-own-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));

const FOREIGN: readonly (readonly [string, (path: string) => unknown])[] = [
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a link", (path) => symlinkSync("/dev/full", path)],
  ["a directory", (path) => mkdirSync(path)],
];

describe.skipIf(process.platform === "win32").each(FOREIGN)("%s in place of a file", (what, make) => {
  test.each(["r", "r+", "a"] as const)("is not opened (%s), and says what it is", (how) => {
    const path = join(dir, "delivered.log");
    make(path);
    const open = () => closeSync(openOwn(path, how));
    expect(open).toThrow(what === "a directory" ? /directory/ : `it is ${what} and not a regular file`);
    expect(() => assertOwn(path)).toThrow(`it is ${what}`);
  });
});

test("a file that does not exist is created for this user only, and appended to", () => {
  const path = join(dir, "drain.log");
  expect(() => assertOwn(path)).not.toThrow();
  appendOwn(path, "one\n");
  appendOwn(path, "two\n");
  expect(readOwn(path).toString()).toBe("one\ntwo\n");
});

describe.skipIf(process.platform === "win32")("a drain and status, with a foreign file in the state directory", () => {
  test.each([
    "store.db",
    "store.db-wal",
    "drain.lock",
    "drain.log",
    "delivered.log",
    "drain.holder",
    "spare-0",
    "statusline.json",
  ])("%s", async (name) => {
    const replay = new Replay("claude-code", "basic");
    try {
      const { stateDir } = replay.places;
      mkdirSync(stateDir, { recursive: true, mode: 0o700 });
      writeFileSync(join(dir, "elsewhere"), "kept");
      symlinkSync(join(dir, "elsewhere"), join(stateDir, name));
      await expect(replay.drain()).rejects.toThrow(`${name}" is not used: it is a link`);
      const { broken } = await collectStatus(contextAt(replay.places).context);
      expect(broken.join("\n")).toContain(`${name}" is not used: it is a link`);
      rmSync(join(stateDir, name));
      await replay.drain();
      expect(readFileSync(join(dir, "elsewhere"), "utf8")).toBe("kept");
    } finally {
      replay.remove();
    }
  });
});
