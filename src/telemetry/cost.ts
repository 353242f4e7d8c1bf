import pkg from "../../package.json" with { type: "json" };
import { withLifetimesInWrites } from "../model/cache-lifetimes.ts";
import { messageOf } from "../model/error-message.ts";
import type { ModelCall } from "../model/model-call.ts";
import { type OwnRates, ownPrices, ownRatesOf } from "../model/own-prices.ts";
import { isWholeUsage } from "../model/whole-usage.ts";
import { isCachePartlyKnown, pricesOf, type Tokens } from "./rates.ts";

/** The price table in use. Sent with every cost, so that costs can be recomputed. */
export const PRICE_TABLE = `genai-prices/${pkg.devDependencies["@pydantic/genai-prices"]}`;

/** Which prices a cost is based on. `mixed`: a sum with the user's prices for some models and the table's for the others. */
export interface CostSource {
  readonly kind: "price_table" | "own_prices" | "mixed";
  /** The table with its version, the user's description of their own prices, or both. */
  readonly prices: string;
}

/** Which prices the cost of a call of this model is based on. Without a model: the cost of a sum over several models. */
export function costSource(model?: string): CostSource {
  const own = ownPrices();
  if (own === undefined || own === "unreadable") return { kind: "price_table", prices: PRICE_TABLE };
  const ofOwn = `own: ${own.source}`;
  if (model === undefined) return { kind: "mixed", prices: `${PRICE_TABLE}; ${ofOwn}` };
  return ownRatesOf(own, model) === undefined
    ? { kind: "price_table", prices: PRICE_TABLE }
    : { kind: "own_prices", prices: ofOwn };
}

/** Describes the prices in use, for notes below figures, e.g. `list prices of genai-prices/0.0.78`. */
export function describePrices(): string {
  const own = ownPrices();
  if (own === undefined) return `list prices of ${PRICE_TABLE}`;
  if (own === "unreadable") return "no prices: the file of own prices cannot be read, see `doctor`";
  return `own prices (${own.source}) of ${[...own.models.keys()].slice(0, MAX_NAMES).join(", ")}${own.models.size > MAX_NAMES ? " …" : ""}; other models: list prices of ${PRICE_TABLE}`;
}

/**
 * Price of one model call in 10⁻⁹ USD: the user's own price of its model, otherwise the list price.
 *
 * @param provider used for calls without a provider
 * @returns `undefined` when the model, its usage or its price is unknown; never 0 in that case
 */
export function costNanoUsd(call: ModelCall, provider: string | undefined): number | undefined {
  const own = ownPrices();
  const known = priced.get(call);
  if (known !== undefined && known.provider === provider && known.own === own) return known.cost;
  const cost = price(call, provider);
  priced.set(call, { provider, own, cost });
  return cost;
}

/** `costNanoUsd` for the calls of one session. */
export const costsOf =
  (provider: string | undefined) =>
  (call: ModelCall): number | undefined =>
    costNanoUsd(call, provider);

/**
 * Why the price of a call could not be calculated: the first error since this function was called last. `undefined`: none, although
 * prices can be unknown.
 */
export function takePriceError(): string | undefined {
  const error = priceError;
  priceError = undefined;
  return error;
}

/** Cost from token counts only, for calls of one model. @param provider OpenTelemetry's name of the provider */
export function costsOfTokens(
  model: string | undefined,
  provider: string | undefined,
): (tokens: Tokens, timeMs: number) => number | undefined {
  const own = ownPrices();
  if (model === undefined || own === "unreadable") return () => undefined;
  const ownRates = own === undefined ? undefined : ownRatesOf(own, model);
  if (ownRates !== undefined) return (tokens) => ownCost(ownRates, withLifetimesInWrites(tokens));
  let usdOf: ReturnType<typeof pricesOf> | undefined;
  return (tokens, timeMs) => {
    const usd = orUnknown(() => {
      usdOf ??= pricesOf(priceListProvider(model, provider), model);
      return usdOf(withLifetimesInWrites(tokens), timeMs);
    });
    return usd === undefined ? undefined : Math.round(usd * 1e9);
  };
}

// --- internal ---

/** Cache: span, turn, session and counters all need a call's price, and the lookup is slow. */
const priced = new WeakMap<
  ModelCall,
  {
    readonly provider: string | undefined;
    readonly own: ReturnType<typeof ownPrices>;
    readonly cost: number | undefined;
  }
>();
const MAX_NAMES = 5;

/** @returns `undefined` if the call has tokens of a kind without a price */
function ownCost(rates: OwnRates, tokens: Tokens): number | undefined {
  const { input, output, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = tokens;
  const uncached = input - cacheRead - cacheWrite;
  // Usage is corrected when it is stored, but earlier versions stored it uncorrected
  if (uncached < 0) return undefined;
  if (isCachePartlyKnown(tokens, rates.cacheRead !== undefined, rates.cacheWrite !== undefined)) return undefined;
  let nano = 0;
  for (const [amount, rate] of [
    [uncached, rates.input],
    [output, rates.output],
    [cacheRead, rates.cacheRead],
    [cacheWrite - cacheWrite1h, rates.cacheWrite],
    [cacheWrite1h, rates.cacheWrite1h],
  ] as const) {
    if (amount === 0) continue;
    if (rate === undefined) return undefined;
    // The rate is in USD per million tokens, the result in 10⁻⁹ USD
    nano += amount * rate * 1_000;
  }
  return Math.round(nano);
}

/** The table's provider ids where they differ from OpenTelemetry's names. */
const TABLE_IDS: ReadonlyMap<string, string> = new Map([
  ["aws.bedrock", "aws"],
  ["azure.ai.openai", "azure"],
  ["gcp.gemini", "google"],
  ["gcp.vertex_ai", "google"],
  ["mistral_ai", "mistral"],
  ["moonshot_ai", "moonshotai"],
  ["x_ai", "x-ai"],
]);

/** The provider whose price list applies; `undefined` if only the model's name decides. */
function priceListProvider(model: string, provider: string | undefined): string | undefined {
  if (BEDROCK_NAME.test(model) && [undefined, "anthropic"].includes(provider)) return "aws";
  return provider === undefined ? undefined : (TABLE_IDS.get(provider) ?? provider);
}

/** Amazon Bedrock's names for Claude models; gateways also use them. */
const BEDROCK_NAME = /^(?:[a-z]+\.)?anthropic\.claude-/;

/** The price library throws for token counts that it considers impossible. The price of that call is then unknown. */
function orUnknown(calculate: () => number | undefined): number | undefined {
  try {
    return calculate();
  } catch (error) {
    priceError ??= messageOf(error);
    return undefined;
  }
}

let priceError: string | undefined;

const price = (call: ModelCall, provider: string | undefined): number | undefined =>
  !isWholeUsage(call.usage) || call.noListPrice
    ? undefined
    : costsOfTokens(call.model, call.provider ?? provider)(call.usage, call.endMs);
