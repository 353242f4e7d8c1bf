import { lstatSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { isSameFile } from "#kit/open.ts";
import { removeFolder } from "../../support/remove.ts";

const folder = mkdtempSync(join(tmpdir(), "openhook-same-"));
afterAll(() => removeFolder(folder));

test("an open file with another volume number than its path is the same file on Windows, if the path still has its number", () => {
  const real = join(folder, "session.jsonl");
  writeFileSync(real, "{}\n");
  const before = lstatSync(real);
  // As Node 22.12 to 22.16, 24.0 and 24.1 report it: lstat gives 0, fstat the volume's number
  const opened = { ino: before.ino, dev: before.dev + 1 };
  expect(isSameFile(opened, { real, before }, "win32")).toBe(true);
  expect(isSameFile(opened, { real, before }, "linux")).toBe(false);
  expect(isSameFile({ ...opened, ino: before.ino + 1 }, { real, before }, "win32")).toBe(false);
  expect(isSameFile(opened, { real, before: { ...before, dev: before.dev + 2 } }, "win32")).toBe(false);
  expect(isSameFile(opened, { real: join(folder, "gone"), before }, "win32")).toBe(false);
});
