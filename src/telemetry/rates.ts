import type { Usage } from "@pydantic/genai-prices";
import { askTable } from "./price-table.lazy.ts";

/** Token counts in the categories that prices distinguish. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
}

/**
 * Prices for calls of one model, in US dollars.
 *
 * Within one price list and one volume step all tokens of a category cost the same. The table is asked for those rates once
 * and we multiply. If the result differs from the table's own answer, the table is asked for every call.
 *
 * @returns the price of a call answered at `timeMs` (prices change over time); `undefined` if the table does not know the model,
 *   or lacks the price of a kind of tokens that it would then charge at a lower one
 */
export function pricesOf(
  providerId: string | undefined,
  model: string,
): (tokens: Tokens, timeMs: number) => number | undefined {
  let known: List | undefined;
  return (tokens, timeMs) => {
    known ??= knownList(providerId, model, timeMs);
    if (known === "unknown") return undefined;
    if (known === "changing") return ask(providerId, model, tokens, timeMs);
    const { steps } = known;
    let at = 0;
    while (at < steps.length && tokens.input > (steps[at] ?? 0)) at++;
    // Exactly at a step, ask the table
    if (tokens.input === steps[at]) return ask(providerId, model, tokens, timeMs);
    known.rates[at] ??= ratesAt(providerId, model, steps, at, timeMs) ?? "none";
    const rates = known.rates[at];
    return rates === undefined || rates === "none"
      ? ask(providerId, model, tokens, timeMs)
      : orUnknown(product(rates, tokens));
  };
}

// --- internal ---

/** US dollars per token: of input outside any cache, and the difference for cached tokens. */
interface Rates {
  readonly input: number;
  /** NaN, as of the others: the table has no price. */
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
}

/** `unknown`: no price. `changing`: depends on the time. Otherwise rates by step of the input's size. */
type List = "unknown" | "changing" | { readonly steps: readonly number[]; readonly rates: (Rates | "none")[] };

const lists = new Map<string, List>();
/** Model names come from transcripts, so their number is bounded here. */
const MAX_KNOWN = 2_000;

function knownList(providerId: string | undefined, model: string, timeMs: number): List {
  const key = `${providerId ?? ""}\0${model}`;
  let known = lists.get(key);
  if (known === undefined) {
    if (lists.size >= MAX_KNOWN) lists.clear();
    known = listOf(providerId, model, timeMs);
    lists.set(key, known);
  }
  return known;
}

function listOf(providerId: string | undefined, model: string, timeMs: number): List {
  const found = askTable({ input_tokens: 1, output_tokens: 1 }, model, optionsOf(providerId, timeMs));
  if (found === null) return "unknown";
  if (Array.isArray(found.model.prices)) return "changing";
  const steps = new Set<number>();
  for (const price of Object.values(found.model_price)) {
    if (typeof price === "object") for (const { start } of price.tiers) steps.add(start);
  }
  return { steps: [...steps].sort((a, b) => a - b), rates: [] };
}

function ratesAt(
  providerId: string | undefined,
  model: string,
  steps: readonly number[],
  at: number,
  timeMs: number,
): Rates | undefined {
  const [from, to] = [steps[at - 1] ?? 0, steps[at] ?? Number.POSITIVE_INFINITY];
  // Powers of ten divide without rounding errors
  const input = [1e6, 1e5, 1e4, 1e3].find((n) => n > from && n < to) ?? Math.floor((from + Math.min(to, from * 3)) / 2);
  const cost = (more: Partial<Tokens>): number =>
    ask(providerId, model, { input, output: 0, ...more }, timeMs) ?? Number.NaN;
  const plain = cost({});
  const [cacheRead, cacheWrite] = [0, 0];
  const half = Math.floor(input / 2);
  const rates: Rates = {
    input: plain / input,
    output: (cost({ output: input }) - plain) / input,
    cacheRead: (cost({ cacheRead: half, cacheWrite }) - plain) / half,
    cacheWrite: (cost({ cacheRead, cacheWrite: half }) - plain) / half,
    cacheWrite1h:
      (cost({ cacheRead, cacheWrite: half, cacheWrite1h: half }) - cost({ cacheRead, cacheWrite: half })) / half,
  };
  const rounded = Object.fromEntries(Object.entries(rates).map(([kind, usd]) => [kind, tidy(usd)])) as unknown as Rates;
  return isRight(providerId, model, rounded, input, timeMs) ? rounded : undefined;
}

