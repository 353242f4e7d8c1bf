import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { computed } from "./computed.mjs";
import { licencesOf } from "./licences.mjs";
import { ASKED, LAZY_SUFFIX, loadedOnUse } from "./loaded-on-use.mjs";
import { textOfFiles } from "./text-of-files.mjs";
import { together } from "./together.mjs";

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
  const codes = await Promise.all(
    outputFiles.map(async ({ path, text }) => [way(out, path), await commonJs(out, path, text)]),
  );
  for (const [path, code] of together(new Map(codes), loadsOf(metafile, out), startsOf(metafile, out))) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), code);
  }
  const page = await bundlePage(join(outdir, "view"));
  writeFileSync(join(outdir, "LICENCES.txt"), licencesOf(ROOT, [hook.metafile, metafile, page.metafile]));
  copyFileSync(join(ROOT, "src", "bin.cjs"), join(outdir, "openhook-otel.cjs"));
  copyFileSync(join(ROOT, "src", "intake", "hook.sh"), join(outdir, "hook.sh"));
  for (const file of ["openhook-otel.cjs", "hook.sh"]) chmodSync(join(outdir, file), 0o755);
}

/** `import("…")` becomes `require` as well: node's loader of ES modules would cost 20 ms. */
async function commonJs(out, path, text) {
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: OPTIONS.target,
    minifySyntax: true,
    minifyWhitespace: true,
    supported: { "dynamic-import": false },
  });
  const lib = dirname(path) === out ? "./lib" : ".";
  return `${code.replaceAll(ASKED, (_all, module) => JSON.stringify(`${lib}/${module}.cjs`))}${VALUES}`;
}

/** The way to a file from the root of what is built. */
const way = (out, path) => relative(out, resolve(ROOT, path)).split(sep).join("/");

/** What each file loads as soon as it is loaded. */
function loadsOf({ outputs }, out) {
  return new Map(
    Object.entries(outputs).map(([path, { imports }]) => [
      way(out, path),
      imports.filter(({ kind, external }) => kind === "import-statement" && !external).map((one) => way(out, one.path)),
    ]),
  );
}

/** The files that the usual starts load: of any command, of an import, of a drain, of a thread that reads. */
function startsOf({ outputs }, out) {
  const ofSource = new Map(Object.entries(outputs).map(([path, { entryPoint }]) => [entryPoint, way(out, path)]));
  return STARTS.map((sources) =>
    sources.map((source) => {
      const file = ofSource.get(source);
      if (file === undefined) throw new Error(`no file is made of ${source}`);
      return file;
    }),
  );
}

const STARTS = [
  ["src/cli.ts"],
  ["src/cli.ts", "src/commands/import.ts", "src/agents/cards.ts"],
  ["src/cli.ts", "src/commands/drain.ts", "src/agents/cards.ts"],
  ["src/import/worker.ts"],
];

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
