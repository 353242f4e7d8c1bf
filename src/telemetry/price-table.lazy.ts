import { calcPrice, type PriceCalculationResult, type PriceOptions, type Usage } from "@pydantic/genai-prices";

/** Asks the price table for one call. The table has 0.5 MB and most commands price nothing, so it is loaded on first use. */
export function askTable(usage: Usage, model: string, options: PriceOptions): PriceCalculationResult {
  return calcPrice(usage, model, options);
}
