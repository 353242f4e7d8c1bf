import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { textOfFiles } from "./text-of-files.mjs";

/**
 * Builds the program. One CommonJS bundle per entry: .mjs costs 4 ms more at every start. `libsql` stays outside, it brings
 * a native binary.
 *
 * @param {string} outdir made where it is missing
 * @param {import("esbuild").Plugin[]} plugins before ours
 */
export async function bundle(outdir, plugins = []) {
  mkdirSync(outdir, { recursive: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: { cli: "src/cli.ts", hook: "src/hook-main.ts", reader: "src/import/worker.ts" },
    outdir: resolve(outdir),
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    mainFields: ["module", "main"],
    conditions: ["import", "node"],
    external: ["libsql"],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
    plugins: [...plugins, textOfFiles],
  });
  await bundlePage(join(outdir, "view"));
  copyFileSync(join(ROOT, "src", "bin.cjs"), join(outdir, "openhook-otel.cjs"));
  copyFileSync(join(ROOT, "src", "intake", "hook.sh"), join(outdir, "hook.sh"));
  for (const file of ["openhook-otel.cjs", "hook.sh"]) chmodSync(join(outdir, file), 0o755);
}

/** What `openhook-otel view` serves: one script, one style sheet, no request to anywhere else. */
async function bundlePage(outdir) {
  await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/view/page/page.tsx", "src/view/page/page.css"],
    outdir: resolve(outdir),
    bundle: true,
    platform: "browser",
    target: ["chrome109", "firefox115", "safari16.4"],
    format: "esm",
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"])
    copyFileSync(join(ROOT, "src", "view", "page", file), join(outdir, file));
}

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
