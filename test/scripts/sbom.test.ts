import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt, ROOT } from "../support/program.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly "bom-ref": string;
  readonly purl: string;
}

const folder = mkdtempSync(join(tmpdir(), "openhook-sbom-"));
afterAll(() => rmSync(folder, { recursive: true }));
let bill: {
  readonly bomFormat: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};
beforeAll(async () => {
  await ensureBuilt();
  const path = join(folder, "sbom.cdx.json");
  execFileSync(process.execPath, [join(ROOT, "scripts", "sbom.mjs"), path], { cwd: folder });
  bill = JSON.parse(readFileSync(path, "utf8"));
});

test("the bill of materials has what is bundled and installed, and nothing that only developers use", () => {
  expect(bill.bomFormat).toBe("CycloneDX");
  const names = bill.components.map(({ name }) => name);
  for (const name of ["zod", "re2js", "libsql", "p-queue"]) expect(names).toContain(name);
  for (const name of ["vitest", "typescript", "playwright-core", "ccusage"]) expect(names).not.toContain(name);
});

test("it has the SQLite that the native parts contain, in the version that runs here", () => {
  const store = new Libsql(":memory:");
  const { version } = store.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  store.close();
  const sqlite = bill.components.find(({ name }) => name === "sqlite");
  expect(sqlite).toMatchObject({ version, purl: `pkg:generic/sqlite@${version}` });
  const users = bill.dependencies.filter(({ dependsOn }) => dependsOn.includes(sqlite?.["bom-ref"] ?? ""));
  expect(users.length).toBeGreaterThan(5);
  expect(users.every(({ ref }) => ref.startsWith("@libsql/"))).toBe(true);
});

test("every reference in it is to one of its components", () => {
  const known = new Set(bill.dependencies.map(({ ref }) => ref));
  expect(bill.components.every((one) => known.has(one["bom-ref"]))).toBe(true);
  for (const { dependsOn } of bill.dependencies) for (const one of dependsOn) expect(known).toContain(one);
});
