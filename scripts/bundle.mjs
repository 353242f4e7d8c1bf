import { chmodSync, copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import {
  computed,
  LAZY_MODULE,
  LAZY_SUFFIX,
  loadedBefore,
  loadedOnUse,
  pricesByProvider,
  sqliteInBundle,
} from "./esbuild-plugins.mjs";
import { AS_THE_PROGRAM, textOfFiles } from "./import-bundled.mjs";
import { licencesOf } from "./licences.mjs";

/**
 * Builds the program: one entry each for the commands, drains that hooks start, the hook and the reader threads, and in `lib/` the parts
 * that several of them share or that are loaded on first use, and the price lists. Everything is CommonJS, because .mjs costs 4 ms more
 * at every start. The native part of `libsql` stays in its own package.
 *
 * @param {string} outdir created if missing
 * @param {import("esbuild").Plugin[]} plugins that run before ours
 */
export async function bundle(outdir, plugins = []) {
  mkdirSync(outdir, { recursive: true });
  const out = resolve(outdir);
  const built = await Promise.all([
    // The agent waits for the hook, so it is one file even if it shares code with others
    build({
      ...OPTIONS,
      entryPoints: { hook: "src/collect/intake/hook-main.ts", receiver: "src/native-receiver.ts" },
      outdir: out,
      format: "cjs",
      plugins: [...plugins, computed, textOfFiles],
    }),
    bundleCommands(out, plugins),
    bundleParts(
      out,
      "drain",
      { "background-drain": "src/background-drain.ts", reader: "src/collect/import/worker.ts" },
      [...plugins, loadedBefore(() => inSource("agents/cards.ts", ...READS_LINES, "commands/drain.ts"))],
    ),
    bundlePage(join(outdir, "view")),
  ]);
  writeFileSync(
    join(outdir, "LICENCES.txt"),
    licencesOf(
      ROOT,
      built.map(({ metafile }) => metafile),
    ),
  );
  copyFileSync(join(ROOT, "src", "bin.cjs"), join(outdir, "openhook-otel.cjs"));
  copyFileSync(join(ROOT, "src", "collect", "intake", "hook.sh"), join(outdir, "hook.sh"));
  for (const name of ["statusline.sh", "statusline.cjs"])
    copyFileSync(join(ROOT, "src", "show", "statusline", name), join(outdir, name));
  for (const file of ["openhook-otel.cjs", "hook.sh", "statusline.sh"]) chmodSync(join(outdir, file), 0o755);
}

async function bundleCommands(out, plugins) {
  const later = inSource("commands/program/program.ts", "agents/cards.ts", ...READS_LINES, "commands/sessions.ts");
  return bundleParts(out, "commands", { cli: "src/cli.ts" }, [
    ...plugins,
    loadedBefore(await modulesBefore("src/cli.ts", later)),
  ]);
}

/** Builds entries and, in `lib/<folder>`, the parts that they share or load on first use. */
async function bundleParts(out, folder, entries, plugins) {
  const lib = join(out, "lib", folder);
  const lazy = Object.fromEntries(Object.entries(LAZY).map(([name, path]) => [`lib/${folder}/${name}`, path]));
  const built = await build({
    ...OPTIONS,
    external: [],
    entryPoints: { ...entries, ...lazy },
    outdir: out,
    chunkNames: `lib/${folder}/[name]-[hash]`,
    // esbuild splits only ES modules into shared parts
    format: "esm",
    splitting: true,
    write: false,
    plugins: [...plugins, computed, loadedOnUse, pricesByProvider(out), sqliteInBundle, textOfFiles],
  });
  refuseCycles(built.metafile);
  await Promise.all(
    built.outputFiles.map(async ({ path, text }) => {
      const code = await commonJs(lib, path, text);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code);
    }),
  );
  return built;
}

/**
 * Which of `modules`, and of what they import, each module of a program may have loaded before it: the store only if it needs the store
 * itself, because set-up also works where libsql is missing.
 *
 * @param {string} entry of the program
 * @param {readonly string[]} modules absolute paths
 * @returns {Promise<(path: string) => readonly string[]>} absolute paths to absolute paths
 */
async function modulesBefore(entry, modules) {
  const { metafile } = await build({
    ...OPTIONS,
    entryPoints: [entry],
    outdir: ROOT,
    write: false,
    // Only the imports between our own modules count, and what is read for them: this is half a second instead of two
    packages: "external",
    minifySyntax: false,
    minifyWhitespace: false,
    plugins: [computed, textOfFiles],
  });
  const importedBy = (path, found = new Set()) => {
    if (found.has(path)) return found;
    found.add(path);
    for (const { path: next, kind } of metafile.inputs[path]?.imports ?? [])
      if (kind === "import-statement" && !next.endsWith(LAZY_SUFFIX)) importedBy(next, found);
    return found;
  };
  const inRoot = (path) => relative(ROOT, path).replaceAll("\\", "/");
  const needsStore = (path) => importedBy(path).has("libsql");
  const before = modules.flatMap((path) => [...importedBy(inRoot(path))]).filter((path) => path.startsWith("src/"));
  const withoutStore = before.filter((path) => !needsStore(path)).map((path) => join(ROOT, path));
  return (path) => (needsStore(inRoot(path)) ? modules : withoutStore);
}

