import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/**
 * Imports TypeScript of this repository into a script: bundled, since Node alone cannot read it.
 *
 * @param {import("esbuild").BuildOptions} options what to import: `entryPoints` with one file, or `stdin`; see `typescript`
 * @returns what it exports
 */
export async function importBundled(options) {
  // As CommonJS, what is imported on demand (SQLite with its binary) is not loaded
  const format = options.format ?? "cjs";
  const folder = await mkdtemp(join(tmpdir(), "openhook-otel-script-"));
  const outfile = join(folder, format === "esm" ? "entry.mjs" : "entry.cjs");
  try {
    await build({ outfile, bundle: true, platform: "node", target: "node20", logLevel: "warning", ...options, format });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A few lines of it, to be given as `stdin`: imports are from the repository's root. */
export const typescript = (contents) => ({ contents, resolveDir: ROOT, loader: /** @type {const} */ ("ts") });

/** For what imports the program itself, as its own bundle has it. */
export const AS_THE_PROGRAM = {
  mainFields: ["module", "main"],
  conditions: ["import", "node"],
  external: ["libsql"],
};

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
