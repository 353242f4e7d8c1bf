import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const PROGRAM = join(ROOT, "dist", "openhook-otel.cjs");

/** Whether node was started with this module. */
export const isCalled = (url) => process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url);

/** Runs `main`; prints an error's message without a stack. */
export async function started(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Options of all benchmarks, and `more`. */
export function optionsOf(more = {}) {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "15" },
      program: { type: "string", default: PROGRAM },
      ...more,
    },
  });
  return { ...values, runs: countOf("--runs", values.runs), program: resolve(values.program) };
}

/** @throws if the text is not a whole number above 0 */
export function countOf(name, text) {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`${name} must be a whole number above 0, not ${JSON.stringify(text)}`);
  return count;
}

/** @param least number of sizes @throws if it is not a list of that many sizes */
export function sizesOf(text, least = 2) {
  const sizes = text.split(",").map((size) => countOf("--sizes", size));
  if (sizes.length < least)
    throw new Error(`--sizes must be at least ${least} numbers separated by commas, not ${JSON.stringify(text)}`);
  return sizes.toSorted((a, b) => a - b);
}
