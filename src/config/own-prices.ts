import { readFile, stat } from "node:fs/promises";
import { setPlans } from "#core/rules/plans.ts";
import { setOwnPrices, setPriceProviders } from "#core/rules/price.ts";
import { type LoadedConfig, loadConfig } from "./load.ts";
import { parseOwnPrices } from "./own-prices.lazy.ts";

/** `loadConfig` for commands that price calls: their settings apply to this process, and `usePrices` too, whose problem is added to the errors. */
export async function loadConfigAndPrices(
  from: Parameters<typeof loadConfig>[0] & { readonly places: { readonly home?: string } },
): Promise<LoadedConfig> {
  const loaded = await loadConfig(from);
  setPriceProviders(loaded.config.prices.providers);
  setPlans(loaded.config.prices.plans, from.places.home);
  const problem = await usePrices(loaded.config.prices.file);
  return problem === undefined ? loaded : { ...loaded, errors: [...loaded.errors, problem] };
}

/**
 * Reads the file of own prices and makes everything in this process use it. If it cannot be read, nothing has a known price: list
 * prices would be wrong, and a recorded cost is not corrected later.
 *
 * @param path `undefined`: list prices apply
 * @returns what the user should fix, in one line
 */
export async function usePrices(path: string | undefined): Promise<string | undefined> {
  const read = path === undefined ? undefined : await readPrices(path);
  if (read === undefined || "prices" in read) {
    setOwnPrices(read?.prices);
    return undefined;
  }
  setOwnPrices("unreadable");
  return `prices.file ${JSON.stringify(path)}: ${read.problem}; no call has a cost until this is fixed`;
}

/** Reads a file of own prices. @returns the prices, or the first problem */
export async function readPrices(path: string): Promise<ReturnType<typeof parseOwnPrices>> {
  try {
    const found = await stat(path);
    // A pipe may never get any input
    if (!found.isFile()) return { problem: "it is not a regular file" };
    if (found.size > MAX_BYTES) return { problem: "it is larger than 1 MB" };
    return parseOwnPrices(await readFile(path, "utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { problem: code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})` };
  }
}

// --- internal ---

const MAX_BYTES = 1_000_000;
