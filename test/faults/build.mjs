// node test/faults/build.mjs <outdir>: the program as it is, but for one module. src/model/fault-points.ts is replaced by
// fault-points.ts beside this file, which fails where it is told to.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const OURS = join(here, "fault-points.ts");
const ITS = resolve(here, "..", "..", "src", "model", "fault-points.ts");

await bundle(process.argv[2], [
  {
    name: "faults",
    setup(build) {
      build.onResolve({ filter: /\/fault-points\.ts$/ }, ({ path, importer, resolveDir }) =>
        // Ours takes the list from there
        importer !== OURS && resolve(resolveDir, path) === ITS ? { path: OURS } : undefined,
      );
    },
  },
]);
