// The package as npm makes it: its documents are there, and lead to nothing that is not.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ensureBuilt } from "../support/program.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

beforeAll(ensureBuilt, 60_000);

test("every link of the shipped documents leads to something that is shipped", () => {
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

test("the licences of what is bundled are in it: of the commands, the hook and the page", () => {
  const text = readFileSync(join(ROOT, "dist", "LICENCES.txt"), "utf8");
  for (const name of ["zod", "commander", "@opentelemetry/otlp-transformer", "preact", "uplot"]) {
    const { version, license } = JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8"));
    expect(text).toContain(`${name} ${version}: ${license}\n`);
    const [licence = ""] = readdirSync(join(ROOT, "node_modules", name)).filter((file) => /^licen[cs]e/i.test(file));
    expect(text).toContain(readFileSync(join(ROOT, "node_modules", name, licence), "utf8").trim());
  }
  // It stays outside, with a licence of its own beside it
  expect(text).not.toMatch(/^libsql /m);
});