/** Prices have few digits per million tokens; further digits are rounding errors of the division. */
const tidy = (usd: number): number => Math.round(usd * 1e12) / 1e12;

/** Whether our rates reproduce the table's answer for calls with all categories. */
function isRight(providerId: string | undefined, model: string, rates: Rates, input: number, timeMs: number): boolean {
  return [3, 7, 11].every((part) => {
    const cacheRead = Math.floor(input / part);
    const cacheWrite = Number.isNaN(rates.cacheWrite) ? 0 : Math.floor(input / (part + 1));
    const cacheWrite1h = Number.isNaN(rates.cacheWrite1h) ? 0 : Math.floor(cacheWrite / part);
    const tokens: Tokens = { input, output: Math.floor(input / (part + 2)), cacheRead, cacheWrite, cacheWrite1h };
    const answer = ask(providerId, model, tokens, timeMs);
    return answer !== undefined && Math.abs(answer - product(rates, tokens)) < SAME_USD;
  });
}
/** A tenth of the unit in which costs are counted. */
const SAME_USD = 1e-10;

/** NaN if the call has tokens of a kind without a price, or may have. */
const product = (rates: Rates, tokens: Tokens): number =>
  isCachePartlyKnown(tokens, rates.cacheRead !== 0, !Number.isNaN(rates.cacheWrite))
    ? Number.NaN
    : productOf(rates, tokens);

const productOf = (rates: Rates, tokens: Tokens): number =>
  costOf(rates.input, tokens.input) +
  costOf(rates.output, tokens.output) +
  rates.cacheRead * (tokens.cacheRead ?? 0) +
  costOf(rates.cacheWrite, tokens.cacheWrite) +
  costOf(rates.cacheWrite1h, tokens.cacheWrite1h);

const costOf = (rate: number, tokens: number | undefined): number => (tokens ? rate * tokens : 0);

function ask(providerId: string | undefined, model: string, tokens: Tokens, timeMs: number): number | undefined {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = tokens;
  const usage: Usage = {
    input_tokens: input,
    output_tokens: output,
    ...(cacheRead !== undefined && { cache_read_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    ...(cacheWrite1h !== undefined && { cache_write_1h_tokens: cacheWrite1h }),
  };
  const result = askTable(usage, model, optionsOf(providerId, timeMs));
  return result === null || !hasAllPrices(result.model_price, tokens) ? undefined : orUnknown(result.total_price);
}

/**
 * Whether cache reads are known and writes are not, or the reverse, and the unknown ones have a price. A provider that reports
 * neither charges all input alike.
 */
export const isCachePartlyKnown = (
  { cacheRead, cacheWrite }: Tokens,
  hasReadPrice: boolean,
  hasWritePrice: boolean,
): boolean =>
  (cacheRead === undefined && cacheWrite !== undefined && hasReadPrice) ||
  (cacheWrite === undefined && cacheRead !== undefined && hasWritePrice);

/**
 * Without a price for cache writes the table charges them as input, writes for an hour as any other, and output as free. Cache
 * reads without a price are charged as input, which is never too little.
 */
const hasAllPrices = (prices: object, tokens: Tokens): boolean =>
  !isCachePartlyKnown(tokens, "cache_read_mtok" in prices, "cache_write_mtok" in prices) && hasPricesOf(prices, tokens);

const hasPricesOf = (prices: object, { output, cacheWrite = 0, cacheWrite1h = 0 }: Tokens): boolean =>
  (output === 0 || "output_mtok" in prices) &&
  (cacheWrite === 0 || "cache_write_mtok" in prices) &&
  (cacheWrite1h === 0 || "cache_write_1h_mtok" in prices);

const orUnknown = (usd: number): number | undefined => (Number.isFinite(usd) ? usd : undefined);

const optionsOf = (providerId: string | undefined, timeMs: number) => ({
  ...(providerId !== undefined && { providerId }),
  timestamp: new Date(timeMs),
});
