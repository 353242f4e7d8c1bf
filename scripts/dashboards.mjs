// Writes dashboards/*.json, dashboards/rules/*.yaml and dashboards/grafana-alerting/*.yaml from dashboards/src. `--check`
// writes nothing and exits 1 when one is stale.
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");

const { generatedFiles } = await importBundled(`export { generatedFiles } from "./dashboards/src/index.ts";`);
for (const [name, text] of Object.entries(generatedFiles())) {
  const path = join(root, "dashboards", name);
  if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
  if (check) {
    console.error(`dashboards/${name} is stale: run node scripts/dashboards.mjs`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote dashboards/${name}`);
  }
}

/** Node 20 cannot import TypeScript. */
async function importBundled(contents) {
  const directory = await mkdtemp(join(tmpdir(), "openhook-otel-dashboards-"));
  try {
    const outfile = join(directory, "entry.cjs");
    const stdin = { contents, resolveDir: root, loader: "ts" };
    await build({
      stdin,
      outfile,
      bundle: true,
      format: "cjs",
      platform: "node",
      target: "node20",
      logLevel: "warning",
    });
    return (await import(pathToFileURL(outfile).href)).default;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
