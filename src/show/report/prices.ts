import type { PricedCall } from "#core/model/model-call.ts";
import { NO_PRICE, type NoPrice } from "#core/model/price-list.ts";
import type { Subscriptions } from "#core/model/rate-limit.ts";
import { callsIn, isWholeUsage } from "#core/rules/calls.ts";
import { isTableOld, PRICE_TABLE, PRICE_TABLE_DATE, pricesOfModel } from "#core/telemetry/cost.ts";
import { suggest } from "#kit/suggest.ts";
import { plural, pricelessOf } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { Database } from "#store/database.ts";
import type { StoredSession } from "#store/sessions.ts";
import { wholeQuarters } from "./buckets.ts";
import type { UsageRow } from "./usage-rows.ts";

/** A model with calls that have no exact price. */
export interface UnpricedModel {
  readonly model: string | null;
  /** Those that did not report their tokens included. */
  readonly calls: number;
  /** Calls that reported their tokens. */
  readonly priceless: number;
  /** Why these have no price. */
  readonly reasons: readonly NoPrice[];
}

/** Of a report's rows by model, those with calls that have no exact price, most calls first. @param range of the report */
export function unpricedModels(
  db: Database,
  rows: readonly UsageRow[],
  range: Parameters<typeof wholeQuarters>[0] = {},
): readonly UnpricedModel[] {
  const found = rows.flatMap(({ key: { model = null }, calls }) =>
    calls === undefined || calls.unpricedCalls <= 0
      ? []
      : [{ model, calls: calls.unpricedCalls, priceless: pricelessOf(calls) }],
  );
  if (found.length === 0) return [];
  const { sinceMs, untilMs } = wholeQuarters(range);
  const stored = new Map(
    db
      .prepare(
        `SELECT model, json_group_array(DISTINCT no_price) AS reasons FROM usage
         WHERE no_price <> 'usage' AND time_ms >= ? AND time_ms < ? GROUP BY model`,
      )
      .all(sinceMs, Math.min(untilMs, Number.MAX_SAFE_INTEGER))
      .map(({ model, reasons }) => [model, JSON.parse(String(reasons)) as NoPrice[]]),
  );
  return found
    .map((one) => ({ ...one, reasons: stored.get(one.model) ?? (one.priceless > 0 ? [liveReason(one.model)] : []) }))
    .toSorted((a, b) => b.calls - a.calls);
}

/** The same of a session's calls, without those that did not report their tokens. */
export function unpricedOf(calls: readonly PricedCall[]): readonly UnpricedModel[] {
  const models = new Map<string | null, UnpricedModel>();
  for (const { call, costNanoUsd, noPrice } of calls) {
    if (!isWholeUsage(call.usage) || (noPrice === undefined && costNanoUsd !== undefined)) continue;
    const { model = null } = call;
    const before = models.get(model);
    const n = (before?.calls ?? 0) + (callsIn(call) ?? 1);
    const [reason, reasons = []] = [noPrice ?? liveReason(model), before?.reasons];
    const all = reasons.includes(reason) ? reasons : [...reasons, reason];
    models.set(model, { model, calls: n, priceless: n, reasons: all });
  }
  return [...models.values()];
}

/** Calls without a known price, or with a part of it, one sentence per reason: how many, of which models, why, and what to do. */
export function noPriceNotes(unpriced: readonly UnpricedModel[]): readonly string[] {
  const groups = new Map<string, { readonly why: readonly NoPrice[]; readonly models: UnpricedModel[] }>();
  for (const one of unpriced) {
    if (one.priceless <= 0) continue;
    const why = NO_PRICE.filter((reason) => one.reasons.includes(reason));
    const key = why.join();
    const group = groups.get(key) ?? { why, models: [] };
    groups.set(key, group);
    group.models.push(one);
  }
  return [...groups.values()].map(({ why, models }) => {
    const what = why.every((reason) => PARTIAL.has(reason)) ? "cost is a lower bound" : "price unknown";
    const n = models.reduce((sum, { priceless }) => sum + priceless, 0);
    return `${what}: ${plural(n, "call")}, ${namesOf(models)}: ${why.map((reason) => TEXTS[reason]()).join("; or ")}${remedyOf(why, models)}`;
  });
}

