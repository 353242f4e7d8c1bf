// Writes dashboards/*.json, dashboards/rules/*.yaml and dashboards/grafana-alerting/*.yaml from dashboards/src. `--check`
// writes nothing and exits 1 if one is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");

const { default: made } = await importBundled({
  stdin: typescript(`export { generatedFiles } from "./dashboards/src/index.ts";`),
});
for (const [name, text] of Object.entries(made.generatedFiles())) {
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
