// `import text from "./file?raw"` for esbuild, as Vite has it: a file's text becomes part of the bundle.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";

export const textOfFiles = {
  name: "text-of-files",
  setup(building) {
    building.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path.slice(0, -"?raw".length)),
      namespace: "text",
    }));
    building.onLoad({ filter: /./, namespace: "text" }, async ({ path }) => ({
      contents: await readFile(path, "utf8"),
      loader: "text",
    }));
  },
};
