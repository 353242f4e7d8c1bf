import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { generatedFiles } from "../../plugins/src/index.ts";
import { ROOT } from "../support/program.ts";

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const files = Object.entries(await generatedFiles(version));

test.each(files)("plugins/%s equals the output of plugins/src", (name, text) => {
  const message = `plugins/${name} is stale: run node scripts/plugins.mjs`;
  expect(readFileSync(join(ROOT, "plugins", name), "utf8") === text, message).toBe(true);
});

test("plugins/ contains no other files", () => {
  const all = readdirSync(join(ROOT, "plugins"), { recursive: true, withFileTypes: true, encoding: "utf8" })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(ROOT, "plugins").length + 1));
  expect(all.sort()).toEqual(files.map(([name]) => join(name)).sort());
});

test("every hook has our command, so that import and doctor recognise it", () => {
  for (const [name, text] of files.filter(([path]) => path.endsWith("hooks.json"))) {
    const lines = [...text.matchAll(/"(?:command|bash)": ("\[ ! -x .*")/g)].map(
      ([, line = ""]) => JSON.parse(line) as string,
    );
    expect(lines.length, name).toBeGreaterThan(4);
    expect(lines.every(isOurCommand)).toBe(true);
  }
});
