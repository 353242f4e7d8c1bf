// Writes plugins/ from the cards. `--check` writes nothing and exits 1 if a file is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

const { default: made } = await importBundled({
  ...AS_THE_PROGRAM,
  stdin: typescript(`export { generatedFiles } from "./plugins/src/index.ts";`),
});
for (const [name, text] of Object.entries(await made.generatedFiles(version))) {
  const path = join(root, "plugins", name);
  if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
  if (check) {
    console.error(`plugins/${name} is stale: run node scripts/plugins.mjs`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    console.log(`wrote plugins/${name}`);
  }
}
