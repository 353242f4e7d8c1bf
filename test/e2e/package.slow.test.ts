// Slow: only `npm run test:all` runs it. The package as package managers install it; registration/installed-copy.test.ts has
// the native part, docs.test.ts the links.
//
// The package as npm builds it: its documents are included, and no link in them is broken.
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installPackage } from "../support/installed-package.ts";
import { ensureBuilt } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

beforeAll(ensureBuilt);

const installed = mkdtempSync(join(tmpdir(), "openhook-installed-"));
afterAll(() => removeFolder(installed));

test("every link in a shipped document leads to a shipped file", () => {
  const [packed] = JSON.parse(
    execFileSync(npm, ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: ROOT, encoding: "utf8" }),
  ) as readonly { readonly files: readonly { readonly path: string }[] }[];
  const shipped = packed?.files.map(({ path }) => path) ?? [];
  const documents = shipped.filter((path) => path.endsWith(".md"));
  expect(documents).toEqual(expect.arrayContaining(["README.md", "docs/privacy.md", "src/agents/codex/README.md"]));
  const dead = documents.flatMap((document) =>
    [...readFileSync(join(ROOT, document), "utf8").matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => normalize(join(dirname(document), link)).replace(/\/$/, ""))
      .filter((path) => !shipped.some((one) => one === path || one.startsWith(`${path}/`)))
      .map((path) => `${document} → ${path}`),
  );
  expect(dead).toEqual([]);
});

test("LICENCES.txt contains the licences of what is bundled: in the commands, the hook and the page", () => {
  const text = readFileSync(join(ROOT, "dist", "LICENCES.txt"), "utf8");
  for (const name of ["zod", "commander", "libsql", "@opentelemetry/otlp-transformer", "preact", "uplot"]) {
    const { version, license } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
    expect(text).toContain(`${name} ${version}: ${license}\n`);
    const [licence = ""] = readdirSync(join(ROOT, "node_modules", name)).filter((file) => /^licen[cs]e/i.test(file));
    expect(text).toContain(readFileSync(join(ROOT, "node_modules", name, licence), "utf8").trim());
  }
});

test("without libsql's native part, or with another system's, each command reports it in one line and enable changes nothing", () => {
  cpSync(join(ROOT, "dist"), join(installed, "dist"), { recursive: true });
  for (const name of ["libsql", "detect-libc", "@neon-rs"]) {
    cpSync(join(ROOT, "node_modules", name), join(installed, "node_modules", name), { recursive: true });
  }
  const home = join(installed, "home");
  const run = (...args: readonly string[]) => {
    const env = { PATH: process.env["PATH"], HOME: home, USERPROFILE: home };
    const options = { cwd: installed, env, encoding: "utf8" } as const;
    const { status, stderr } = spawnSync(process.execPath, [join("dist", "openhook-otel.cjs"), ...args], options);
    return { status, stderr };
  };
  const missing = expect.stringMatching(/^openhook-otel: (@libsql\/[\w-]+) is missing: .*--include=optional.*\n$/);
  const output = run("status");
  expect(output).toEqual({ status: 1, stderr: missing });
  for (const args of [["drain"], ["doctor"], ["import"], ["view"], ["enable", "claude-code"]]) {
    expect(run(...args), args.join(" ")).toEqual({ status: 1, stderr: missing });
  }
  expect(existsSync(home)).toBe(false);
  // Whoever cannot install it again can still look at settings and remove it
  for (const args of [["config"], ["convert", "--help"], ["disable"], ["uninstall", "--yes"]]) {
    expect(run(...args), args.join(" ")).toEqual({ status: 0, stderr: "" });
  }

  const part = /@libsql\/[\w-]+/.exec(output.stderr)?.[0] ?? "";
  mkdirSync(join(installed, "node_modules", part), { recursive: true });
  writeFileSync(join(installed, "node_modules", part, "package.json"), '{ "main": "index.node" }');
  writeFileSync(join(installed, "node_modules", part, "index.node"), "of another system");
  const unloadable = expect.stringMatching(/^openhook-otel: the native part of libsql cannot be loaded \(.+\): .*\n$/);
  expect(run("status")).toEqual({ status: 1, stderr: unloadable });
});

test.each([
  ["is hidden from all packages but libsql", undefined],
  ["of another version is found first", "0.0.1"],
])("works where a native part %s", (_, other) => {
  const home = mkdtempSync(join(installed, "modules-"));
  const program = installPackage(home);
  const modules = join(home, "node_modules");
  mkdirSync(join(modules, "libsql", "node_modules"));
  renameSync(join(modules, "@libsql"), join(modules, "libsql", "node_modules", "@libsql"));
  for (const part of other === undefined ? [] : readdirSync(join(modules, "libsql", "node_modules", "@libsql"))) {
    mkdirSync(join(modules, "@libsql", part), { recursive: true });
    writeFileSync(join(modules, "@libsql", part, "package.json"), JSON.stringify({ main: "index.js", version: other }));
    writeFileSync(join(modules, "@libsql", part, "index.js"), "throw new Error('another version')");
  }
  const env = { PATH: process.env["PATH"], HOME: home, USERPROFILE: home };
  const { status, stderr } = spawnSync(process.execPath, [program, "drain"], { cwd: home, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
