import { calcPrice } from "@pydantic/genai-prices";
import pkg from "../../package.json" with { type: "json" };
import type { ModelCall } from "../model/session.ts";

/** The table prices come from; sent with every cost, so that it can be computed again. */
export const PRICE_TABLE = `genai-prices/${pkg.devDependencies["@pydantic/genai-prices"]}`;

/**
 * List price of one model call in whole billionths of a US dollar.
 *
 * @param provider of the session's calls that name none themselves
 * @returns `undefined` when the model, its usage or its price is not known: unknown is never 0
 */
export function costNanoUsd(call: ModelCall, provider: string | undefined): number | undefined {
  const known = priced.get(call);
  if (known?.provider === provider && known !== undefined) return known.cost;
  const cost = price(call, provider);
  priced.set(call, { provider, cost });
  return cost;
}

// --- internal ---

/** A call's price is asked for by its span, its turn, its session and the counters; looking it up is slow. */
const priced = new WeakMap<ModelCall, { readonly provider: string | undefined; readonly cost: number | undefined }>();

/** The table's ids where they are not OpenTelemetry's names. */
const TABLE_IDS: ReadonlyMap<string, string> = new Map([
  ["aws.bedrock", "aws"],
  ["azure.ai.openai", "azure"],
  ["gcp.gemini", "google"],
  ["gcp.vertex_ai", "google"],
  ["mistral_ai", "mistral"],
  ["x_ai", "x-ai"],
]);

const providerId = (name: string | undefined): { readonly providerId?: string } =>
  name === undefined ? {} : { providerId: TABLE_IDS.get(name) ?? name };

function price(call: ModelCall, provider: string | undefined): number | undefined {
  const { usage, model } = call;
  if (usage === undefined || model === undefined) return undefined;
  const result = calcPrice(
    {
      input_tokens: usage.input,
      output_tokens: usage.output,
      ...(usage.cacheRead !== undefined && { cache_read_tokens: usage.cacheRead }),
      ...(usage.cacheWrite !== undefined && { cache_write_tokens: usage.cacheWrite }),
      ...(usage.cacheWrite1h !== undefined && { cache_write_1h_tokens: usage.cacheWrite1h }),
    },
    model,
    { ...providerId(call.provider ?? provider), timestamp: new Date(call.endMs) },
  );
  return result === null || !Number.isFinite(result.total_price) ? undefined : Math.round(result.total_price * 1e9);
}
