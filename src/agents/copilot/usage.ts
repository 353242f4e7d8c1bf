import type { TokenUsage } from "#core/model/transcript.ts";
import { sumOfAll } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { asCount, asObject, type Fields } from "../shared/payload/json.ts";
import type { Sums } from "./line-context.ts";

/**
 * Tokens of a call, or the sum of a model. For every provider, input includes cache reads and writes, and output includes
 * reasoning.
 *
 * @returns `undefined` without any figure
 */
export function usageOf(usage: Readonly<Record<string, unknown>> | undefined): TokenUsage | undefined {
  const counts = defined<TokenUsage>({
    input: asCount(usage?.["inputTokens"]),
    output: asCount(usage?.["outputTokens"]),
    cacheRead: asCount(usage?.["cacheReadTokens"]),
    cacheWrite: asCount(usage?.["cacheWriteTokens"]),
    reasoning: asCount(usage?.["reasoningTokens"]),
  });
  return Object.keys(counts).length === 0 ? undefined : counts;
}

/** The sums of a shutdown or checkpoint line, per model; `undefined` if it has none. */
export function reportedSums(data: Readonly<Record<string, unknown>>): Sums | undefined {
  const metrics = modelMetricsIn(data);
  const byModel = Object.entries(metrics ?? {}).flatMap(([model, value]) => {
    const usage = usageOf(asObject(asObject(value)?.["usage"]));
    return usage === undefined || model === "" ? [] : [[model, usage] as const];
  });
  return byModel.length === 0 ? undefined : Object.fromEntries(byModel);
}

/** Adds sums model by model. */
export function addSums(a: Sums, b: Sums): Sums {
  const models = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...models].map((model) => [model, addUsage(a[model], b[model])]));
}

/** Subtracts sums model by model; models without a difference are left out. A figure that one of them lacks is unknown. */
export function subtractSums(sums: Sums, before: Sums): Sums {
  const differences = Object.entries(sums).flatMap(([model, usage]) => {
    const last = before[model];
    if (last === undefined) return [[model, usage] as const];
    const own = defined<TokenUsage>(
      Object.fromEntries(FIGURES.map((figure) => [figure, difference(usage[figure], last[figure])])) as TokenUsage,
    );
    return Object.values(own).some((tokens) => (tokens ?? 0) > 0) ? [[model, own] as const] : [];
  });
  return Object.fromEntries(differences);
}

/** Whether a figure is smaller than before. A figure that one of them lacks is not compared; a model that is no longer named counts as 0. */
export const hasDecreased = (last: Sums, now: Sums): boolean =>
  Object.entries(last).some(([model, usage]) => {
    const later = now[model];
    return FIGURES.some((figure) => {
      const [was, is] = [usage[figure], later === undefined ? 0 : later[figure]];
      return was !== undefined && is !== undefined && is < was;
    });
  });

/** The number of requests in the sums of a line. */
export const requestsIn = (data: Fields): number =>
  Object.values(modelMetricsIn(data) ?? {})
    .map((value) => asCount(asObject(asObject(value)?.["requests"])?.["count"]) ?? 0)
    .reduce((sum, count) => sum + count, 0);

// --- internal ---

const FIGURES = ["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const;

const difference = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : a - b;

/** A figure that one of two sums lacks is unknown in both together. */
const addUsage = (a: TokenUsage | undefined, b: TokenUsage | undefined): TokenUsage =>
  a === undefined || b === undefined
    ? { ...(a ?? b) }
    : defined<TokenUsage>(
        Object.fromEntries(FIGURES.map((figure) => [figure, sumOfAll(a[figure], b[figure])])) as TokenUsage,
      );

/** Figures per model; in a checkpoint line they are one level deeper. */
const modelMetricsIn = (data: Fields): Fields | undefined =>
  asObject(data["modelMetrics"]) ?? asObject(asObject(data["accountingSnapshot"])?.["modelMetrics"]);
