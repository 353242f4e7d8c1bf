import { calcPrice, type PriceCalculationResult, type PriceOptions, type Usage } from "@pydantic/genai-prices";

/**
 * Asks the price table for one call. The table has 0.5 MB and most commands price nothing, so it is loaded on first use.
 *
 * @returns `null` also for usage that the table refuses, e.g. parts larger than their whole: no number in a transcript stops a
 *   drain or a report
 */
export function askTable(usage: Usage, model: string, options: PriceOptions): PriceCalculationResult {
  try {
    return calcPrice(usage, model, options);
  } catch {
    return null;
  }
}
