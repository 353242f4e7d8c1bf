import { AS_THE_PROGRAM, importBundled } from "./import-bundled.mjs";
import { textOfFiles } from "./text-of-files.mjs";

/** What `*.const.ts` exports is computed when the program is built: the bundle holds the values, which JSON must be able to hold. */
export const computed = {
  name: "computed",
  setup(building) {
    building.onLoad({ filter: /\.const\.ts$/ }, async ({ path }) => {
      const { default: values } = await importBundled({
        ...AS_THE_PROGRAM,
        entryPoints: [path],
        plugins: [textOfFiles],
      });
      return { contents: Object.entries(values).map(constant).join("\n") };
    });
  },
};

// --- internal ---

function constant([name, value]) {
  if (!isPlain(value)) throw new Error(`${name} is not what JSON can hold`);
  return `export const ${name} = ${JSON.stringify(value)};`;
}

/** A member that is undefined may as well be missing. */
function isPlain(value) {
  if (Array.isArray(value)) return value.every((item) => item !== undefined && isPlain(item));
  if (typeof value === "object" && value !== null) {
    return [Object.prototype, null].includes(Object.getPrototypeOf(value)) && Object.values(value).every(isPlain);
  }
  return typeof value === "number" ? Number.isFinite(value) : !["function", "symbol", "bigint"].includes(typeof value);
}
