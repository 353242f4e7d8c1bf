import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

/**
 * Imports TypeScript of this repository into a script, bundled because Node 20 cannot read it.
 *
 * @param {import("esbuild").BuildOptions} options `entryPoints` with one file, or `stdin`; see `typescript`
 * @returns the exports
 */
export async function importBundled(options) {
  // In CommonJS, dynamic imports (SQLite with its binary) load only when they run
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

/** TypeScript source for `stdin`; imports are relative to the repository's root. */
export const typescript = (contents) => ({ contents, resolveDir: ROOT, loader: /** @type {const} */ ("ts") });

/** `import text from "./file?raw"` as in Vite: bundles a file as text, so that the program need not find and read it. */
export const textOfFiles = {
  name: "text-of-files",
  setup(building) {
    building.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: pathOf(resolveDir, path.slice(0, -"?raw".length)),
      namespace: "text",
    }));
    building.onLoad({ filter: /./, namespace: "text" }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
  },
};

/** Path of a module of `src` that a file in `folder` imports; `#room/…` is in `src`, as `imports` in package.json says. */
export const pathOf = (folder, imported) =>
  imported.startsWith("#") ? join(ROOT, "src", imported.slice(1)) : resolve(folder, imported);

/** Options for importing parts of the program as its own bundle contains them. */
export const AS_THE_PROGRAM = {
  mainFields: ["module", "main"],
  conditions: ["import", "node"],
  external: ["libsql"],
  plugins: [textOfFiles],
};

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
