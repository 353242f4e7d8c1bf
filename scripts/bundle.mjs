import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { computed } from "./computed.mjs";
import { licencesOf } from "./licences.mjs";
import { ASKED, LAZY_SUFFIX, loadedOnUse } from "./loaded-on-use.mjs";
import { textOfFiles } from "./text-of-files.mjs";

/**
 * Builds the program: an entry each for the commands, the hook and the threads that read, and beside them `lib/`, parts that
 * several of them share or that are loaded when they are used. All of it is CommonJS: .mjs costs 4 ms more at every start.
 * `libsql` stays outside, it brings a native binary.
 *
 * @param {string} outdir made where it is missing
 * @param {import("esbuild").Plugin[]} plugins before ours
 */
export async function bundle(outdir, plugins = []) {
  mkdirSync(outdir, { recursive: true });
  const out = resolve(outdir);
  // What an agent waits for is one file, whatever it shares with others
  const hook = await build({
    ...OPTIONS,
    entryPoints: { hook: "src/hook-main.ts" },
    outdir: out,
    format: "cjs",
    plugins,
  });
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: { cli: "src/cli.ts", reader: "src/import/worker.ts", ...LAZY },
    outdir: out,
    chunkNames: "lib/[name]-[hash]",
    // esbuild shares parts among ES modules alone
    format: "esm",
    splitting: true,
    write: false,
    plugins: [...plugins, computed, loadedOnUse, textOfFiles],
  });
  await Promise.all(outputFiles.map(({ path, text }) => writeCommonJs(out, path, text)));
  const page = await bundlePage(join(outdir, "view"));
  writeFileSync(join(outdir, "LICENCES.txt"), licencesOf(ROOT, [hook.metafile, metafile, page.metafile]));
  copyFileSync(join(ROOT, "src", "bin.cjs"), join(outdir, "openhook-otel.cjs"));
  copyFileSync(join(ROOT, "src", "intake", "hook.sh"), join(outdir, "hook.sh"));
  for (const file of ["openhook-otel.cjs", "hook.sh"]) chmodSync(join(outdir, file), 0o755);
}

/** `import("…")` becomes `require` as well: node's loader of ES modules would cost 20 ms. */
async function writeCommonJs(out, path, text) {
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: OPTIONS.target,
    minifySyntax: true,
    minifyWhitespace: true,
    supported: { "dynamic-import": false },
  });
  mkdirSync(dirname(path), { recursive: true });
  const lib = dirname(path) === out ? "./lib" : ".";
  writeFileSync(path, `${code.replaceAll(ASKED, (_all, module) => JSON.stringify(`${lib}/${module}.cjs`))}${VALUES}`);
}

/**
 * What a part exports would be asked for by two functions each time that another uses it. Parts need each other in one
 * direction alone, so that all of it is there when a part has run; what is still to come stays a function.
 */
const VALUES = `{const e=module.exports,v=Object.defineProperty({},"__esModule",{value:true});
for(const k of Object.keys(e)){const x=e[k];Object.defineProperty(v,k,x===void 0?{get:()=>e[k],enumerable:true}:{value:x,enumerable:true})}
module.exports=v}
`;

/** What `openhook-otel view` serves: one script, one style sheet, no request to anywhere else. */
async function bundlePage(outdir) {
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/view/page/page.tsx", "src/view/page/page.css"],
    outdir: resolve(outdir),
    bundle: true,
    platform: "browser",
    target: ["chrome109", "firefox115", "safari16.4"],
    format: "esm",
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  for (const file of ["index.html", "icon.svg"])
    copyFileSync(join(ROOT, "src", "view", "page", file), join(outdir, file));
  return built;
}

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const OPTIONS = {
  absWorkingDir: ROOT,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  mainFields: ["module", "main"],
  conditions: ["import", "node"],
  external: ["libsql"],
  minifySyntax: true,
  minifyWhitespace: true,
  // They are all in LICENCES.txt
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

/** What `*.lazy.ts` there is; see loaded-on-use.mjs. One that is named as another would be loaded in its place. */
const LAZY = {};
for (const path of readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith(LAZY_SUFFIX)) continue;
  const name = `lib/${basename(path, LAZY_SUFFIX)}`;
  if (LAZY[name] !== undefined) throw new Error(`${LAZY[name]} and src/${path} have one name`);
  LAZY[name] = join("src", path);
}
