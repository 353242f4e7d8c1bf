import type { PriceList } from "./price-list.ts";

/** The user's own prices, which replace the public list for the models that they name. */
export interface OwnPrices {
  /** The user's description of them, e.g. "contract of October". */
  readonly source: string;
  /** By model: its name, or the beginning of names with `*` at the end. */
  readonly models: ReadonlyMap<string, PriceList>;
  /** Identifies the content of the file. */
  readonly digest: string;
}

// --- internal ---
