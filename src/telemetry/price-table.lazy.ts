import { calcPrice, type PriceCalculationResult, type PriceOptions, type Usage } from "@pydantic/genai-prices";

/**
 * Looks up the price of one call. The table is 0.5 MB and most commands need no prices, so it is loaded on first use.
 *
 * @returns `null` if the table has no price, or rejects the usage (e.g. more cached tokens than input tokens): a bad number in
 *   a transcript must not stop a drain or a report
 */
export function priceFromTable(usage: Usage, model: string, options: PriceOptions): PriceCalculationResult {
  try {
    return calcPrice(usage, model, options);
  } catch {
    return null;
  }
}
