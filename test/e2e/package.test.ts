// The package as npm makes it: its documents are there, and lead to nothing that is not.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

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
