import { AS_THE_PROGRAM, importBundled } from "./import-bundled.mjs";

/** What `*.const.ts` exports is computed when the program is built: the bundle holds the values, which JSON must be able to hold. */
export const computed = {
  name: "computed",
  setup(building) {
    building.onLoad({ filter: /\.const\.ts$/ }, async ({ path }) => {
      const values = await importBundled({ ...AS_THE_PROGRAM, entryPoints: [path], format: "esm" });
      return {
        contents: Object.entries(values)
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
          .join("\n"),
      };
    });
  },
};
