// `import text from "./file?raw"` for esbuild, as in Vite: bundles a file as text.
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
