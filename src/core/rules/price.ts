import {
  type NoPrice,
  type OwnPrices,
  type Price,
  type PricedUsage,
  type PriceList,
  type PriceRule,
  type Rates,
  type TimeWindow,
  WEEKDAYS,
} from "../model/price-list.ts";

/** The price of a call that ended at `timeMs`. Never more than it cost: with several possible prices it is the lowest, as a lower bound. */
export function priceOf({ rules, contextWindow }: PriceList, usage: PricedUsage, timeMs: number): Price {
  const isLong = contextWindow !== undefined && usage.isSum !== true && usage.input > contextWindow;
  let lowest: Price | undefined;
  let isDoubtful: NoPrice | undefined;
  let isCovered = false;
  let isCertain = false;
  for (let i = rules.length - 1; i >= 0 && !isCertain; i--) {
    const rule = rules[i] as PriceRule;
    const applies = appliesTo(rule, usage, timeMs);
    if (applies === false) continue;
    isCovered ||= isLong && (rule.above ?? 0) >= contextWindow;
    isCertain = applies === true;
    const price = priceAt(rule.rates, usage);
    if (price.costNanoUsd === undefined) return price;
    if (lowest !== undefined && lowest.costNanoUsd !== price.costNanoUsd) isDoubtful ??= "time";
    if (applies === "length") isDoubtful ??= "length";
    if (lowest?.costNanoUsd === undefined || price.costNanoUsd < lowest.costNanoUsd) lowest = price;
  }
  if (lowest === undefined || !isCertain) return { noPrice: whyNone(rules, usage) };
  if (isLong && !isCovered) return { noPrice: "length" };
  return isDoubtful === undefined ? lowest : { ...lowest, noPrice: isDoubtful };
}

/** Why none of the rules applies for certain. */
function whyNone(rules: readonly PriceRule[], { tier, input }: PricedUsage): NoPrice {
  const ofTier = rules.filter((rule) => rule.tier === tier);
  if (ofTier.length === 0) return tier === undefined ? "model" : "tier";
  if (ofTier.some(({ upTo = input }) => input > upTo)) return "length";
  return ofTier.some(({ window }) => window !== undefined) ? "time" : "model";
}

/** A reason: it may apply to the call, or to some of the calls that are summed up. */
function appliesTo(rule: PriceRule, { input, tier, isSum }: PricedUsage, timeMs: number): boolean | "length" | "time" {
  const { above, upTo, fromMs, toMs, window } = rule;
  if (rule.tier !== tier || timeMs < (fromMs ?? timeMs) || timeMs >= (toMs ?? Number.POSITIVE_INFINITY)) return false;
  if (above !== undefined && input <= above) return false;
  if (isSum !== true && upTo !== undefined && input > upTo) return false;
  if (isSum === true && (above !== undefined || (upTo !== undefined && input > upTo))) return "length";
  if (window === undefined) return rule.isUncertain === true ? "time" : true;
  if (isSum === true) return "time";
  if (!isInWindow(window, timeMs)) return false;
  return rule.isUncertain === true ? "time" : true;
}

function priceAt(rates: Rates, usage: PricedUsage): Price {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h = 0, webSearches = 0, hasOtherFees } = usage;
  const uncached = input - (cacheRead ?? 0) - (cacheWrite ?? 0);
  // In what is left of a sum over removed calls, a part can be larger than the whole
  if (uncached < 0 || cacheWrite1h > (cacheWrite ?? 0)) return { noPrice: "part" };
  // A provider that reports neither reads nor writes charges all input at one price
  if (cacheRead === undefined && cacheWrite !== undefined && (rates.cacheRead ?? rates.input) !== rates.input)
    return { noPrice: "part" };
  // Input that was perhaps written to the cache costs at least as much as other input
  const isPart = cacheWrite === undefined && cacheRead !== undefined && rates.cacheWrite !== undefined;
  if (isPart && (rates.cacheWrite ?? 0) < (rates.input ?? 0)) return { noPrice: "part" };
  // In USD per thousand
  const fee = (rates.request ?? 0) * 1e6 + webSearches * (rates.webSearch ?? 0) * 1e6;
  let nano = fee;
  for (const [amount, rate] of [
    [uncached, rates.input],
    [output, rates.output],
    [cacheRead ?? 0, rates.cacheRead],
    [(cacheWrite ?? 0) - cacheWrite1h, rates.cacheWrite],
    [cacheWrite1h, rates.cacheWrite1h],
  ] as const) {
    if (amount === 0) continue;
    if (rate === undefined) return { noPrice: "kind" };
    // The rate is in USD per million tokens, the result in 10⁻⁹ USD
    nano += amount * rate * 1_000;
  }
  const isFeeUnknown = webSearches > 0 && rates.webSearch === undefined;
  const noPrice = isPart ? "part" : hasOtherFees === true || isFeeUnknown ? "fees" : undefined;
  return {
    costNanoUsd: Math.round(nano),
    ...(noPrice !== undefined && { noPrice }),
    ...((webSearches > 0 || fee > 0) && !isFeeUnknown && { feeNanoUsd: Math.round(fee) }),
  };
}

