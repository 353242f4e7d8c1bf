// npm run test:stack: gets the real Collector, Jaeger and Prometheus into a cache, then runs test/stack with them.
//
//   node scripts/stack.mjs                    all of it
//   node scripts/stack.mjs <vitest's words>   a part, e.g. `pipeline` or `-t restart`
//   node scripts/stack.mjs --programs         the programs alone
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { importBundled } from "./import-bundled.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = join(ROOT, "test", "stack");
const GET = join(FOLDER, "get.ts");
const say = (line) => process.stdout.write(`${line}\n`);

async function main(words) {
  const { getPrograms } = await importBundled({
    entryPoints: [GET],
    format: "esm",
    // It finds the repository by where it lies itself
    define: { "import.meta.url": JSON.stringify(pathToFileURL(GET).href) },
  });
  const got = await getPrograms(say);
  report(got);
  if (words.includes("--programs")) return 0;
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const { status } = spawnSync(
    process.execPath,
    [vitest, "run", "--config", join(FOLDER, "vitest.config.ts"), ...words],
    { cwd: ROOT, stdio: "inherit" },
  );
  sayUncovered(got);
  return status ?? 1;
}

function report(got) {
  for (const { state, source, version, tookMs } of got) {
    if (state === "none") continue;
    const how = state === "new" ? `, made in ${Math.round(tookMs / 1_000)} s` : "";
    say(`${source.name} ${version}${how}`);
  }
  sayUncovered(got);
}

function sayUncovered(got) {
  for (const { state, source, reason } of got) {
    if (state === "none") say(`NOT COVERED, as ${reason}: ${source.uncovered} (${source.name})`);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
