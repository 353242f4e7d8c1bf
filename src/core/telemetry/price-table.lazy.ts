import { calcPrice, type PriceCalculationResult, type PriceOptions, type Usage } from "@pydantic/genai-prices";

/**
 * Looks up the price of one call. The table is 0.5 MB and most commands need no prices, so it is loaded on first use.
 *
 * @returns `null` if the table has no price
 * @throws if the table rejects the usage, e.g. more cached tokens than input tokens
 */
export function priceFromTable(usage: Usage, model: string, options: PriceOptions): PriceCalculationResult {
  return calcPrice(usage, model, options);
}