function isInWindow({ days, fromMinute = 0, toMinute = DAY, timeZone }: TimeWindow, timeMs: number): boolean {
  const { day, minute } = clockIn(timeZone, timeMs);
  const endsNextDay = toMinute <= fromMinute;
  if (!endsNextDay && (minute < fromMinute || minute >= toMinute)) return false;
  if (endsNextDay && minute < fromMinute && minute >= toMinute) return false;
  const startDay = endsNextDay && minute < toMinute ? (day + 6) % 7 : day;
  return days === undefined || days.has(startDay);
}

const DAY = 24 * 60;

/** Weekday and minute of the day. */
function clockIn(timeZone: string, timeMs: number): { readonly day: number; readonly minute: number } {
  if (timeZone === "UTC") {
    const at = new Date(timeMs);
    return { day: at.getUTCDay(), minute: at.getUTCHours() * 60 + at.getUTCMinutes() };
  }
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    const parts = { weekday: "short", hour: "numeric", minute: "numeric", hourCycle: "h23" } as const;
    clock = new Intl.DateTimeFormat("en-US", { timeZone, ...parts });
    clocks.set(timeZone, clock);
  }
  const parts = Object.fromEntries(clock.formatToParts(timeMs).map(({ type, value }) => [type, value]));
  const day = (WEEKDAYS as readonly string[]).indexOf(parts["weekday"]?.toLowerCase() ?? "");
  return { day, minute: Number(parts["hour"]) * 60 + Number(parts["minute"]) };
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/**
 * Sets the prices for this process. Called at the start of commands that price calls.
 *
 * @param prices `unreadable`: the user has own prices that cannot be read, so nothing has a known price
 */
export function setOwnPrices(prices: OwnPrices | "unreadable" | undefined): void {
  current = prices;
}

/** The current prices; the same object until they are set again; `undefined`: the public list applies. */
export const ownPrices = (): OwnPrices | "unreadable" | undefined => current;

/**
 * The prices of a model: those for its name, otherwise those for the longest matching beginning. `undefined`: the public list
 * applies.
 */
export function ownListOf({ models }: OwnPrices, model: string): PriceList | undefined {
  return models.get(model) ?? listOfRedacted(models, model) ?? byLongestName(models, model);
}

/** What is given for a model's name, otherwise for its longest beginning with `*` at the end. */
export function byLongestName<T>(given: ReadonlyMap<string, T>, model: string): T | undefined {
  let best: string | undefined;
  for (const name of given.keys()) {
    if (!name.endsWith("*") || !model.startsWith(name.slice(0, -1))) continue;
    if (best === undefined || name.length > best.length) best = name;
  }
  return given.get(model) ?? (best === undefined ? undefined : given.get(best));
}

/**
 * Sets for this process which providers' list prices apply to models, whatever agents report as provider.
 *
 * @param providers ids of the price table, by the name of a model or its beginning with `*`
 */
export function setPriceProviders(providers: Readonly<Record<string, string>>): void {
  chosen = new Map(Object.entries(providers));
}

/** The current ones; the same object until they are set again. */
export const priceProviders = (): ReadonlyMap<string, string> => chosen;

/** The rates of the only name that a model's name can be, if an account number in it was redacted. */
function listOfRedacted(models: OwnPrices["models"], model: string): PriceList | undefined {
  const [start = "", ...rest] = model.split(/\[redacted:[a-z-]+\]/);
  if (rest.length === 0) return undefined;
  const found = [...models].filter(([name]) => {
    if (!name.startsWith(start) || !name.endsWith(rest.at(-1) ?? "")) return false;
    let at = start.length;
    return rest.every((part) => {
      const next = name.indexOf(part, at);
      at = next + part.length;
      return next >= 0;
    });
  });
  return found.length === 1 ? found[0]?.[1] : undefined;
}

let chosen: ReadonlyMap<string, string> = new Map();
let current: OwnPrices | "unreadable" | undefined;
