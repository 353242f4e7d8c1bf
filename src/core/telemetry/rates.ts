import type { ConditionalPrice, ModelPrice } from "@pydantic/genai-prices";
import type { PriceList, PriceRule, Rates } from "../model/price-list.ts";
import { isNameOf, withoutPath } from "./model-names.ts";
import { priceFromTable } from "./price-table.lazy.ts";

/**
 * The price table's list for a model.
 *
 * @returns `undefined` if the table does not contain the model
 * @throws if the table cannot be read
 */
export function tableList(providerId: string | undefined, model: string): PriceList | undefined {
  const key = `${providerId ?? ""}\0${model}`;
  let list = lists.get(key);
  if (list === undefined) {
    if (lists.size >= MAX_KNOWN) lists.clear();
    list = readList(providerId, model) ?? "unknown";
    lists.set(key, list);
  }
  return list === "unknown" ? undefined : list;
}

// --- internal ---

const lists = new Map<string, PriceList | "unknown">();
/** Model names come from transcripts, so the cache needs a limit. */
const MAX_KNOWN = 2_000;

function readList(providerId: string | undefined, name: string): PriceList | undefined {
  const model = priceFromTable({}, withoutPath(name), providerId === undefined ? {} : { providerId })?.model;
  if (model === undefined || !isNameOf(model, name)) return undefined;
  const { prices, context_window: contextWindow } = model;
  return { contextWindow, rules: Array.isArray(prices) ? conditionalRules(prices) : rulesOf(prices) };
}

/**
 * The table's conditions have either a date or hours, and no weekdays: which dates and weekdays hours belong to is not known. Without any
 * dates not even the hours are certain.
 */
function conditionalRules(prices: readonly ConditionalPrice[]): readonly PriceRule[] {
  const hasDates = prices.some(({ constraint }) => constraint?.type === "start_date");
  return prices.flatMap(({ constraint, prices: of }): readonly PriceRule[] => {
    if (constraint === undefined) return rulesOf(of);
    if (constraint.type === "start_date") return rulesOf(of, { fromMs: Date.parse(constraint.start_date) });
    const [fromMinute, toMinute] = [minuteOf(constraint.start_time), minuteOf(constraint.end_time)];
    return rulesOf(of, {
      isUncertain: true,
      ...(hasDates && { window: { fromMinute, toMinute, timeZone: "UTC" } }),
    });
  });
}

/** `01:30:00Z` */
const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** A rule for each step of the input's length, from the shortest. */
function rulesOf(prices: ModelPrice, conditions: Omit<PriceRule, "rates" | "above"> = {}): readonly PriceRule[] {
  const steps = new Set([0]);
  for (const price of Object.values(prices)) {
    if (typeof price === "object") for (const { start } of price.tiers) steps.add(start);
  }
  return [...steps]
    .sort((a, b) => a - b)
    .map((above) => ({ ...conditions, ...(above > 0 && { above }), rates: ratesAt(prices, above) }));
}

function ratesAt(prices: ModelPrice, above: number): Rates {
  const at = (name: string): number | undefined => {
    const price = prices[name];
    return typeof price === "object"
      ? (price.tiers.findLast(({ start }) => start <= above)?.price ?? price.base)
      : price;
  };
  const input = at("input_mtok");
  return {
    input,
    output: at("output_mtok"),
    // A provider without a price for reads charges them as other input, which is never too little
    cacheRead: at("cache_read_mtok") ?? input,
    cacheWrite: at("cache_write_mtok"),
    cacheWrite1h: at("cache_write_1h_mtok"),
    webSearch: at("web_searches_kcount"),
    request: at("requests_kcount"),
  };
}
