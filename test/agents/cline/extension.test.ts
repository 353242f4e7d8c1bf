import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import reader from "../../../src/agents/cline/transcript.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-cline-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function problems(): Promise<readonly string[]> {
  const found: string[] = [];
  const onProblem = (path: string, error: Error): void => void found.push(`${path}: ${error.message}`);
  for await (const session of reader.locate({ home, roots: [join(home, ".cline")], onProblem }))
    found.push(session.path);
  return found;
}

test.each([
  ".config/Code",
  ".config/VSCodium",
  ".config/Cursor",
  "Library/Application Support/Code",
  "AppData/Roaming/Code",
  ".vscode-server/data",
])("task files of the editor extension below %s are reported, with their number", async (folder) => {
  const tasks = join(home, folder, "User", "globalStorage", "saoudrizwan.claude-dev", "tasks");
  for (const name of ["1782900000000", "1782900000001", "checkpoints"])
    mkdirSync(join(tasks, name), { recursive: true });
  expect(await problems()).toEqual([`${tasks}: ${reader.notRead}; tasks in it: 2`]);
});

test("nothing is reported without tasks", async () => {
  mkdirSync(join(home, ".config", "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "tasks"), {
    recursive: true,
  });
  expect(await problems()).toEqual([]);
});
