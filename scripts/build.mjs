// One CommonJS bundle per entry: .mjs costs 4 ms more at every start. `libsql` stays outside, it brings a native binary.
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { build } from "esbuild";
import { textOfFiles } from "./text-of-files.mjs";

rmSync("dist", { recursive: true, force: true });
mkdirSync("dist", { recursive: true });
await build({
  entryPoints: { cli: "src/cli.ts", hook: "src/hook-main.ts" },
  outdir: "dist",
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
  plugins: [textOfFiles],
});
copyFileSync("src/bin.cjs", "dist/openhook-otel.cjs");
copyFileSync("src/intake/hook.sh", "dist/hook.sh");
for (const file of ["openhook-otel.cjs", "hook.sh"]) chmodSync(`dist/${file}`, 0o755);
