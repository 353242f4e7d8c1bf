import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const PROGRAM = join(ROOT, "dist", "openhook-otel.cjs");

/** Whether a module is what node was started with. */
export const isCalled = (url) => process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(url);

/** A wrong option, a wrong total: one line, no stack. */
export async function started(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

/** Options that all benchmarks have, with some of one's own. */
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

/** @throws where it is none */
export function countOf(name, text) {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new Error(`${name} is to be a whole number from 1 on, not ${JSON.stringify(text)}`);
  return count;
}
