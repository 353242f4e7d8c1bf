// Slow: only `npm run test:all` runs it. Redaction of two million characters of our own code; recall.test.ts has texts that
// must stay as they are.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { redact } from "#core/privacy/redact.ts";
import { ROOT } from "../support/replay.ts";

test("code and documentation stay readable: fewer than ten lines in a million characters change", () => {
  let [characters, changed] = [0, 0];
  for (const folder of ["src", "docs", "scripts"]) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      // The rules are full of what they find
      if (!/\.(?:tsx?|md|mjs)$/.test(name) || name.startsWith(join("core", "privacy"))) continue;
      const text = readFileSync(join(ROOT, folder, name), "utf8");
      const after = new Set(redact(text).split("\n"));
      characters += text.length;
      changed += text.split("\n").filter((line) => !after.has(line)).length;
    }
  }
  expect(characters).toBeGreaterThan(2_000_000);
  expect(changed / (characters / 1_000_000)).toBeLessThan(10);
});
