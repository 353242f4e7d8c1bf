import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import { ROOT } from "../support/replay.ts";

test("README's table of agents is made from the cards as they are", async () => {
  const check = promisify(execFile)(process.execPath, ["scripts/agents-table.mjs", "--check"], { cwd: ROOT });
  await expect(check).resolves.toMatchObject({ stderr: "" });
});

test("every card is in it", async () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const table = /<!-- agents: [^>]*-->([\s\S]*)<!-- \/agents -->/.exec(readme)?.[1] ?? "";
  const first = table.split("\n").map((line) =>
    line
      .split("|")[1]
      ?.trim()
      .replace(/^\[(.*)\]\(.*$/, "$1"),
  );
  for (const { title } of await allAgents()) expect(first).toContain(title);
});
