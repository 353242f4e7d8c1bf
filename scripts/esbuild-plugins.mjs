import { mkdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { AS_THE_PROGRAM, importBundled, pathOf } from "./import-bundled.mjs";

/**
 * Evaluates `*.const.ts` at build time and bundles the resulting values, which must be JSON. Saves loading zod and all agents' cards:
 * 33 of 111 ms of the hook in Node, 9 to 13 ms of `config` and `status`, 33 of a drain of a turn.
 */
export const computed = {
  name: "computed",
  setup(building) {
    building.onLoad({ filter: /\.const\.ts$/ }, async ({ path }) => {
      if (!evaluated.has(path)) evaluated.set(path, importBundled({ ...AS_THE_PROGRAM, entryPoints: [path] }));
      const { default: values } = await evaluated.get(path);
      return { contents: Object.entries(values).map(constant).join("\n") };
    });
  },
};

/** Each once, for all parts of the program. */
const evaluated = new Map();

/**
 * Loads a `*.lazy.ts` module (e.g. the price table, zstd) when one of its functions is first called. Saves 24 of 251 ms of a drain
 * with an empty inbox. The bundle contains a stub per function; importers see no difference.
 */
export const loadedOnUse = {
  name: "loaded-on-use",
  setup(building) {
    building.onResolve({ filter: /\.lazy\.ts$/ }, ({ kind, namespace, path, resolveDir }) =>
      kind === "entry-point" || namespace === LATER ? undefined : { path: pathOf(resolveDir, path), namespace: ON_USE },
    );
    building.onResolve({ filter: /^loaded-on-use:/ }, ({ path }) => ({ path, external: true }));
    building.onLoad({ filter: /./, namespace: ON_USE }, async ({ path }) => ({
      contents: stubs(path, await readFile(path, "utf8")),
    }));
  },
};

/**
 * Makes each module that is loaded later import those that are loaded before it anyway. Code is split by who imports it, so all of their
 * code is then in one file instead of 90.
 *
 * @param {(path: string) => readonly string[]} modulesOf what is loaded before a module; absolute paths
 */
export const loadedBefore = (modulesOf) => ({
  name: "loaded-before",
  setup(building) {
    building.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const isLater = kind === "dynamic-import" || (kind === "entry-point" && path.endsWith(LAZY_SUFFIX));
      return isLater ? { path: pathOf(resolveDir, path), namespace: LATER } : undefined;
    });
    building.onLoad({ filter: /./, namespace: LATER }, async ({ path }) => ({
      contents: after(modulesOf(path), path, await readFile(path, "utf8")),
      resolveDir: dirname(path),
    }));
  },
});

/**
 * Keeps the models of each provider in the price table as a JSON file of its own, which is loaded when they are first used, instead
 * of as code that V8 compiles whole. Most machines use two or three of the 43 providers. Saves 14 of the 30 ms of looking up the
 * first price, and two copies of the table.
 *
 * @param {string} outdir has, or gets, the folder lib/prices; the table itself must come to lie in another folder of lib
 */
export const pricesByProvider = (outdir) => ({
  name: "prices-by-provider",
  setup(building) {
    building.onResolve({ filter: /^prices-of:/ }, ({ path }) => ({
      path: `../prices/${path.slice("prices-of:".length)}.json`,
      external: true,
    }));
    building.onLoad({ filter: /genai-prices[\\/]dist[\\/]index\.js$/ }, async ({ path }) => ({
      contents: await withoutModels(await readFile(path, "utf8"), join(outdir, "lib", "prices")),
    }));
  },
});

/**
 * Bundles libsql, all but its native part, which is loaded from its own package. Finding and loading libsql's seven files takes 4 ms of
 * every start.
 */
export const sqliteInBundle = {
  name: "sqlite-in-bundle",
  setup(building) {
    building.onLoad({ filter: /node_modules[\\/]libsql[\\/]index\.js$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(join(dirname(path), "package.json"), "utf8"));
      const text = await readFile(path, "utf8");
      if (!LOADS_NATIVE_PART.test(text))
        throw new Error("libsql loads its native part differently: change the pattern");
      return { contents: text.replace(LOADS_NATIVE_PART, () => nativePart(version)) };
    });
  },
};

