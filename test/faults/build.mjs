// node test/faults/build.mjs <outdir> [<module>]: builds the program with one module replaced: src/kit/fault-points.ts by
// fault-points.ts in this folder, which fails on request. The module, if one is given, replaces the migrations of the store.
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../scripts/bundle.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const OURS = join(here, "fault-points.ts");
const ITS = resolve(here, "..", "..", "src", "kit", "fault-points.ts");

const [outdir, migrations] = process.argv.slice(2);
await bundle(outdir, [
  {
    name: "migrations",
    setup(build) {
      build.onResolve({ filter: /\/(?:migrations|schema-version\.const)\.ts$/ }, ({ importer }) =>
        migrations === undefined || importer === migrations ? undefined : { path: migrations },
      );
    },
  },
  {
    name: "faults",
    setup(build) {
      build.onResolve({ filter: /\/fault-points\.ts$/ }, ({ path, importer, resolveDir }) => {
        const isIts = path === "#kit/fault-points.ts" || resolve(resolveDir, path) === ITS;
        // The bundler resolves our own module there
        return isIts && importer !== OURS ? { path: OURS } : undefined;
      });
    },
  },
]);
