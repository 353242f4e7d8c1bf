// Slow: only `npm run test:all` runs it. Compiles a copy of the sources, which takes longer than everything else about an agent
// together.
//
// `npm run new-agent` in a copy of the repository's sources: what it makes compiles, is found, and waits for a recording.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "..", "..");
const TYPESCRIPT = join(ROOT, "node_modules", "typescript-7", "bin", "tsc");
const BIOME = join(ROOT, "node_modules", "@biomejs", "biome", "bin", "biome");
let copy = "";

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "openhook-otel-new-agent-"));
  for (const name of ["src", "scripts", "package.json", "tsconfig.json", "biome.json", ".gitignore"]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  // Only its own files are made below test/, so its cards are type-checked without the tests
  const config = JSON.parse(readFileSync(join(copy, "tsconfig.json"), "utf8"));
  writeFileSync(join(copy, "tsconfig.json"), JSON.stringify({ ...config, include: ["src/agents"] }));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const run = (...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: "utf8" });
  return { status, text: stdout + stderr };
};
const make = (...args: readonly string[]) => run(join(copy, "scripts", "new-agent.mjs"), ...args);

describe("npm run new-agent", () => {
  test.each([
    [[], /^usage: npm run new-agent NAME/],
    [["one", "two"], /^usage: npm run new-agent NAME/],
    [["Acme"], /"Acme" is not kebab-case/],
    [["acme--agent"], /is not kebab-case/],
    [["../acme"], /is not kebab-case/],
    [["default"], /"default" is a word of JavaScript/],
    [["goose"], /agents.goose exists/],
    [["shared"], /agents.shared exists/],
  ])("%j makes nothing and says why", (args, why) => {
    const before = readdirSync(join(copy, "src", "agents"));
    const { status, text } = make(...args);
    expect(status).toBe(2);
    expect(text).toMatch(why);
    expect(readdirSync(join(copy, "src", "agents"))).toEqual(before);
  });

  test("makes an agent that compiles, is formatted, and is one of the cards", () => {
    expect(make("my-agent-2")).toMatchObject({ status: 0 });
    const folder = join(copy, "src", "agents", "my-agent-2");
    expect(readdirSync(folder).sort()).toEqual(
      ["README.md", "adapter.ts", "index.ts", "installer.ts", "own-names.ts", "transcript.ts"].sort(),
    );
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(texts.join("\n")).not.toMatch(/acme|2000-01-01/i);
    expect(readdirSync(join(copy, "test", "agents", "my-agent-2", "first-session"))).toEqual(["PROVENANCE.md"]);
    const cards = readFileSync(join(copy, "src", "agents", "cards.ts"), "utf8");
    expect(cards).toMatch(/^import myAgent2 from "\.\/my-agent-2\/index\.ts";$/m);
    expect(cards).toMatch(/^ {2}myAgent2,$/m);
    expect(run(BIOME, "check", "src/agents/my-agent-2", "src/agents/cards.ts")).toMatchObject({ status: 0 });
    expect(run(TYPESCRIPT, "--noEmit")).toEqual({ status: 0, text: "" });
  });

  test("refuses to run again", () => {
    expect(make("my-agent-2").text).toMatch(/my-agent-2 exists: choose another name, or remove the folder/);
    const cards = readFileSync(join(copy, "src", "agents", "cards.ts"), "utf8");
    expect(cards.match(/myAgent2,/g)).toHaveLength(1);
  });
});
