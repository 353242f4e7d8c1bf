import { calcPrice, type PriceCalculationResult, type PriceOptions, type Usage } from "@pydantic/genai-prices";

/** What the price table says of a call. It is half a megabyte, and most commands price nothing. */
export function askTable(usage: Usage, model: string, options: PriceOptions): PriceCalculationResult {
  return calcPrice(usage, model, options);
}
