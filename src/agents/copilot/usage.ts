import { defined } from "../../model/defined.ts";
import { sumOfAll } from "../../model/known.ts";
import type { EntryOf, TokenUsage } from "../../model/transcript.ts";
import { asCount, asObject, asTimeMs } from "../shared/payload/json.ts";
import type { Fields, RecordedSums, Sums } from "./line-context.ts";

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
    cacheWrite5m: undefined,
    cacheWrite1h: undefined,
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

/**
 * The state after a line of sums. When a session is resumed, some versions (1.0.75) continue the sums, others (1.0.60) restart
 * them without reporting it. They restarted if a figure is smaller than before, or if there are too few requests for the
 * answers since the previous line.
 *
 * @param answers since the previous line
 */
export function nextSums(data: Fields, lineSums: Sums, last: RecordedSums | undefined, answers: number): RecordedSums {
  const at = data["sessionStartTime"] ?? asObject(data["accountingSnapshot"])?.["sessionStartTime"];
  const startMs = asCount(at) ?? asTimeMs(at) ?? 0;
  const requests = requestsIn(data);
  if (last?.startMs !== startMs) return { startMs, told: lineSums, before: {}, requests };
  const hasRestarted = hasDecreased(last.told, lineSums) || (requests > 0 && requests < answers + last.requests / 2);
  return { startMs, told: lineSums, before: hasRestarted ? addSums(last.before, last.told) : last.before, requests };
}

/**
 * Sums that replace calls without records. Later sums with the same start replace earlier ones. They cover turns, not the
 * session, so they stay valid if a newer version continues the session with records.
 */
export function sessionSums(
  startMs: number,
  sums: Sums,
  at: Pick<EntryOf<"model_call">, "timeMs" | "promptKey" | "endMs">,
): readonly EntryOf<"model_call">[] {
  return Object.entries(sums).map(([model, usage]) => ({
    kind: "model_call",
    ...defined<typeof at>({ timeMs: at.timeMs, promptKey: at.promptKey, endMs: at.endMs }),
    key: `sums:${startMs}:${model}`,
    model,
    usage,
    complete: true,
    covers: "turn",
  }));
}

/** Adds sums model by model. */
export function addSums(a: Sums, b: Sums): Sums {
  const models = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...models].map((model) => [model, addUsage(a[model], b[model])]));
}

// --- internal ---

const FIGURES = ["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const;

/** A figure that one of two sums lacks is unknown in both together. */
const addUsage = (a: TokenUsage | undefined, b: TokenUsage | undefined): TokenUsage =>
  a === undefined || b === undefined
    ? { ...(a ?? b) }
    : defined<TokenUsage>(
        Object.fromEntries(FIGURES.map((figure) => [figure, sumOfAll(a[figure], b[figure])])) as TokenUsage,
      );

/** Figures that one of them lacks show nothing; a model that is no longer named restarted. */
const hasDecreased = (last: Sums, now: Sums): boolean =>
  Object.entries(last).some(([model, usage]) => {
    const later = now[model];
    return FIGURES.some((figure) => {
      const [was, is] = [usage[figure], later === undefined ? 0 : later[figure]];
      return was !== undefined && is !== undefined && is < was;
    });
  });

/** Figures per model; in a checkpoint line they are one level deeper. */
const modelMetricsIn = (data: Fields): Fields | undefined =>
  asObject(data["modelMetrics"]) ?? asObject(asObject(data["accountingSnapshot"])?.["modelMetrics"]);

const requestsIn = (data: Fields): number =>
  Object.values(modelMetricsIn(data) ?? {})
    .map((value) => asCount(asObject(asObject(value)?.["requests"])?.["count"]) ?? 0)
    .reduce((sum, count) => sum + count, 0);
