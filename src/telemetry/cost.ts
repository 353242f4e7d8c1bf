import { calcPrice } from "@pydantic/genai-prices";
import pkg from "../../package.json" with { type: "json" };
import type { ModelCall } from "../model/session.ts";

/** The table prices come from; sent with every cost, so that it can be computed again. */
export const PRICE_TABLE = `genai-prices/${pkg.devDependencies["@pydantic/genai-prices"]}`;

/**
 * List price of one model call in whole billionths of a US dollar.
 *
 * @returns `undefined` when the model, its usage or its price is not known: unknown is never 0
 */
export function costNanoUsd(call: ModelCall, provider: string | undefined): number | undefined {
  const { usage, model } = call;
  if (usage === undefined || model === undefined) return undefined;
  const price = calcPrice(
    {
      input_tokens: usage.input,
      output_tokens: usage.output,
      ...(usage.cacheRead !== undefined && { cache_read_tokens: usage.cacheRead }),
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.cacheWrite1h !== undefined && { cache_write_1h_tokens: usage.cacheWrite1h }),
    },
    model,
    { ...(provider !== undefined && { providerId: provider }), timestamp: new Date(call.endMs) },
  );
  return price === null || !Number.isFinite(price.total_price) ? undefined : Math.round(price.total_price * 1e9);
}
