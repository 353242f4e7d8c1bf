import { AS_THE_PROGRAM, importBundled } from "./import-bundled.mjs";
import { textOfFiles } from "./text-of-files.mjs";

/**
 * Evaluates `*.const.ts` at build time and bundles the resulting values, which must be JSON. Saves loading zod and all agents' cards
 * at every start (about 15 ms).
 */
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
