import { messageOf } from "#kit/errors.ts";
import pkg from "../../../package.json" with { type: "json" };
import type { ModelCall } from "../model/model-call.ts";
import type { Price, PricedUsage, PriceList } from "../model/price-list.ts";
import { TABLE_IDS } from "../model/price-providers.ts";
import { isWholeUsage } from "../rules/calls.ts";
import { withLifetimesInWrites } from "../rules/limits.ts";
import { byLongestName, ownListOf, ownPrices, priceOf, priceProviders } from "../rules/price.ts";
import { tableList } from "./rates.ts";

/** The version of the price table and the day on which it was published; a test fails if another version is installed. */
const TABLE = { version: "0.1.8", published: "2026-09-23" } as const;

/** The price table in use. Sent with every cost, so that costs can be recomputed. */
export const PRICE_TABLE = `genai-prices/${TABLE.version}`;

export const PRICE_TABLE_DATE = TABLE.published;

/** Whether newer models and prices may be missing in the table. */
export const isTableOld = (nowMs: number): boolean => nowMs - Date.parse(PRICE_TABLE_DATE) > TWO_MONTHS_MS;

/** Which prices a cost is based on. `mixed`: a sum with the user's prices for some models and the table's for the others. */
interface CostSource {
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
  return ownListOf(own, model) === undefined
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
 * Price of one model call: the user's own price of its model, otherwise the list price.
 *
 * @param provider used for calls without a provider
 */
export function callPrice(call: ModelCall, provider: string | undefined): Price {
  const [own, chosen] = [ownPrices(), priceProviders()];
  const known = priced.get(call);
  if (known?.provider === provider && known?.own === own && known?.chosen === chosen) return known.price;
  const price = calculated(call, provider);
  priced.set(call, { provider, own, chosen, price });
  return price;
}

/** `callPrice` for the calls of one session. */
export const callPrices =
  (provider: string | undefined) =>
  (call: ModelCall): Price =>
    callPrice(call, provider);

/**
 * Why the price of a call could not be calculated: the first error since this function was called last. `undefined`: none, although
 * prices can be unknown.
 */
export function takePriceError(): string | undefined {
  const error = priceError;
  priceError = undefined;
  return error;
}

/** The prices of calls of one model. @param provider OpenTelemetry's name of the provider */
export function pricesOfModel(
  model: string | undefined,
  provider: string | undefined,
): (usage: PricedUsage, timeMs: number) => Price {
  const own = ownPrices();
  if (own === "unreadable") return () => ({ noPrice: "file" });
  if (model === undefined) return () => ({ noPrice: "model" });
  const list = (own && ownListOf(own, model)) ?? triedList(priceListProvider(model, provider), model);
  if (list === "error") return () => ({ noPrice: "error" });
  return list === undefined
    ? () => ({ noPrice: "model" })
    : (usage, timeMs) => priceOf(list, withLifetimesInWrites(usage), timeMs);
}

/** What identifies the prices in use: calls without a price may have one as soon as it changes. `undefined`: they cannot be read. */
export function pricesInUse(): string | undefined {
  const own = ownPrices();
  if (own === "unreadable") return undefined;
  const chosen = [...priceProviders()].map(([model, provider]) => `; ${model} ${provider}`).sort();
  return `${PRICE_TABLE}; ${pkg.version}; ${own?.digest ?? ""}${chosen.join("")}`;
}

// --- internal ---

/** Cache: span, turn, session and counters all need a call's price, and the lookup is slow. */
const priced = new WeakMap<
  ModelCall,
  {
    readonly provider: string | undefined;
    readonly own: ReturnType<typeof ownPrices>;
    readonly chosen: ReturnType<typeof priceProviders>;
    readonly price: Price;
  }
>();
const MAX_NAMES = 5;
const TWO_MONTHS_MS = 61 * 86_400_000;

/** The provider whose price list applies, the user's own choice first; `undefined` if only the model's name decides. */
function priceListProvider(model: string, reported: string | undefined): string | undefined {
  const chosen = byLongestName(priceProviders(), model);
  const provider = chosen ?? reported;
  if (chosen === undefined && BEDROCK_NAME.test(model) && [undefined, "anthropic"].includes(provider)) return "aws";
  return provider === undefined ? undefined : (TABLE_IDS.get(provider) ?? provider);
}

/** Amazon Bedrock's names for Claude models; gateways also use them. */
const BEDROCK_NAME = /^(?:arn:aws[\w-]*:bedrock:[^/]*\/)?(?:[a-z-]+\.)?anthropic\.claude-/;

/** A table that cannot be read must not stop anything: the price is then unknown. */
function triedList(provider: string | undefined, model: string): PriceList | "error" | undefined {
  try {
    return tableList(provider, model);
  } catch (error) {
    priceError ??= messageOf(error);
    return "error";
  }
}

let priceError: string | undefined;

function calculated(call: ModelCall, provider: string | undefined): Price {
  const { usage, model, webSearches, hasOtherFees, covers, tier } = call;
  if (!isWholeUsage(usage)) return { noPrice: "usage" };
  const { input, output, cacheRead, cacheWrite, cacheWrite1h } = usage;
  const tokens = { input, output, cacheRead, cacheWrite, cacheWrite1h };
  const isSum = covers === undefined ? undefined : true;
  const priced = { ...tokens, webSearches, hasOtherFees, tier, isSum } as const;
  return pricesOfModel(model, call.provider ?? provider)(priced, call.endMs);
}