export const LAZY_SUFFIX = ".lazy.ts";

/** The module name in a stub; bundle.mjs replaces it by the path. */
export const LAZY_MODULE = /"loaded-on-use:([^"]+)"/g;

// --- internal ---

const LOADS_NATIVE_PART = /return require\(`@libsql\/\$\{target\}`\)/;

/**
 * The native part that the program finds, if it has libsql's version, otherwise the one that libsql finds: some package managers show it
 * to no other package, or show another version.
 */
const nativePart = (version) => `const name = "@libsql/" + target;
  try {
    if (require(name + "/package.json").version === ${JSON.stringify(version)}) return require(name);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") throw error;
  }
  const { createRequire } = require("node:module");
  return createRequire(createRequire(__filename).resolve("libsql"))(name)`;

function constant([name, value]) {
  if (!isPlain(value)) throw new Error(`${name} is not a JSON value`);
  return `export const ${name} = ${JSON.stringify(value)};`;
}

/** `undefined` members are allowed; JSON drops them. */
function isPlain(value) {
  if (Array.isArray(value)) return value.every((item) => item !== undefined && isPlain(item));
  if (typeof value === "object" && value !== null) {
    return [Object.prototype, null].includes(Object.getPrototypeOf(value)) && Object.values(value).every(isPlain);
  }
  return typeof value === "number" ? Number.isFinite(value) : !["function", "symbol", "bigint"].includes(typeof value);
}

function after(modules, path, text) {
  const from = `from ${JSON.stringify(path)};`;
  const imports = modules.map((module) => `import ${JSON.stringify(module)};`);
  return [...imports, `export * ${from}`, /^export default /m.test(text) ? `export { default } ${from}` : ""].join(
    "\n",
  );
}

/**
 * Writes the models of each provider to a file in `folder`.
 *
 * @param {string} text of the package; its providers are its first literal
 * @returns the text with providers that load their models
 */
async function withoutModels(text, folder) {
  const [literal] = PROVIDERS.exec(text) ?? [];
  if (literal === undefined) throw new Error("the price table's providers are not where they were: change PROVIDERS");
  const { providers } = await importBundled({ stdin: { contents: `export const providers = ${literal};` } });
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(providers)), providers))
    throw new Error("the price table is not JSON");
  mkdirSync(folder, { recursive: true });
  for (const { id, models } of providers) {
    if (!/^[\w-]+$/.test(id)) throw new Error(`the price table's provider ${id} cannot be a file name`);
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(models.map(forPrices)));
  }
  const loads = providers.map(({ id }) => `${JSON.stringify(id)}: () => require("prices-of:${id}")`);
  const rest = providers.map((provider) => ({ ...forPrices(provider), models: [] }));
  const lazy = `((models) => JSON.parse(${jsonText(rest)}).map((provider) =>
    Object.defineProperty(provider, "models", { get: models[provider.id] })))({${loads}})`;
  return text.replace(literal, () => lazy);
}

/** A provider or model without the members that say nothing about prices: two fifths of the table. */
function forPrices({ description, extractors, name, price_comments, pricing_urls, ...rest }) {
  return rest;
}

const PROVIDERS = /(?<=^const \w+ = )\[$.*?^\](?=[,;])/ms;

/** A string literal with JSON in ASCII: other characters would take V8 two bytes each. */
const jsonText = (value) =>
  JSON.stringify(
    JSON.stringify(value).replace(/[^\0-\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

const ON_USE = "loaded-on-use";
const LATER = "loaded-later";

function stubs(path, text) {
  const names = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
  const others = text.match(/^export (?!(?:async )?function |type |interface )/m);
  if (names.length === 0 || others !== null) throw new Error(`${path} must export functions only`);
  const module = basename(path, LAZY_SUFFIX);
  return [
    "let loaded;",
    `const load = () => (loaded ??= require("${ON_USE}:${module}"));`,
    ...names.map((name) => `export const ${name} = (...given) => load().${name}(...given);`),
  ].join("\n");
}
