// Slow: only `npm run test:all` runs it. What the built program loads for a drain that finds nothing; e2e/run.test.ts runs drains.
import { spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

const home = mkdtempSync(join(tmpdir(), "openhook-empty-"));
beforeAll(ensureBuilt);
afterAll(() => removeFolder(home));

test("a drain that finds nothing loads no cryptography and no code for old copies", () => {
  const preload = join(home, "preload.cjs");
  writeFileSync(
    preload,
    `process.on("exit", () => console.log(JSON.stringify([...process.moduleLoadList, ...Object.keys(require.cache)])))`,
  );
  const drain = (): readonly string[] => {
    const args = ["--require", preload, join(ROOT, "dist", "background-drain.cjs")];
    const { stdout, status } = spawnSync(process.execPath, args, { env: { HOME: home }, encoding: "utf8" });
    expect(status).toBe(0);
    return JSON.parse(stdout);
  };
  const loaded = (names: readonly string[]) => names.filter((name) => /NativeModule crypto$|old-copies/.test(name));
  // The first one makes the store, whose id is random
  expect(loaded(drain())).not.toEqual([]);
  expect(loaded(drain())).toEqual([]);
});
