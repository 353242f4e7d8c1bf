import type { TokenUsage } from "./transcript.ts";

/** Prices in US dollars per million tokens. Absent: not known, so a call with such tokens has no known cost. */
export interface Rates {
  /** Input outside any cache. */
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cacheRead?: number | undefined;
  /** Cache writes, except those for an hour. */
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  /** Per thousand searches of the provider. */
  readonly webSearch?: number | undefined;
  /** Per thousand calls, besides tokens. */
  readonly request?: number | undefined;
}

/** Rates and the calls to which they apply. Absent conditions always hold. */
export interface PriceRule {
  readonly rates: Rates;
  /** Service tier, e.g. `priority`. Absent: the standard tier. */
  readonly tier?: string | undefined;
  /** The whole call has these rates if its input is larger than this number of tokens. */
  readonly above?: number | undefined;
  /** For no larger input than this. */
  readonly upTo?: number | undefined;
  readonly fromMs?: number | undefined;
  /** Excluded. */
  readonly toMs?: number | undefined;
  readonly window?: TimeWindow | undefined;
  /** The list does not say on which dates or weekdays the rule applies. */
  readonly isUncertain?: true;
}

/** A part of a day. Without `fromMinute` whole days. */
export interface TimeWindow {
  /** 0: Sunday. Of a window over midnight, the day on which it begins. Absent: every day. */
  readonly days?: ReadonlySet<number> | undefined;
  readonly fromMinute?: number | undefined;
  /** Excluded; not larger than `fromMinute`: on the next day. */
  readonly toMinute?: number | undefined;
  /** IANA name. */
  readonly timeZone: string;
}

/** The prices of one model. Of the rules that apply to a call, the last one counts. */
export interface PriceList {
  readonly rules: readonly PriceRule[];
  /** Longer input has no known price, unless a rule says so. */
  readonly contextWindow?: number | undefined;
}

/** What a price depends on. */
export interface PricedUsage extends Pick<TokenUsage, "cacheRead" | "cacheWrite" | "cacheWrite1h"> {
  readonly input: number;
  readonly output: number;
  readonly webSearches?: number | undefined;
  /** The provider charged something else that has no known price. */
  readonly hasOtherFees?: true | undefined;
  readonly tier?: string | undefined;
  /** The figures are sums over several calls, so neither the length nor the hour of a call is known. */
  readonly isSum?: true | undefined;
}

/**
 * Why a cost is unknown, or a lower bound. `model`: no price list has the model at that time; `tier`: nor its service tier; `usage`: input
 * or output was not reported; `part`: a part of them was not; `kind`: there is no price for a kind of tokens; `length`: nor for input of
 * that length, or the lengths of single calls are unknown; `time`: the price depends on an hour or weekday that the list does not rule;
 * `fees`: there is no price for something besides tokens; `file`: own prices cannot be read; `error`: calculating failed.
 */
export const NO_PRICE = ["model", "tier", "part", "kind", "length", "time", "fees", "file", "error", "usage"] as const;

export type NoPrice = (typeof NO_PRICE)[number];

/** What a call cost. With both members the cost is a lower bound; without `noPrice` it is exact. */
export interface Price {
  /** 10⁻⁹ USD. */
  readonly costNanoUsd?: number;
  readonly noPrice?: NoPrice;
  /** The part of the cost that is not for tokens: searches and single requests. Absent: there was none, or its price is not known. */
  readonly feeNanoUsd?: number;
}

/** As own prices name them; the first has the number 0. */
export const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const satisfies readonly string[];

/** The user's own prices, which replace the public list for the models that they name. */
export interface OwnPrices {
  /** The user's description of them, e.g. "contract of October". */
  readonly source: string;
  /** By model: its name, or the beginning of names with `*` at the end. */
  readonly models: ReadonlyMap<string, PriceList>;
  /** Identifies the content of the file. */
  readonly digest: string;
}