/** Converts a part to CommonJS. `import("…")` becomes `require` too, because Node's ES module loader would cost 20 ms. */
async function commonJs(lib, path, text) {
  const { code } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: OPTIONS.target,
    minifySyntax: true,
    minifyWhitespace: true,
    supported: { "dynamic-import": false },
  });
  const folder = relative(dirname(path), lib) || ".";
  const loads = (_all, module) => JSON.stringify(`./${posix.join(folder, `${module}.cjs`)}`);
  const now = inAscii(withPlainExports(path, code).replaceAll(LAZY_MODULE, loads));
  const later = now.replace(BUILTIN, '=builtinOnUse("$1")');
  return `${later}${later === now ? "" : BUILTIN_ON_USE}`;
}

/**
 * Makes exports plain values, once the part has run; those that are still undefined become getters. esbuild makes getters of all, before
 * the part runs: 4 ms of a start per 500 exports, and 4 % of an import for calling them.
 */
function withPlainExports(path, code) {
  const [statement, exported] = EXPORTS.exec(code) ?? [];
  if (statement === undefined) {
    if (code.includes("=__toCommonJS(stdin_exports)")) throw new Error(`${path}: its exports are not where they were`);
    return code;
  }
  const names = exported.split(",").map((one) => /^([\w$]+):\(\)=>([\w$.]+)$/.exec(one)?.slice(1));
  if (names.includes(undefined)) throw new Error(`${path}: the form of its exports is unknown`);
  const values = names.map(([name, value]) => (name === value ? name : `${name}:${value}`));
  return `${code.replace(statement, "")}
{const $values={${values}};
if(Object.values($values).includes(void 0)){
const $getters={${exported}};
for(const $name in $getters)if($values[$name]===void 0)Object.defineProperty($values,$name,{get:$getters[$name],enumerable:true});
}
module.exports=Object.defineProperty($values,"__esModule",{value:true})}
`;
}

/** Parts that load each other in a cycle would see each other's exports too early. */
function refuseCycles({ outputs }) {
  const loaded = new Set();
  const visit = (path, above) => {
    if (above.includes(path)) throw new Error(`parts load each other: ${[...above, path].join(" -> ")}`);
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind, external } of outputs[path].imports)
      if (kind === "import-statement" && external !== true) visit(next, [...above, path]);
  };
  for (const path of Object.keys(outputs)) visit(path, []);
}

/**
 * Modules of Node that take 2 to 4 ms each to load and that many commands do not need. Only imports of names: a function is looked up
 * whenever it is called.
 */
const BUILTIN = /=(?:require|\(0,[\w$]+\.__require\))\("((?:node:)?(?:child_process|crypto|fs\/promises|v8))"\)/g;
const BUILTIN_ON_USE = `
function builtinOnUse(name){let loaded;return new Proxy({},{get:(_,key)=>(loaded??=require(name))[key]})}
`;

/**
 * esbuild escapes all characters beyond ASCII except those in regular expressions. With one of them, V8 keeps the whole file in two
 * bytes per character and needs a third more time to compile it.
 */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** How esbuild makes exports: a getter of each, `name:()=>value`. */
const EXPORTS = /__export\(stdin_exports,\{([^{}]+)\}\);module\.exports=__toCommonJS\(stdin_exports\);/;

/** The files that `openhook-otel view` serves: one script, one style sheet, no requests to other hosts. */
async function bundlePage(outdir) {
  const built = await build({
    absWorkingDir: ROOT,
    entryPoints: ["src/show/view/page/page.tsx", "src/show/view/page/page.css"],
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
    copyFileSync(join(ROOT, "src", "show", "view", "page", file), join(outdir, file));
  return built;
}

/** What most transcript readers use; in files of their own, these would take longer to load. */
const READS_LINES = ["copies", "folder-memory", "jsonl", "past", "read-lines", "spliced"].map(
  (name) => `agents/shared/transcript/${name}.ts`,
);

const inSource = (...paths) => paths.map((path) => join(ROOT, "src", path));

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const OPTIONS = {
  absWorkingDir: ROOT,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  platform: "node",
  target: "node20",
  ...AS_THE_PROGRAM,
  alias: {
    debug: join(ROOT, "src", "send", "network", "silent-debug.ts"),
    "@grpc/proto-loader": join(ROOT, "src", "send", "network", "no-proto-loader.ts"),
    "@modelcontextprotocol/server/_shims": join(ROOT, "src", "commands", "mcp-no-validator.ts"),
  },
  minifySyntax: true,
  minifyWhitespace: true,
  // All of them are in LICENCES.txt
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

/** Every `*.lazy.ts`, see esbuild-plugins.mjs, by its unique name. */
const LAZY = {};
for (const path of readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })) {
  if (!path.endsWith(LAZY_SUFFIX)) continue;
  const name = basename(path, LAZY_SUFFIX);
  if (LAZY[name] !== undefined) throw new Error(`${LAZY[name]} and src/${path} have the same name`);
  LAZY[name] = join("src", path);
}
