import type { ConditionalPrice, MatchLogic, ModelInfo, ModelPrice } from "@pydantic/genai-prices";
import type { PriceList, PriceRule, Rates } from "../model/price-list.ts";
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

/**
 * Whether a name that the price table matched is one of that model. Many of the table's rules compare beginnings or parts of names, and a
 * newer model often begins with the name of an older one (`claude-sonnet-5-5`, `claude-sonnet-5`). A name counts if it is the model's id
 * or a name in its rules, or one of these with a date, or with what clouds add: regions, vendors, paths, versions.
 */
function isNameOf({ id, match }: Pick<ModelInfo, "id" | "match">, name: string): boolean {
  const core = coreOf(name);
  return core === coreOf(id) || isAlias(match, name, core);
}

/** A name without the path that Amazon Bedrock, Vertex AI and Google's API put before it. */
const withoutPath = (name: string): string => PATHS.reduce((rest, path) => rest.replace(path, ""), name.trim());

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

function isAlias(match: MatchLogic, name: string, core: string): boolean {
  if ("or" in match) return match.or.some((one) => isAlias(one, name, core));
  if ("and" in match) return match.and.some((one) => isAlias(one, name, core));
  // A pattern of whole names, such as the id with a date
  if ("regex" in match) return WHOLE.test(match.regex) && new RegExp(match.regex).test(name);
  return Object.values(match).some((text: string) => coreOf(text) === core);
}

/** From `^` to `$`, without anything that stands for any text. */
const WHOLE = /^\^(?!.*(?:\.[*+{]|\(\?!|\[\^|\\[wSDW])).*\$$/;

/** A name without the parts that do not make it another model. */
function coreOf(name: string): string {
  let core = withoutPath(name.toLowerCase());
  for (const added of BEFORE) core = core.replace(added, "");
  const isOfVendor = VENDOR.test(core);
  core = core.replace(VENDOR, "").replace(TUNED, "ft:$1");
  for (let before = ""; core !== before; ) {
    before = core;
    for (const added of AFTER) core = core.replace(added, "");
    if (isOfVendor) core = core.replace(BEDROCK_VERSION, "");
  }
  return ALIASES.get(core) ?? core;
}

const PATHS: readonly RegExp[] = [
  /^arn:aws[\w-]*:bedrock:[^/]*\//,
  /^(?:projects\/.*)?publishers\/[\w-]+\/models\//,
  /^models\//,
];

/** Vendors, clouds as gateways name them, and Bedrock's regions. */
const BEFORE: readonly RegExp[] = [
  /^(?:bedrock|vertex_ai|azure)\//,
  /^(?:anthropic|openai|google)\//,
  /^(?:global|regional|us|us-gov|eu|apac|au|ca|in|jp|sa)\.(?=[a-z]+\.)/,
];

/** `anthropic.claude-…` of Bedrock. */
const VENDOR = /^[a-z]+\.(?=[a-z])/;
/** `ft:model:organisation:name:id` of OpenAI. */
const TUNED = /^ft:([^:]+):.*$/;

const BEDROCK_VERSION = /(?:-v\d+)?(?::\d+)?$/;
const AFTER: readonly RegExp[] = [
  /-v\d+:\d+$/,
  // 20251001, 2025-10-01, 09-2025, 2512, 0905
  /[-@]20\d\d(-?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])$/,
  /(?<=-(?:exp|preview))-(?:0[1-9]|1[0-2])-(?:20)?\d\d$/,
  /-(?:2[3-9](?:0[1-9]|1[0-2])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/,
  // Vertex AI
  /@(?:default|latest|\d{3})$/,
  /-00\d$/,
  /-latest$/,
  // Claude Code's name for a model with its long context
  /\[1m\]$/,
  // Where a rule's text ends before the date
  /[-@]$/,
];

/** Other names with the same price. */
const ALIASES: ReadonlyMap<string, string> = new Map([["gemini-2.5-pro-preview", "gemini-2.5-pro"]]);