/** Shown beside the costs of agents that run on a subscription. */
export const LIST_PRICE = "list price, not your bill";

/** The same with the names of the agents. */
export const listPriceNote = (agents: readonly string[]): string =>
  `${LIST_PRICE}: ${agents.join(", ")} ${agents.length === 1 ? "runs" : "run"} on a subscription`;

/** What a session has if its agent ran on a subscription, as far as that is known. */
export const subscriptionMark = (
  { source, lastMs }: Pick<StoredSession, "source" | "lastMs">,
  subscriptions: Subscriptions = new Map(),
): { readonly onSubscription?: true } =>
  lastMs >= (subscriptions.get(source) ?? Number.POSITIVE_INFINITY) ? { onSubscription: true } : {};

/** The agents among those with costs up to a time that are known to run on a subscription. */
export const subscribedAgents = (
  agents: readonly string[],
  subscriptions: Subscriptions,
  untilMs = Number.POSITIVE_INFINITY,
): readonly string[] => agents.filter((source) => (subscriptions.get(source) ?? Number.POSITIVE_INFINITY) < untilMs);

// --- internal ---

const MAX_NAMES = 5;

/** What is known of the cost is shown. */
const PARTIAL: ReadonlySet<NoPrice> = new Set(["part", "time", "fees"]);
/** Own prices can be the remedy. */
const ADDABLE: ReadonlySet<NoPrice> = new Set(["model", "tier", "kind", "length", "time", "fees"]);

const TEXTS: Readonly<Record<NoPrice, () => string>> = {
  model: () =>
    `the model is not in ${PRICE_TABLE} of ${PRICE_TABLE_DATE}${isTableOld(Date.now()) ? ", and a newer version of this program may know it" : ""}`,
  tier: () => "the price of their service tier (fast, priority, flex, batch or one region) is not known",
  part: () => "the agent did not write a part of what was charged, such as cache writes",
  kind: () => "there is no price for a kind of their tokens",
  length: () => "there is no price for input of that length, or only sums over several calls were reported",
  time: () => "the price depends on hours or weekdays, and the list does not say on which dates",
  fees: () => "there is no price for web searches or other fees",
  file: () => `the file of own prices could not be read: ${suggest("doctor")}`,
  error: () => `the price could not be calculated: ${suggest("doctor")}`,
  usage: () => "input or output was not reported",
};

/** Nothing can be done if the agent did not write something. */
function remedyOf(why: readonly NoPrice[], models: readonly UnpricedModel[]): string {
  if (!why.some((reason) => ADDABLE.has(reason))) return "";
  const named = models.find(({ model }) => model !== null)?.model;
  const provider =
    why.includes("model") && named !== undefined && named !== null
      ? `, or ${suggest(`config set prices.providers.${printable(named)} <provider>`)} for a provider's model in another agent`
      : "";
  return `; to add it: ${suggest("config set prices.file <file>")}${provider} (docs/settings.md has examples)`;
}

function liveReason(model: string | null): NoPrice {
  if (model === null) return "model";
  return pricesOfModel(model, undefined)({ input: 1, output: 1 }, Date.now()).noPrice ?? "part";
}

function namesOf(models: readonly UnpricedModel[]): string {
  const sorted = models.toSorted((a, b) => b.priceless - a.priceless);
  const names = sorted
    .slice(0, MAX_NAMES)
    .map(({ model, priceless }) => `${model === null ? "no model" : printable(model)} (${priceless})`);
  const more = sorted.length > MAX_NAMES ? ` and ${sorted.length - MAX_NAMES} more models` : "";
  return `${names.join(", ")}${more}`;
}
