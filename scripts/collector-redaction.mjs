// Writes collector-config/redaction.yaml (the attributes that the gateway allows, from the names in src/core/telemetry, and the texts
// that it masks, from the rules in src/core/privacy) and collector-config/kubernetes/config/ (all configurations in the form of the
// Helm chart). `--check` writes nothing and exits 1 if one is stale.
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

const config = join(root, "collector-config");

const { redactionYaml, helmConfigs } = await importBundled({
  stdin: typescript(
    `export * from "./collector-config/src/redaction.ts"; export * from "./collector-config/src/helm.ts";`,
  ),
  ...AS_THE_PROGRAM,
});
const redaction = redactionYaml();
const plain = (name) => (name === "redaction.yaml" ? redaction : readFileSync(join(config, name), "utf8"));
const files = new Map([
  ["redaction.yaml", redaction],
  ...[...helmConfigs(plain)].map(([name, text]) => [`kubernetes/config/${name}`, text]),
]);
for (const [path, text] of files) {
  const before = await readFile(join(config, path), "utf8").catch(() => undefined);
  if (before === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`collector-config/${path} is stale: run node scripts/collector-redaction.mjs`);
    process.exitCode = 1;
  } else {
    await writeFile(join(config, path), text);
    console.log(`wrote collector-config/${path}`);
  }
}
