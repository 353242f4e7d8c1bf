import type { Usage } from "@pydantic/genai-prices";
import { priceFromTable } from "./price-table.lazy.ts";

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
 * Within one price list and one volume step, all tokens of a category cost the same. These rates are read from the table once
 * and multiplied by the token counts. If that does not reproduce the table's own results, every call is looked up in the table.
 *
 * @returns the price of a call answered at `timeMs` (prices change over time); `undefined` if the table does not contain the
 *   model, or has no price for a kind of tokens and would charge them at a lower price. It throws if the table rejects the token
 *   counts: a bad number in a transcript
 */
export function pricesOf(
  providerId: string | undefined,
  model: string,
): (tokens: Tokens, timeMs: number) => number | undefined {
  let priceList: PriceList | undefined;
  return (tokens, timeMs) => {
    priceList ??= cachedPriceList(providerId, model, timeMs);
    if (priceList === "unknown") return undefined;
    if (priceList === "changing") return tablePrice(providerId, model, tokens, timeMs);
    const { steps } = priceList;
    let at = 0;
    while (at < steps.length && tokens.input > (steps[at] ?? 0)) at++;
    // Exactly at a step, the table decides
    if (tokens.input === steps[at]) return tablePrice(providerId, model, tokens, timeMs);
    priceList.rates[at] ??= ratesAt(providerId, model, steps, at, timeMs) ?? "none";
    const rates = priceList.rates[at];
    return rates === undefined || rates === "none"
      ? tablePrice(providerId, model, tokens, timeMs)
      : orUnknown(product(rates, tokens));
  };
}

/**
 * Whether cache reads are known and writes are not, or the reverse, and the unknown ones have a price. A provider that
 * reports neither charges all input at one price.
 */
export const isCachePartlyKnown = (
  { cacheRead, cacheWrite }: Tokens,
  hasReadPrice: boolean,
  hasWritePrice: boolean,
): boolean =>
  (cacheRead === undefined && cacheWrite !== undefined && hasReadPrice) ||
  (cacheWrite === undefined && cacheRead !== undefined && hasWritePrice);

// --- internal ---

/** US dollars per token. Cache rates are differences: of cached tokens to `input`, of one-hour writes to other writes. */
interface Rates {
  readonly input: number;
  /** NaN, here and in the rates below: the table has no price. */
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
}

/**
 * `unknown`: no price. `changing`: depends on the time. Otherwise the rates of each volume step; steps are input token counts.
 */
type PriceList = "unknown" | "changing" | { readonly steps: readonly number[]; readonly rates: (Rates | "none")[] };

const lists = new Map<string, PriceList>();
/** Model names come from transcripts, so the cache needs a limit. */
const MAX_KNOWN = 2_000;

function cachedPriceList(providerId: string | undefined, model: string, timeMs: number): PriceList {
  const key = `${providerId ?? ""}\0${model}`;
  let priceList = lists.get(key);
  if (priceList === undefined) {
    if (lists.size >= MAX_KNOWN) lists.clear();
    priceList = readPriceList(providerId, model, timeMs);
    lists.set(key, priceList);
  }
  return priceList;
}

function readPriceList(providerId: string | undefined, model: string, timeMs: number): PriceList {
  const found = priceFromTable({ input_tokens: 1, output_tokens: 1 }, model, optionsOf(providerId, timeMs));
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
    triedPrice(providerId, model, { input, output: 0, ...more }, timeMs) ?? Number.NaN;
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
  const rounded = Object.fromEntries(
    Object.entries(rates).map(([kind, usd]) => [kind, roundUsd(usd)]),
  ) as unknown as Rates;
  return matchesTable(providerId, model, rounded, input, timeMs) ? rounded : undefined;
}

/** Prices have few digits per million tokens; further digits are rounding errors of the division. */
const roundUsd = (usd: number): number => Math.round(usd * 1e12) / 1e12;

/** Whether our rates reproduce the table's price for calls with all categories of tokens. */
function matchesTable(
  providerId: string | undefined,
  model: string,
  rates: Rates,
  input: number,
  timeMs: number,
): boolean {
  return [3, 7, 11].every((part) => {
    const cacheRead = Math.floor(input / part);
    const cacheWrite = Number.isNaN(rates.cacheWrite) ? 0 : Math.floor(input / (part + 1));
    const cacheWrite1h = Number.isNaN(rates.cacheWrite1h) ? 0 : Math.floor(cacheWrite / part);
    const tokens: Tokens = { input, output: Math.floor(input / (part + 2)), cacheRead, cacheWrite, cacheWrite1h };
    const answer = triedPrice(providerId, model, tokens, timeMs);
    return answer !== undefined && Math.abs(answer - product(rates, tokens)) < SAME_USD;
  });
}
/** A tenth of the unit in which costs are counted. */
const SAME_USD = 1e-10;

/** NaN if the call has, or may have, tokens of a kind without a price. */
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

/** `tablePrice` for token counts that the table may reject. */
function triedPrice(...of: Parameters<typeof tablePrice>): number | undefined {
  try {
    return tablePrice(...of);
  } catch {
    return undefined;
  }
}

function tablePrice(providerId: string | undefined, model: string, tokens: Tokens, timeMs: number): number | undefined {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = tokens;
  const usage: Usage = {
    input_tokens: input,
    output_tokens: output,
    ...(cacheRead !== undefined && { cache_read_tokens: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    ...(cacheWrite1h !== undefined && { cache_write_1h_tokens: cacheWrite1h }),
  };
  const result = priceFromTable(usage, model, optionsOf(providerId, timeMs));
  return result === null || !hasAllPrices(result.model_price, tokens) ? undefined : orUnknown(result.total_price);
}

/**
 * Whether the table has a price for each kind of tokens of a call. If a price is missing, the table charges cache writes as
 * input, one-hour cache writes as other cache writes, and nothing for output: too little. It charges cache reads as input,
 * which is never too little.
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
