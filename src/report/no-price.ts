import type { CallSums } from "../model/call-sums.ts";
import type { PricedCall } from "../model/model-call.ts";
import { NO_PRICE, type NoPrice } from "../model/price-list.ts";
import { suggest } from "../model/suggest.ts";
import type { Database } from "../store/database.ts";
import { isTableOld, PRICE_TABLE, PRICE_TABLE_DATE, pricesOfModel } from "../telemetry/cost.ts";
import { plural, pricelessOf } from "../text/figures.ts";
import { printable } from "../text/terminal.ts";

/** Why calls of a model have no known price, by the model's name. */
export type Reasons = ReadonlyMap<string | null, readonly NoPrice[]>;

/** The reasons that are stored with settled calls of a time. */
export function storedReasons(db: Database, sinceMs = 0, untilMs = Number.MAX_SAFE_INTEGER): Reasons {
  const reasons = new Map<string | null, NoPrice[]>();
  const rows = db
    .prepare(
      `SELECT DISTINCT model, no_price FROM usage WHERE no_price IS NOT NULL AND no_price <> 'usage' AND time_ms >= ? AND time_ms < ?`,
    )
    .all(sinceMs, Math.min(untilMs, Number.MAX_SAFE_INTEGER));
  for (const { model, no_price: reason } of rows) {
    const name = typeof model === "string" ? model : null;
    reasons.set(name, [...(reasons.get(name) ?? []), String(reason) as NoPrice]);
  }
  return reasons;
}

/** The reasons of single calls. */
export function reasonsOf(calls: readonly PricedCall[]): Reasons {
  const reasons = new Map<string | null, NoPrice[]>();
  for (const { call, noPrice } of calls) {
    if (noPrice === undefined || noPrice === "usage") continue;
    const ofModel = reasons.get(call.model ?? null) ?? [];
    if (!ofModel.includes(noPrice)) reasons.set(call.model ?? null, [...ofModel, noPrice]);
  }
  return reasons;
}

/**
 * Calls without a known price, or with a part of it, as sentences: how many, of which models, why, and what to do.
 *
 * @param reasons if a model is missing, e.g. because its calls are not settled, the reason is whether the list has the model
 */
export function noPriceNotes(
  models: readonly { readonly name: string | null; readonly sums: CallSums | undefined }[],
  reasons: Reasons,
): readonly string[] {
  const groups = new Map<string, { readonly why: readonly NoPrice[]; readonly models: Named[] }>();
  for (const { name, sums } of models) {
    const n = sums === undefined ? 0 : pricelessOf(sums);
    if (n <= 0) continue;
    const why = NO_PRICE.filter((reason) => (reasons.get(name) ?? [liveReason(name)]).includes(reason));
    const key = why.join();
    const group = groups.get(key) ?? { why, models: [] };
    groups.set(key, group);
    group.models.push({ name: name === null ? "no model" : printable(name), n });
  }
  const lines = [...groups.values()].map(({ why, models: of }) => {
    const what =
      why.length > 0 && why.every((reason) => PARTIAL.has(reason)) ? "cost is a lower bound" : "price unknown";
    const calls = plural(
      of.reduce((sum, { n }) => sum + n, 0),
      "call",
    );
    return `${what}: ${calls}, ${namesOf(of)}: ${why.map(textOf).join("; or ")}`;
  });
  const canBeAdded = [...groups.values()].some(({ why }) => why.some((reason) => ADDABLE.has(reason)));
  if (!canBeAdded) return lines;
  return [
    ...lines,
    `to add prices: ${suggest("config set prices.file <file>")}; docs/settings.md has examples, and ${suggest("config check-prices <file>")} checks the file`,
  ];
}

// --- internal ---

interface Named {
  readonly name: string;
  readonly n: number;
}

const MAX_NAMES = 5;

/** What is known of the cost is shown. */
const PARTIAL: ReadonlySet<NoPrice> = new Set(["part", "time", "fees"]);
/** Own prices can be the remedy. */
const ADDABLE: ReadonlySet<NoPrice> = new Set(["model", "tier", "kind", "length", "time", "fees"]);

function textOf(reason: NoPrice): string {
  switch (reason) {
    case "model":
      return `the model is not in ${PRICE_TABLE} of ${PRICE_TABLE_DATE}${isTableOld(Date.now()) ? ", and a newer version of this program may know it" : ""}`;
    case "tier":
      return "the price of their service tier (fast, priority, flex, batch or one region) is not known";
    case "part":
      return "the agent did not write a part of what was charged, such as cache writes";
    case "kind":
      return "there is no price for a kind of their tokens";
    case "length":
      return "there is no price for input of that length, or only sums over several calls were reported";
    case "time":
      return "the price depends on hours or weekdays, and the list does not say on which dates";
    case "fees":
      return "there is no price for web searches or other fees";
    case "file":
      return `the file of own prices could not be read: ${suggest("doctor")}`;
    case "error":
      return `the price could not be calculated: ${suggest("doctor")}`;
    case "usage":
      return "input or output was not reported";
  }
}

function liveReason(model: string | null): NoPrice {
  if (model === null) return "model";
  return pricesOfModel(model, undefined)({ input: 1, output: 1 }, Date.now()).noPrice ?? "part";
}

function namesOf(models: readonly Named[]): string {
  const sorted = models.toSorted((a, b) => b.n - a.n);
  const names = sorted.slice(0, MAX_NAMES).map(({ name, n }) => `${name} (${n})`);
  const more = sorted.length > MAX_NAMES ? ` and ${sorted.length - MAX_NAMES} more models` : "";
  return `${names.join(", ")}${more}`;
}
