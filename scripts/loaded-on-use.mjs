import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";

/**
 * What `*.lazy.ts` exports, functions alone, is loaded when one of them is first called: the bundle holds a stand-in for each,
 * and the module itself is a bundle of its own, among `entries`. Whoever imports it needs not know.
 */
export const loadedOnUse = {
  name: "loaded-on-use",
  setup(building) {
    building.onResolve({ filter: /\.lazy\.ts$/ }, ({ kind, path, resolveDir }) =>
      kind === "entry-point" ? undefined : { path: resolve(resolveDir, path), namespace: NAME },
    );
    building.onResolve({ filter: /^loaded-on-use:/ }, ({ path }) => ({ path, external: true }));
    building.onLoad({ filter: /./, namespace: NAME }, async ({ path }) => ({
      contents: standIn(path, await readFile(path, "utf8")),
    }));
  },
};

export const LAZY_SUFFIX = ".lazy.ts";

/** Where a stand-in asks for its module: the bundler's second pass puts the way from the file there. */
export const ASKED = /"loaded-on-use:([^"]+)"/g;

// --- internal ---

const NAME = "loaded-on-use";

function standIn(path, text) {
  const names = [...text.matchAll(/^export (?:async )?function (\w+)/gm)].map(([, name]) => name);
  const others = text.match(/^export (?!(?:async )?function |type |interface )/m);
  if (names.length === 0 || others !== null) throw new Error(`${path} must export functions, and nothing else`);
  const module = basename(path, LAZY_SUFFIX);
  return [
    "let loaded;",
    `const load = () => (loaded ??= require("${NAME}:${module}"));`,
    ...names.map((name) => `export const ${name} = (...given) => load().${name}(...given);`),
  ].join("\n");
}
