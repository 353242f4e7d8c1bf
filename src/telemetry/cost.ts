import pkg from "../../package.json" with { type: "json" };
import { withLifetimesInWrites } from "../model/cache-lifetimes.ts";
import type { ModelCall } from "../model/session.ts";
import { pricesOf, type Tokens } from "./rates.ts";

/** The price table in use. Sent with every cost, so that costs can be recomputed. */
export const PRICE_TABLE = `genai-prices/${pkg.devDependencies["@pydantic/genai-prices"]}`;

/**
 * List price of one model call in 10⁻⁹ USD.
 *
 * @param provider of calls that name none themselves
 * @returns `undefined` when the model, its usage or its price is unknown: unknown is never 0
 */
export function costNanoUsd(call: ModelCall, provider: string | undefined): number | undefined {
  const known = priced.get(call);
  if (known?.provider === provider && known !== undefined) return known.cost;
  const cost = price(call, provider);
  priced.set(call, { provider, cost });
  return cost;
}

/** `costNanoUsd` for the calls of one session. */
export const costsOf =
  (provider: string | undefined) =>
  (call: ModelCall): number | undefined =>
    costNanoUsd(call, provider);

/** Cost from token counts alone, for calls of one model. @param provider OpenTelemetry's name of the provider */
export function costsOfTokens(
  model: string | undefined,
  provider: string | undefined,
): (tokens: Tokens, timeMs: number) => number | undefined {
  if (model === undefined) return () => undefined;
  const usdOf = pricesOf(listOf(model, provider), model);
  return (tokens, timeMs) => {
    const usd = orUnknown(() => usdOf(withLifetimesInWrites(tokens), timeMs));
    return usd === undefined ? undefined : Math.round(usd * 1e9);
  };
}

// --- internal ---

/** Span, turn, session and counters all need a call's price, and the lookup is slow. */
const priced = new WeakMap<ModelCall, { readonly provider: string | undefined; readonly cost: number | undefined }>();

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

/** The provider whose price list applies; `undefined` if the model's name alone decides. */
function listOf(model: string, provider: string | undefined): string | undefined {
  if (BEDROCK_NAME.test(model) && [undefined, "anthropic"].includes(provider)) return "aws";
  return provider === undefined ? undefined : (TABLE_IDS.get(provider) ?? provider);
}

/** Amazon's names for Claude models; gateways pass them on. */
const BEDROCK_NAME = /^(?:[a-z]+\.)?anthropic\.claude-/;

/** The price library throws for tokens that it thinks impossible: the price of this call is unknown, and nothing else fails. */
function orUnknown(ask: () => number | undefined): number | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

const price = (call: ModelCall, provider: string | undefined): number | undefined =>
  call.usage === undefined || call.noListPrice
    ? undefined
    : costsOfTokens(call.model, call.provider ?? provider)(call.usage, call.endMs);
