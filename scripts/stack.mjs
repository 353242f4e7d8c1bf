// npm run test:stack: builds or downloads the Collector, Jaeger and Prometheus into a cache, then runs test/stack with them.
//
//   node scripts/stack.mjs                      all tests
//   node scripts/stack.mjs <vitest arguments>   some tests, e.g. `pipeline` or `-t restart`
//   node scripts/stack.mjs --programs           only fills the cache
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importBundled } from "./import-bundled.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = join(ROOT, "test", "stack");
const GET = join(FOLDER, "get.ts");
const print = (line) => process.stdout.write(`${line}\n`);

async function main(vitestArguments) {
  const { getPrograms } = await importBundled({
    entryPoints: [GET],
    format: "esm",
    // The module finds the repository by its own path
    define: { "import.meta.url": JSON.stringify(pathToFileURL(GET).href) },
  });
  const got = await getPrograms(print);
  report(got);
  if (vitestArguments.includes("--programs")) return 0;
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { status } = spawnSync(
    process.execPath,
    [vitest, "run", "--config", join(FOLDER, "vitest.config.ts"), ...vitestArguments],
    { cwd: ROOT, stdio: "inherit" },
  );
  reportUncovered(got);
  return status ?? 1;
}

function report(got) {
  for (const { state, source, version, tookMs } of got) {
    if (state === "none") continue;
    const how = state === "new" ? `, made in ${Math.round(tookMs / 1_000)} s` : "";
    print(`${source.name} ${version}${how}`);
  }
  reportUncovered(got);
}

function reportUncovered(got) {
  for (const { state, source, reason } of got) {
    if (state === "none") print(`NOT COVERED, because ${reason}: ${source.uncovered} (${source.name})`);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
