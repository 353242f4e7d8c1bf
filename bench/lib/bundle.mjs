import { join } from "node:path";
import { build } from "esbuild";
import { ROOT } from "./options.mjs";

/** Bundles a program of this folder the way the product is bundled, so that start times are comparable. */
export async function bundled(name, folder) {
  const outfile = join(folder, `${name}.cjs`);
  await build({
    absWorkingDir: ROOT,
    entryPoints: [join("bench", "lib", `${name}.mjs`)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    mainFields: ["module", "main"],
    conditions: ["import", "node"],
    minifySyntax: true,
    minifyWhitespace: true,
    logLevel: "warning",
  });
  return outfile;
}
