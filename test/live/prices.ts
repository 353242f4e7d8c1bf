import type { Served } from "./model-server.ts";
import type { Usage } from "./script.ts";

/** Of all models, in dollars per million tokens. One of them is 1,000 nano-dollars per token. */
export const PRICES = { input: 7, cacheRead: 0.7, cacheWrite: 8.75, output: 31 };

/** Dollars in 10⁻⁹ dollars, as a whole number. */
export const nano = (usd: number): number => Math.round(usd * 1e9);

/** What these answers cost, in 10⁻⁹ dollars. */
export const costOf = (served: readonly Served[]): number =>
  served.reduce((sum, { usage }) => sum + costOfCall(usage), 0);

// --- internal ---

function costOfCall({ input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 }: Usage): number {
  const { input: price, cacheRead: read, cacheWrite: write, output: out } = PRICES;
  return Math.round((input * price + cacheRead * read + cacheWrite * write + (output + reasoning) * out) * 1_000);
}
